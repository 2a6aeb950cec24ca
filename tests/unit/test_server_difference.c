/* What is stored of servers comes back, and two of them are held against each other. */
#include "rh_test.h"

#include <string.h>

#include "diff/server_difference.h"

#define FACT(kind_, database_, name_, value_, unit_, source_)                                      \
    {                                                                                              \
        .kind = text(kind_), .database = text(database_), .name = text(name_),                     \
        .value = text(value_), .unit = text(unit_), .source = text(source_)                        \
    }

static struct rh_span text(const char *s)
{
    return s ? rh_span_cstr(s) : RH_SPAN_NONE;
}

static void test_facts_come_back(void **state)
{
    (void) state;
    const struct rh_server_fact facts[] = {
        FACT("setting", NULL, "work_mem", "4096", "kB", "default"),
        FACT("extension", "shop", "pg_trgm", "1.6", NULL, NULL),
        FACT("of a later version", "", "", NULL, NULL, NULL),
    };
    struct rh_trace_header h = {.server_facts = facts, .server_fact_count = 3}, back;
    struct rh_arena arena;
    struct rh_buf out;
    rh_arena_init(&arena, 1024);
    rh_buf_init(&out, 4096);
    assert_int_equal(rh_trace_header_put(&h, &out), 0);
    assert_int_equal(rh_trace_header_get(&back, rh_buf_span(&out), &arena), 0);
    assert_int_equal(back.server_fact_count, 3);
    assert_true(rh_span_is(back.server_facts[0].unit, "kB"));
    assert_true(rh_span_is(back.server_facts[1].database, "shop"));
    assert_null(back.server_facts[1].unit.data);
    assert_non_null(back.server_facts[2].database.data);
    assert_null(back.server_facts[2].value.data);
    /* A cut one is no header. */
    for (size_t len = 0; len < out.len; len++) {
        rh_arena_clear(&arena);
        assert_int_equal(rh_trace_header_get(&back, rh_span(out.data, len), &arena), -1);
    }
    rh_buf_release(&out);
    rh_arena_release(&arena);
}

static void check_array_refused(const char *bytes, size_t len)
{
    struct rh_arena arena;
    struct rh_mp m;
    const struct rh_server_fact *facts;
    uint32_t count;
    rh_arena_init(&arena, 1024);
    rh_mp_init(&m, rh_span(bytes, len));
    assert_int_equal(rh_server_facts_get(&m, &arena, &facts, &count), -1);
    rh_arena_release(&arena);
}

static void test_bad_facts(void **state)
{
    (void) state;
    check_array_refused("\xc0", 1);
    check_array_refused("\x95\xc0\xc0\xc0\xc0\xc0", 6);     /* five texts */
    check_array_refused("\x96\xc0\xc0\xc0\xc0\xc0\x01", 7); /* a number among them */
    check_array_refused("\xdd\xff\xff\xff\xfc\xc0", 6);     /* more than there is */
    /* More than there may be: 6 * 4097 nils. */
    static char many[5 + 6 * 4097] = "\xdd\x00\x00\x60\x06";
    memset(many + 5, 0xc0, sizeof many - 5);
    check_array_refused(many, sizeof many);
}

static struct rh_server_differences compare(const struct rh_server_fact *base, uint32_t base_count,
                                            const struct rh_server_fact *candidate,
                                            uint32_t candidate_count)
{
    struct rh_trace_header a = {.server_facts = base, .server_fact_count = base_count};
    struct rh_trace_header b = {.server_facts = candidate, .server_fact_count = candidate_count};
    struct rh_server_differences d;
    rh_server_differences_make(&d, &a, &b);
    return d;
}

static void check_value(const char *value, const char *unit, const char *wanted)
{
    const struct rh_server_fact base[] = {FACT("setting", NULL, "x", "?", unit, NULL)};
    const struct rh_server_fact candidate[] = {FACT("setting", NULL, "x", value, unit, NULL)};
    struct rh_server_differences d = compare(base, 1, candidate, 1);
    assert_int_equal(d.count, 1);
    assert_string_equal(d.items[0].text[RH_CANDIDATE], wanted);
    rh_server_differences_release(&d);
}

