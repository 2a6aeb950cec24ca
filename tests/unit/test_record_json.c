/* front/record_json, front/record_filter, front/kind_name */
#include "rh_test.h"

#include "common/clock.h"
#include "front/kind_name.h"
#include "front/record_filter.h"
#include "front/record_json.h"

/* 2026-01-31 13:05:09.123456 UTC */
#define START_NS INT64_C(1769864709123456000)
#define START_TEXT "2026-01-31T13:05:09.123456Z"

static const struct rh_session session = {
    .number = 3,
    .user = {"alice", 5},
    .database = {"shop", 4},
    .application = {"web", 3},
    .client = {"[local]", 7},
    .backend_pid = 77,
    .flags = RH_SESSION_JOINED_MIDWAY | RH_SESSION_LEFT_OPEN,
};

static void check_json(const struct rh_record *r, bool is_run, const char *want)
{
    struct rh_buf out;
    struct rh_buf scratch;
    struct rh_json j;
    rh_buf_init(&out, 1 << 20);
    rh_buf_init(&scratch, 1 << 20);
    rh_json_init(&j, &out, false);
    rh_record_json(&j, r, r->session ? &session : NULL, is_run, &scratch);
    assert_string_equal(rh_buf_cstr(&out), want);
    rh_buf_release(&out);
    rh_buf_release(&scratch);
}

static struct rh_record a_query(struct rh_span text)
{
    struct rh_record r;
    rh_record_init(&r);
    r.session = 3;
    r.ordinal = 12;
    r.start_ns = START_NS;
    r.text = text;
    return r;
}

#define HEAD(kind)                                                                                 \
    "{\"session\":3,\"ordinal\":12,\"kind\":\"" kind "\",\"user\":\"alice\","                      \
    "\"database\":\"shop\",\"application\":\"web\","
#define RUN_HEAD(kind)                                                                             \
    "{\"session\":3,\"copy\":0,\"ordinal\":12,\"kind\":\"" kind "\",\"user\":\"alice\","           \
    "\"database\":\"shop\",\"application\":\"web\","

static void test_unknown_values_are_null(void **state)
{
    (void) state;
    struct rh_record r = a_query(RH_SPAN_LITERAL("select 1"));
    check_json(&r, false,
               HEAD("query") "\"sql\":\"select 1\",\"params\":[],\"start\":\"" START_TEXT "\","
                             "\"duration_us\":null,\"sqlstate\":null,\"rows\":null}");
}

static void test_all_of_an_execute(void **state)
{
    (void) state;
    static const struct rh_param params[] = {
        {.data = "42", .len = 2, .type = 23},
        {.data = NULL},
        {.data = "\x00\x01\xff", .len = 3, .type = 17, .format = 1},
        {.data = "", .len = 0},
        {.data = "caf\xe9", .len = 4},
    };
    struct rh_record r = a_query(RH_SPAN_LITERAL("select $1"));
    r.kind = RH_KIND_EXECUTE;
    r.params = params;
    r.param_count = 5;
    r.application = RH_SPAN_LITERAL("batch");
    r.statement_name = RH_SPAN_LITERAL("s1");
    r.portal_name = RH_SPAN_LITERAL("p1");
    r.row_limit = 50;
    r.flags = RH_FLAG_COMMIT_NOT_TIMED | RH_FLAG_HAS_PARSE;
    r.txn = RH_TXN_BEGINS | RH_TXN_ENDS;
    r.hold = RH_REASON_CUT_PARAMETER;
    r.outcome.done_ns = START_NS + 1500000;
    r.outcome.sqlstate = 0;
    r.outcome.rows = 7;
    r.outcome.parse_ns = 10000;
    r.outcome.bind_ns = 20000;
    r.outcome.execute_ns = 0;
    r.outcome.tag = RH_SPAN_LITERAL("SELECT");
    r.outcome.bytes = 100;
    r.outcome.results = 1;
    r.outcome.tx_status = 'I';
    check_json(
        &r, false,
        "{\"session\":3,\"ordinal\":12,\"kind\":\"execute\",\"user\":\"alice\","
        "\"database\":\"shop\",\"application\":\"batch\",\"sql\":\"select $1\",\"params\":[\"42\","
        "null,{\"hex\":\"0001ff\"},\"\",{\"text\":\"caf\\ufffd\",\"text_is_not_utf8\":true,"
        "\"hex\":\"636166e9\"}],\"param_types\":[23,0,17,0,0],\"start\":\"" START_TEXT
        "\",\"duration_us\":1500,\"sqlstate\":\"00000\",\"rows\":7,\"parse_us\":10,\"bind_us\":20,"
        "\"execute_us\":0,\"tag\":\"SELECT\",\"bytes\":100,\"results\":1,\"tx_status\":\"I\","
        "\"statement_name\":\"s1\",\"portal\":\"p1\",\"row_limit\":50,\"txn\":[\"begins\",\"ends\"]"
        ",\"flags\":[\"commit-not-timed\",\"has-parse\"],\"not_replayable\":\"cut-parameter\"}");
}

