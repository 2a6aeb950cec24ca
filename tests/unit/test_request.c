#include "rh_test.h"

#include "formats/pg_scan.h"
#include "formats/pg_write.h"
#include "replay/request.h"

struct bench {
    struct rh_prepared prepared;
    struct rh_arena arena;
    struct rh_buf text;
    struct rh_buf out;
    struct rh_request request;
    struct rh_error err;
};

static void set_up(struct bench *b)
{
    rh_prepared_init(&b->prepared);
    rh_arena_init(&b->arena, 1024);
    rh_buf_init(&b->text, 1 << 20);
    rh_buf_init(&b->out, 1 << 20);
}

static void tear_down(struct bench *b)
{
    rh_prepared_release(&b->prepared);
    rh_arena_release(&b->arena);
    rh_buf_release(&b->text);
    rh_buf_release(&b->out);
}

static int build(struct bench *b, const struct rh_record *r, bool with_sync)
{
    rh_buf_clear(&b->out);
    return rh_request_build(&b->request, r, with_sync, &b->prepared, &b->arena, &b->text, &b->out,
                            &b->err);
}

/* The types of the messages in out. */
static const char *types(struct bench *b)
{
    static char found[64];
    struct rh_pg_scan scan;
    struct rh_pg_event ev;
    size_t at = 0, n = 0;
    rh_pg_scan_init(&scan, RH_PG_FRONTEND, RH_PG_BODY_MAX);
    while (at < b->out.len) {
        ptrdiff_t used = rh_pg_scan_next(&scan, b->out.data + at, b->out.len - at, &ev, &b->err);
        assert_true(used > 0 && ev.type != 0 && n < sizeof found - 1);
        found[n++] = ev.type;
        at += (size_t) used;
    }
    found[n] = '\0';
    rh_pg_scan_release(&scan);
    return found;
}

static struct rh_record record(enum rh_kind kind, const char *text)
{
    struct rh_record r;
    rh_record_init(&r);
    r.kind = kind;
    r.text = rh_span_cstr(text);
    return r;
}

static void test_query(void **state)
{
    (void) state;
    struct bench b;
    set_up(&b);
    struct rh_record r = record(RH_KIND_QUERY, "SELECT 1");
    assert_int_equal(build(&b, &r, true), 0);
    assert_string_equal(types(&b), "Q");
    assert_int_equal(b.request.end, RH_EXCHANGE_READY);
    assert_false(b.request.extended);
    assert_memory_equal(b.out.data, "Q\0\0\0\x0dSELECT 1\0", 14);
    tear_down(&b);
}

static void test_unnamed_is_always_parsed(void **state)
{
    (void) state;
    struct bench b;
    set_up(&b);
    struct rh_param params[] = {{.data = "42", .len = 2}, {.data = NULL}};
    struct rh_record r = record(RH_KIND_EXECUTE, "SELECT $1, $2");
    r.params = params;
    r.param_count = 2;
    for (int i = 0; i < 2; i++) {
        assert_int_equal(build(&b, &r, true), 0);
        assert_string_equal(types(&b), "PBES");
        assert_true(b.request.extended);
        assert_false(b.request.parses);
    }
    tear_down(&b);
}

static void test_named(void **state)
{
    (void) state;
    struct bench b;
    set_up(&b);
    struct rh_record r = record(RH_KIND_EXECUTE, "SELECT 1");
    r.statement_name = RH_SPAN_LITERAL("S_1");
    assert_int_equal(build(&b, &r, true), 0);
    assert_string_equal(types(&b), "CPBES");
    assert_true(b.request.parses);
    rh_prepared_put(&b.prepared, r.statement_name, b.request.text_hash);

    assert_int_equal(build(&b, &r, true), 0);
    assert_string_equal(types(&b), "BES"); /* known */
    assert_false(b.request.parses);

    r.flags |= RH_FLAG_HAS_PARSE;
    assert_int_equal(build(&b, &r, true), 0);
    assert_string_equal(types(&b), "CPBES"); /* production parsed it again */

    r.flags = 0;
    r.text = RH_SPAN_LITERAL("SELECT 2");
    assert_int_equal(build(&b, &r, true), 0);
    assert_string_equal(types(&b), "CPBES"); /* another text under the same name */
    tear_down(&b);
}

