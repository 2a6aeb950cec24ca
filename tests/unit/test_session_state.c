/* formats/session_state and the words of formats/record */
#include "rh_test.h"

#include "formats/session_state.h"
#include "trace_testing.h"

static void apply(struct rh_session_state *s, enum rh_kind kind, const char *name, const char *text)
{
    struct rh_record r;
    rh_record_init(&r);
    r.kind = kind;
    r.outcome.sqlstate = 0;
    r.statement_name = rh_span_cstr(name);
    r.text = rh_span_cstr(text);
    rh_session_state_apply(s, &r);
}

static void query(struct rh_session_state *s, const char *text)
{
    apply(s, RH_KIND_QUERY, NULL, text);
}

static void expect(const struct rh_session_state *s, enum rh_state_kind kind, const char *name,
                   const char *text)
{
    const struct rh_state_item *item = rh_session_state_find(s, kind, rh_span_cstr(name));
    if (text) {
        assert_non_null(item);
        rh_assert_span(item->text, text);
    } else {
        assert_null(item);
    }
}

static void test_settings(void **state)
{
    (void) state;
    struct rh_session_state s;
    rh_session_state_init(&s);
    query(&s, "set Work_Mem to '2MB'");
    expect(&s, RH_STATE_SETTING, "work_mem", "set Work_Mem to '2MB'");
    query(&s, "SET statement_timeout = 5; SET LOCAL work_mem = '9MB'; SET work_mem = '3MB';");
    expect(&s, RH_STATE_SETTING, "work_mem", "SET work_mem = '3MB'");
    expect(&s, RH_STATE_SETTING, "statement_timeout", "SET statement_timeout = 5");
    /* In the order of their last SET. */
    assert_int_equal(s.count, 2);
    rh_assert_span(s.items[1].name, "work_mem");
    query(&s, "SET ROLE anna");
    query(&s, "SET LOCAL ROLE berta");
    expect(&s, RH_STATE_SETTING, "role", "SET ROLE anna");
    query(&s, "SET SESSION AUTHORIZATION 'carl'");
    expect(&s, RH_STATE_SETTING, "session_authorization", "SET SESSION AUTHORIZATION 'carl'");
    query(&s, "RESET work_mem");
    expect(&s, RH_STATE_SETTING, "work_mem", NULL);
    query(&s, "RESET ALL");
    expect(&s, RH_STATE_SETTING, "statement_timeout", NULL);
    expect(&s, RH_STATE_SETTING, "role", "SET ROLE anna");
    query(&s, "DISCARD ALL");
    assert_int_equal(s.count, 0);
    assert_int_equal(s.bytes, 0);
    rh_session_state_release(&s);
}

static void test_statements(void **state)
{
    (void) state;
    struct rh_session_state s;
    struct rh_record r;
    rh_session_state_init(&s);
    apply(&s, RH_KIND_EXECUTE, "s1", "SELECT 1");
    apply(&s, RH_KIND_EXECUTE, "", "SELECT 'unnamed'");
    apply(&s, RH_KIND_PROTOCOL, "s2", "SELECT 2");
    apply(&s, RH_KIND_EXECUTE, "s1", "SELECT 10");
    expect(&s, RH_STATE_STATEMENT, "s1", "SELECT 10");
    expect(&s, RH_STATE_STATEMENT, "s2", "SELECT 2");
    assert_int_equal(s.count, 2);
    query(&s, "PREPARE \"Q\" (int) AS SELECT $1");
    query(&s, "prepare Pp as select 1");
    expect(&s, RH_STATE_PREPARE, "Q", "PREPARE \"Q\" (int) AS SELECT $1");
    expect(&s, RH_STATE_PREPARE, "pp", "prepare Pp as select 1");
    query(&s, "DEALLOCATE PP");
    expect(&s, RH_STATE_PREPARE, "pp", NULL);
    query(&s, "DEALLOCATE s1");
    expect(&s, RH_STATE_STATEMENT, "s1", NULL);
    query(&s, "DEALLOCATE ALL");
    assert_int_equal(s.count, 0);
    /* What failed, and what a replay does not send, changes nothing. */
    rh_record_init(&r);
    r.kind = RH_KIND_EXECUTE;
    r.statement_name = rh_span_cstr("s9");
    r.text = rh_span_cstr("SELEC");
    r.outcome.sqlstate = rh_sqlstate_pack(rh_span_cstr("42601"));
    rh_session_state_apply(&s, &r);
    r.outcome.sqlstate = 0;
    r.hold = RH_REASON_CUT_TEXT;
    rh_session_state_apply(&s, &r);
    assert_int_equal(s.count, 0);
    /* The log shows the PREPARE with its EXECUTE. */
    rh_record_init(&r);
    r.flags = RH_FLAG_SQL_EXECUTE;
    r.text = rh_span_cstr("EXECUTE x(1)");
    r.prepare_text = rh_span_cstr("PREPARE x AS SELECT $1");
    rh_session_state_apply(&s, &r);
    expect(&s, RH_STATE_PREPARE, "x", "PREPARE x AS SELECT $1");
    rh_session_state_release(&s);
}