static void test_text_that_is_not_utf8(void **state)
{
    (void) state;
    struct rh_record r = a_query(RH_SPAN_LITERAL("select 'caf\xe9'"));
    r.outcome.sqlstate = rh_sqlstate_pack(RH_SPAN_LITERAL("42P01"));
    check_json(&r, false,
               HEAD("query") "\"sql\":\"select 'caf\\ufffd'\",\"sql_is_not_utf8\":true,\"sql_hex\":"
                             "\"73656c6563742027636166e927\",\"params\":[],\"start\":\"" START_TEXT
                             "\",\"duration_us\":null,\"sqlstate\":\"42P01\",\"rows\":null}");
}

static void test_unknown_parameters(void **state)
{
    (void) state;
    struct rh_record r = a_query(RH_SPAN_LITERAL("select $1"));
    r.hold = RH_REASON_NO_PARAMETERS;
    check_json(&r, false,
               HEAD("query") "\"sql\":\"select $1\",\"params\":null,\"start\":\"" START_TEXT
                             "\",\"duration_us\":null,\"sqlstate\":null,\"rows\":null,"
                             "\"not_replayable\":\"no-parameters\"}");
}

static void test_template_and_literals_give_the_text(void **state)
{
    (void) state;
    static const struct rh_span literals[] = {{"42", 2}, {"'x'", 3}};
    struct rh_record r = a_query(RH_SPAN_NONE);
    r.tmpl = RH_SPAN_LITERAL("select \0, \0");
    r.literals = literals;
    r.literal_count = 2;
    check_json(&r, false,
               HEAD("query") "\"sql\":\"select 42, 'x'\",\"params\":[],\"start\":\"" START_TEXT
                             "\",\"duration_us\":null,\"sqlstate\":null,\"rows\":null}");
}

static void test_run_has_its_own_times(void **state)
{
    (void) state;
    struct rh_record r = a_query(RH_SPAN_LITERAL("commit"));
    r.run.fate = RH_FATE_DONE;
    r.run.planned_ns = START_NS - 5000000;
    r.run.ready_ns = START_NS - 3000000;
    r.run.wait_ns = 1000000;
    r.run.sent_ns = START_NS + 500;
    r.outcome.first_ns = START_NS + 1000;
    r.outcome.done_ns = START_NS + 100500;
    r.outcome.sqlstate = 0;
    check_json(
        &r, true,
        RUN_HEAD("query") "\"sql\":\"commit\",\"params\":[],\"start\":\"" START_TEXT
                          "\",\"duration_us\":100,\"sqlstate\":\"00000\",\"rows\":null,"
                          "\"planned\":\"2026-01-31T13:05:09.118456Z\",\"sent\":\"" START_TEXT
                          "\",\"first\":\"2026-01-31T13:05:09.123457Z\","
                          "\"done\":\"2026-01-31T13:05:09.123556Z\",\"wait_us\":1000,"
                          "\"lag_us\":2000.500,\"fate\":\"done\",\"reason\":null}");

    r = a_query(RH_SPAN_LITERAL("commit"));
    r.run.fate = RH_FATE_NOT_SENT;
    r.run.reason = RH_REASON_SESSION_LOST;
    r.run.planned_ns = START_NS;
    check_json(
        &r, true,
        RUN_HEAD("query") "\"sql\":\"commit\",\"params\":[],\"start\":\"" START_TEXT
                          "\",\"duration_us\":null,\"sqlstate\":null,\"rows\":null,"
                          "\"planned\":\"" START_TEXT "\",\"sent\":null,\"first\":null,"
                          "\"done\":null,\"wait_us\":0,\"lag_us\":null,\"fate\":\"not-sent\","
                          "\"reason\":\"session-lost\"}");
}

static void test_records_without_ordinal(void **state)
{
    (void) state;
    struct rh_record r = a_query(RH_SPAN_NONE);
    r.kind = RH_KIND_OPEN;
    check_json(
        &r, false,
        "{\"session\":3,\"ordinal\":null,\"kind\":\"open\",\"user\":\"alice\",\"database\":"
        "\"shop\",\"application\":\"web\",\"sql\":null,\"params\":null,\"start\":\"" START_TEXT
        "\",\"duration_us\":null,\"sqlstate\":null,\"rows\":null,\"client\":\"[local]\","
        "\"backend_pid\":77,\"session_flags\":[\"joined-midway\",\"left-open\"]}");
    /* A gap of the whole capture. */
    rh_record_init(&r);
    r.kind = RH_KIND_GAP;
    r.detail = RH_SPAN_LITERAL("log lines");
    r.count = 9;
    check_json(&r, false,
               "{\"session\":0,\"ordinal\":null,\"kind\":\"gap\",\"user\":null,\"database\":null,"
               "\"application\":null,\"sql\":null,\"params\":null,\"start\":null,\"duration_us\":"
               "null,\"sqlstate\":null,\"rows\":null,\"missing\":\"log lines\",\"count\":9}");
    r = a_query(RH_SPAN_NONE);
    r.kind = RH_KIND_COPY_DATA;
    r.detail = RH_SPAN_LITERAL("1\tx\n");
    check_json(&r, false,
               HEAD("copy-data") "\"sql\":null,\"params\":null,\"start\":\"" START_TEXT
                                 "\",\"duration_us\":null,\"sqlstate\":null,\"rows\":null,"
                                 "\"data\":\"1\\tx\\n\"}");
}