static void test_pipeline_and_portal(void **state)
{
    (void) state;
    struct bench b;
    set_up(&b);
    struct rh_record r = record(RH_KIND_EXECUTE, "SELECT 1");
    r.portal_name = RH_SPAN_LITERAL("C_1");
    r.row_limit = -1; /* unknown: all rows */
    assert_int_equal(build(&b, &r, false), 0);
    assert_string_equal(types(&b), "PCBEH");
    assert_int_equal(b.request.end, RH_EXCHANGE_EXECUTION);
    /* Execute's body: "C_1", NUL, no limit; then Flush. */
    assert_memory_equal(b.out.data + b.out.len - 5 - 8, "C_1\0\0\0\0\0", 8);
    tear_down(&b);
}

static void test_types_and_formats(void **state)
{
    (void) state;
    struct bench b;
    set_up(&b);
    struct rh_param params[] = {{.data = "a", .len = 1},
                                {.data = "\0\0\0\7", .len = 4, .type = 23, .format = 1},
                                {.data = "b", .len = 1}};
    struct rh_record r = record(RH_KIND_EXECUTE, "x");
    r.params = params;
    r.param_count = 3;
    assert_int_equal(build(&b, &r, true), 0);
    /* Parse: no name, text, two types of which the first is unknown. */
    assert_memory_equal(b.out.data, "P\0\0\0\x11\0x\0\0\2\0\0\0\0\0\0\0\x17", 18);
    tear_down(&b);
}

static void test_other_kinds(void **state)
{
    (void) state;
    struct bench b;
    set_up(&b);
    struct rh_record r = record(RH_KIND_PROTOCOL, "SELECT 1");
    r.statement_name = RH_SPAN_LITERAL("S_1");
    assert_int_equal(build(&b, &r, true), 0);
    assert_string_equal(types(&b), "CPS");
    /* Within a pipeline it is parsed even if it is known: something must be answered. */
    rh_prepared_put(&b.prepared, r.statement_name, b.request.text_hash);
    assert_int_equal(build(&b, &r, true), 0);
    assert_string_equal(types(&b), "S");
    assert_int_equal(build(&b, &r, false), 0);
    assert_string_equal(types(&b), "CPH");
    assert_int_equal(b.request.end, RH_EXCHANGE_PARSING);
    assert_true(b.request.parses);
    r = record(RH_KIND_FUNCTION, "");
    assert_int_equal(build(&b, &r, true), 0);
    assert_string_equal(types(&b), "F");
    r = record(RH_KIND_FETCH, "");
    r.row_limit = 10;
    assert_int_equal(build(&b, &r, true), 0);
    assert_string_equal(types(&b), "ES");
    assert_int_equal(build(&b, &r, false), 0);
    assert_string_equal(types(&b), "EH");
    assert_int_equal(b.request.end, RH_EXCHANGE_EXECUTION);
    tear_down(&b);
}

/* What no client can have sent is refused, and nothing of it stays in the buffer. */
static void test_bad(void **state)
{
    (void) state;
    struct bench b;
    set_up(&b);
    struct rh_record r = record(RH_KIND_QUERY, "");
    r.text = rh_span("SELECT\0 1", 9);
    assert_int_equal(build(&b, &r, true), -1);
    assert_int_equal(b.out.len, 0);
    r = record(RH_KIND_EXECUTE, "SELECT 1");
    r.portal_name = rh_span("a\0b", 3);
    assert_int_equal(build(&b, &r, true), -1);
    assert_int_equal(b.out.len, 0);
    r = record(RH_KIND_CLOSE, "");
    assert_int_equal(build(&b, &r, true), -1);
    tear_down(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_query),
        cmocka_unit_test(test_unnamed_is_always_parsed),
        cmocka_unit_test(test_named),
        cmocka_unit_test(test_pipeline_and_portal),
        cmocka_unit_test(test_types_and_formats),
        cmocka_unit_test(test_other_kinds),
        cmocka_unit_test(test_bad),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