static void test_bounds(void **state)
{
    (void) state;
    struct rh_session_state s;
    char name[32];
    char text[64];
    rh_session_state_init(&s);
    for (unsigned i = 0; i < RH_STATE_ITEMS_MAX + 50; i++) {
        snprintf(name, sizeof name, "s%u", i);
        snprintf(text, sizeof text, "SELECT %u", i);
        rh_session_state_put(&s, RH_STATE_STATEMENT, rh_span_cstr(name), rh_span_cstr(text));
    }
    assert_int_equal(s.count, RH_STATE_ITEMS_MAX);
    assert_true(s.incomplete);
    for (unsigned i = 0; i < RH_STATE_ITEMS_MAX; i += 3) {
        snprintf(name, sizeof name, "s%u", i);
        rh_session_state_remove(&s, RH_STATE_STATEMENT, rh_span_cstr(name));
    }
    for (unsigned i = 0; i < RH_STATE_ITEMS_MAX; i++) {
        snprintf(name, sizeof name, "s%u", i);
        snprintf(text, sizeof text, "SELECT %u", i);
        expect(&s, RH_STATE_STATEMENT, name, i % 3 ? text : NULL);
    }
    rh_session_state_clear(&s);
    struct rh_span large = rh_span(rh_calloc(1, RH_STATE_BYTES_MAX), RH_STATE_BYTES_MAX - 1);
    rh_session_state_put(&s, RH_STATE_STATEMENT, rh_span_cstr("ab"), large);
    assert_int_equal(s.count, 0);
    assert_true(s.incomplete);
    rh_session_state_clear(&s);
    rh_session_state_put(&s, RH_STATE_STATEMENT, rh_span_cstr("a"), large);
    assert_int_equal(s.bytes, RH_STATE_BYTES_MAX);
    assert_false(s.incomplete);
    rh_free((char *) large.data);
    rh_session_state_release(&s);
}

static void test_equal_and_digest(void **state)
{
    (void) state;
    struct rh_session_state a;
    struct rh_session_state b;
    rh_session_state_init(&a);
    rh_session_state_init(&b);
    assert_true(rh_session_state_equal(&a, &b));
    query(&a, "SET x.y = 1");
    assert_false(rh_session_state_equal(&a, &b));
    assert_true(rh_session_state_digest(&a) != rh_session_state_digest(&b));
    query(&b, "SET x.y = 1");
    assert_true(rh_session_state_equal(&a, &b));
    assert_true(rh_session_state_digest(&a) == rh_session_state_digest(&b));
    rh_session_state_release(&a);
    rh_session_state_release(&b);
}

static void test_sqlstate(void **state)
{
    (void) state;
    char text[6];
    const char *const good[] = {"00000", "42P01", "XX000", "ZZZZZ", "57014"};
    const char *const bad[] = {"", "0000", "000000", "42p01", "4 P01", "42P0\xc3"};
    for (size_t i = 0; i < sizeof good / sizeof good[0]; i++) {
        uint32_t packed = rh_sqlstate_pack(rh_span_cstr(good[i]));
        assert_string_equal(rh_sqlstate_unpack(packed, text), good[i]);
    }
    assert_int_equal(rh_sqlstate_pack(rh_span_cstr("00000")), 0);
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        assert_int_equal(rh_sqlstate_pack(rh_span_cstr(bad[i])), RH_SQLSTATE_UNKNOWN);
    }
    assert_int_equal(rh_sqlstate_pack(RH_SPAN_NONE), RH_SQLSTATE_UNKNOWN);
    assert_string_equal(rh_sqlstate_unpack(RH_SQLSTATE_UNKNOWN, text), "");
}