static void test_kind_names(void **state)
{
    (void) state;
    for (int kind = 0; kind < 32; kind++) {
        const char *name = rh_kind_name((enum rh_kind) kind);
        if (strcmp(name, "unknown") != 0) {
            assert_int_equal(rh_kind_by_name(name), kind);
        }
    }
    assert_int_equal(rh_kind_by_name("query"), RH_KIND_QUERY);
    assert_int_equal(rh_kind_by_name("copy-data"), RH_KIND_COPY_DATA);
    assert_int_equal(rh_kind_by_name("unknown"), -1);
    assert_int_equal(rh_kind_by_name(""), -1);
    assert_null(rh_fate_name(RH_FATE_NONE));
    assert_string_equal(rh_fate_name(RH_FATE_NOT_SENT), "not-sent");
}

static void test_filter(void **state)
{
    (void) state;
    struct rh_error err;
    struct rh_record_filter f;
    struct rh_record r = a_query(RH_SPAN_LITERAL("x"));
    struct rh_record open = r;
    open.kind = RH_KIND_OPEN;
    rh_record_filter_init(&f);
    assert_true(rh_record_filter_takes(&f, &r));
    assert_true(rh_record_filter_takes(&f, &open));

    assert_int_equal(rh_record_filter_read_session("4", &f, &err), 0);
    assert_false(rh_record_filter_takes(&f, &r));
    assert_int_equal(rh_record_filter_read_session("3", &f, &err), 0);
    assert_true(rh_record_filter_takes(&f, &r));

    assert_int_equal(rh_record_filter_read_ordinal("12", &f, &err), 0);
    assert_true(rh_record_filter_takes(&f, &r));
    assert_false(rh_record_filter_takes(&f, &open));
    assert_int_equal(rh_record_filter_read_ordinal("13-20", &f, &err), 0);
    assert_false(rh_record_filter_takes(&f, &r));
    assert_int_equal(rh_record_filter_read_ordinal("1-12", &f, &err), 0);
    assert_true(rh_record_filter_takes(&f, &r));

    assert_int_equal(rh_record_filter_read_kind("execute", &f, &err), 0);
    assert_false(rh_record_filter_takes(&f, &r));
    assert_int_equal(rh_record_filter_read_kind("query", &f, &err), 0);
    assert_true(rh_record_filter_takes(&f, &r));

    f.only_errors = true;
    assert_false(rh_record_filter_takes(&f, &r));
    r.outcome.sqlstate = 0;
    assert_false(rh_record_filter_takes(&f, &r));
    r.outcome.sqlstate = rh_sqlstate_pack(RH_SPAN_LITERAL("40001"));
    assert_true(rh_record_filter_takes(&f, &r));
    rh_record_filter_release(&f);
}

static void test_filter_refuses(void **state)
{
    (void) state;
    static const char *const bad[] = {
        "", "0", "x", "-3", "3-", "5-4", "1x", "1-2x", "1--2", "+1", "99999999999999999999"};
    struct rh_error err;
    struct rh_record_filter f;
    rh_record_filter_init(&f);
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        assert_int_equal(rh_record_filter_read_ordinal(bad[i], &f, &err), -1);
    }
    assert_int_equal(rh_record_filter_read_session("x", &f, &err), -1);
    assert_int_equal(f.session_count, 0);
    assert_int_equal(rh_record_filter_read_kind("queries", &f, &err), -1);
    assert_int_equal(f.first_ordinal, 0);
    rh_record_filter_release(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_unknown_values_are_null),
        cmocka_unit_test(test_all_of_an_execute),
        cmocka_unit_test(test_text_that_is_not_utf8),
        cmocka_unit_test(test_unknown_parameters),
        cmocka_unit_test(test_template_and_literals_give_the_text),
        cmocka_unit_test(test_run_has_its_own_times),
        cmocka_unit_test(test_records_without_ordinal),
        cmocka_unit_test(test_kind_names),
        cmocka_unit_test(test_filter),
        cmocka_unit_test(test_filter_refuses),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