static void test_values_for_people(void **state)
{
    (void) state;
    check_value("16384", "8kB", "128MB");
    check_value("64", "kB", "64kB");
    check_value("1048576", "kB", "1GB");
    check_value("1025", "kB", "1025kB");
    check_value("-1", "kB", "-1");
    check_value("0", "ms", "0");
    check_value("60000", "ms", "1min");
    check_value("1500", "ms", "1500ms");
    check_value("5", "min", "5min");
    check_value("9223372036854775807", "8kB", "9223372036854775807");
    check_value("10", "lightyears", "10");
    check_value("1.1", NULL, "1.1");
    check_value("", NULL, "''");
    check_value("on", "kB", "on");
}

static void test_differences(void **state)
{
    (void) state;
    const struct rh_server_fact base[] = {
        FACT("statistics", "shop", "tables", "3", NULL, NULL),
        FACT("statistics", "shop", "last_analyzed", "2026-01-01", NULL, NULL),
        FACT("extension", "shop", "pg_trgm", "1.6", NULL, NULL),
        FACT("extension", "other", "hstore", "1.8", NULL, NULL), /* not asked on the other side */
        FACT("setting", NULL, "work_mem", "4096", "kB", "default"),
        FACT("setting", NULL, "jit", "on", NULL, "default"),
        FACT("override", "shop", "work_mem", "1MB", NULL, "app"),
        FACT("database", "shop", "encoding", "UTF8", NULL, NULL),
        FACT("database", "gone", "encoding", "UTF8", NULL, NULL),
    };
    const struct rh_server_fact candidate[] = {
        FACT("setting", NULL, "jit", "on", NULL, "configuration file"),
        FACT("setting", NULL, "work_mem", "64", "kB", "configuration file"),
        FACT("setting", NULL, "fsync", "off", NULL, "configuration file"),
        FACT("setting", NULL, "effective_new_setting", "7", NULL, "default"),
        FACT("override", "shop", "work_mem", "1MB", NULL, "other"),
        FACT("statistics", "shop", "tables", "3", NULL, NULL),
        FACT("statistics", "shop", "last_analyzed", "2026-01-02", NULL, NULL),
        FACT("database", "shop", "encoding", "LATIN1", NULL, NULL),
    };
    static const char *const wanted[] = {"setting work_mem 4MB 64kB",
                                         "setting fsync (default) off",
                                         "setting effective_new_setting (not there) 7",
                                         "override work_mem of role app in shop 1MB (none)",
                                         "override work_mem of role other in shop (none) 1MB",
                                         "extension pg_trgm in shop 1.6 (none)",
                                         "database encoding in shop UTF8 LATIN1"};
    struct rh_server_differences d = compare(base, 9, candidate, 8);
    struct rh_buf line;
    rh_buf_init(&line, 1000);
    assert_true(d.known);
    assert_int_equal(d.count, 7);
    for (uint32_t i = 0; i < d.count; i++) {
        rh_buf_clear(&line);
        rh_buf_add_span(&line, d.items[i].kind);
        rh_buf_add_byte(&line, ' ');
        rh_server_difference_name(&d.items[i], &line);
        rh_buf_addf(&line, " %s %s", d.items[i].text[RH_BASE], d.items[i].text[RH_CANDIDATE]);
        assert_string_equal(rh_buf_cstr(&line), wanted[i]);
    }
    rh_server_differences_release(&d);
    /* A server is as itself, and one that tells nothing differs in nothing. */
    d = compare(base, 9, base, 9);
    assert_true(d.known);
    assert_int_equal(d.count, 0);
    rh_server_differences_release(&d);
    d = compare(base, 9, NULL, 0);
    assert_false(d.known);
    assert_int_equal(d.count, 0);
    rh_server_differences_release(&d);
    rh_buf_release(&line);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_facts_come_back),
        cmocka_unit_test(test_bad_facts),
        cmocka_unit_test(test_values_for_people),
        cmocka_unit_test(test_differences),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