static void test_words(void **state)
{
    (void) state;
    assert_string_equal(rh_reason_text(RH_REASON_CUT_TEXT), "the text is cut");
    assert_string_equal(rh_reason_name(RH_REASON_CUT_TEXT), "cut-text");
    assert_string_equal(rh_reason_name((enum rh_reason) 63), "unknown");
    assert_string_equal(rh_vantage_text(RH_VANTAGE_CLIENT), "replay client");
    /* Every reason has words of its own. */
    for (unsigned i = 0; i <= RH_REASON_REPLICATION; i++) {
        for (unsigned j = RH_REASON_CONNECT_FAILED; j <= RH_REASON_DAMAGED; j++) {
            assert_string_not_equal(rh_reason_name((enum rh_reason) i), "unknown");
            assert_string_not_equal(rh_reason_name((enum rh_reason) j), "unknown");
            assert_string_not_equal(rh_reason_name((enum rh_reason) i),
                                    rh_reason_name((enum rh_reason) j));
        }
    }
    uint8_t a[16];
    uint8_t b[16];
    char text[37];
    rh_uuid_make(a);
    rh_uuid_make(b);
    assert_memory_not_equal(a, b, 16);
    assert_int_equal(strlen(rh_uuid_format(a, text)), 36);
    assert_int_equal(text[14], '4');
}

/* One that was captured from the wire: its steps tell what is prepared, with which types. */
static void apply_steps(struct rh_session_state *s, const char *steps, const uint32_t *types,
                        uint32_t count)
{
    struct rh_record r;
    struct rh_param params[4] = {{0}};
    char pairs[16] = {0};
    rh_record_init(&r);
    r.kind = RH_KIND_EXECUTE;
    r.outcome.sqlstate = 0;
    r.statement_name = rh_span_cstr("s");
    r.text = rh_span_cstr("SELECT $1");
    for (size_t i = 0; steps[i]; i++) {
        pairs[2 * i] = steps[i];
    }
    r.steps = rh_span(pairs, 2 * strlen(steps));
    for (uint32_t i = 0; i < count; i++) {
        params[i].type = types[i];
    }
    r.params = params;
    r.param_count = count;
    rh_session_state_apply(s, &r);
}

static void test_steps(void **state)
{
    (void) state;
    static const uint32_t types[] = {20, 0, 0x01020304, 0};
    struct rh_session_state s;
    struct rh_session_state other;
    rh_session_state_init(&s);
    rh_session_state_init(&other);
    apply_steps(&s, "PtS", types, 4);
    const struct rh_state_item *item =
        rh_session_state_find(&s, RH_STATE_STATEMENT, rh_span_cstr("s"));
    assert_non_null(item);
    assert_int_equal(item->types.len, 12);
    assert_memory_equal(item->types.data, "\0\0\0\x14\0\0\0\0\1\2\3\4", 12);
    uint64_t typed = rh_session_state_digest(&s);
    apply_steps(&s, "BES", types, 4); /* the same again */
    assert_int_equal(rh_session_state_digest(&s), typed);
    apply_steps(&other, "PS", NULL, 0);
    assert_false(rh_session_state_equal(&s, &other));
    assert_int_not_equal(rh_session_state_digest(&other), typed);
    apply_steps(&s, "ES", NULL, 0); /* a portal's execution leaves its statement alone */
    assert_int_equal(rh_session_state_digest(&s), typed);
    apply_steps(&s, "CS", NULL, 0);
    assert_int_equal(s.count, 0);
    assert_int_equal(s.bytes, 0);
    apply_steps(&s, "CRBES", types, 1); /* closed, and made anew */
    expect(&s, RH_STATE_STATEMENT, "s", "SELECT $1");
    apply_steps(&s, "BECS", types, 1);
    assert_int_equal(s.count, 0);
    rh_session_state_release(&s);
    rh_session_state_release(&other);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_steps),
        cmocka_unit_test(test_settings),
        cmocka_unit_test(test_statements),
        cmocka_unit_test(test_bounds),
        cmocka_unit_test(test_equal_and_digest),
        cmocka_unit_test(test_sqlstate),
        cmocka_unit_test(test_words),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
