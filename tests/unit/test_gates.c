#include "rh_test.h"

#include <math.h>

#include "diff/gates.h"
#include "diff_fixture.h"

static void test_parse(void **state)
{
    (void) state;
    struct rh_gate g;
    struct rh_error err;
    assert_int_equal(rh_gate_parse(&g, "new-errors=0", &err), 0);
    assert_int_equal(g.kind, RH_GATE_NEW_ERRORS);
    assert_float_equal(g.limit, 0, 0);
    assert_int_equal(rh_gate_parse(&g, "lag-p99-ms=2.5", &err), 0);
    assert_int_equal(g.kind, RH_GATE_LAG_P99_MS);
    assert_float_equal(g.limit, 2.5, 0);
    assert_int_equal(rh_gate_parse(&g, "missing=1e3", &err), 0);
    assert_float_equal(g.limit, 1000, 0);

    static const char *const bad[] = {
        "",
        "=1",
        "new-errors",
        "new-errors=",
        "new-errors=-1",
        "missing=1.5",
        "missing=x",
        "missing=1 ",
        "missing= 1",
        "missing=0x10",
        "missing=nan",
        "time-added-pct=inf",
        "new-error=1",
        "new-errors2=1",
        "missing=1,2",
        "MISSING=1",
        "lag-p99-ms=1ms",
    };
    for (size_t i = 0; i < FX_COUNT(bad); i++) {
        rh_error_clear(&err);
        if (rh_gate_parse(&g, bad[i], &err) != -1) {
            fail_msg("\"%s\" was taken", bad[i]);
        }
        assert_int_equal(err.code, RH_ERR_USAGE);
        assert_true(err.text[0] != '\0');
    }
}

static void check_gate(const struct rh_result *r, const char *text, enum rh_gate_state state,
                       double actual)
{
    struct rh_gate g;
    struct rh_error err;
    assert_int_equal(rh_gate_parse(&g, text, &err), 0);
    rh_gate_judge(&g, r);
    if (g.state != state) {
        fail_msg("%s: %s, actual %g", text, rh_gate_state_name(g.state), g.actual);
    }
    assert_int_equal(g.why == NULL, state != RH_GATE_CANNOT_JUDGE);
    if (isnan(actual)) {
        assert_true(isnan(g.actual));
    } else {
        assert_float_equal(g.actual, actual, 1e-9);
    }
}

static const struct fx_statement base[] = {
    {.session = 1, .ordinal = 1, .service_us = 100, .sql = "select a", .rows_plus_1 = 2},
    {.session = 1, .ordinal = 2, .service_us = 100, .sql = "select b"},
    {.session = 1, .ordinal = 3, .service_us = 100, .sql = "select c"},
};
static const struct fx_statement candidate[] = {
    {.session = 1,
     .ordinal = 1,
     .service_us = 125,
     .sql = "select a",
     .rows_plus_1 = 3,
     .lag_us = 1500},
    {.session = 1, .ordinal = 2, .service_us = 100, .sql = "select b", .sqlstate = "42703"},
    {.session = 1,
     .ordinal = 3,
     .sql = "select c",
     .fate = RH_FATE_SKIPPED,
     .reason = RH_REASON_CUT_TEXT},
};

static void test_runs(void **state)
{
    (void) state;
    struct fx_file b = fx_run("b.run", 2, base, FX_COUNT(base));
    struct fx_file c = fx_run("c.run", 3, candidate, FX_COUNT(candidate));
    struct rh_comparison cmp;
    struct rh_result r;
    fx_compare(&cmp, &b, &c, 0, 0);
    rh_result_make(&r, &cmp, NULL);
    check_gate(&r, "new-errors=0", RH_GATE_FAIL, 1);
    check_gate(&r, "new-errors=1", RH_GATE_PASS, 1);
    check_gate(&r, "missing=0", RH_GATE_FAIL, 1);
    check_gate(&r, "row-mismatches=0", RH_GATE_FAIL, 1);
    check_gate(&r, "lag-p99-ms=1", RH_GATE_FAIL, 1.5);
    check_gate(&r, "lag-p99-ms=1.5", RH_GATE_PASS, 1.5);
    check_gate(&r, "time-added-pct=24.9", RH_GATE_FAIL, 25);
    check_gate(&r, "time-added-pct=25", RH_GATE_PASS, 25);
    check_gate(&r, "regressed=0", RH_GATE_CANNOT_JUDGE, NAN);
    rh_result_release(&r);
    fx_close(&cmp);
}

static void test_what_cannot_be_judged(void **state)
{
    (void) state;
    struct fx_file b = fx_workload("b.trace", base, FX_COUNT(base));
    struct fx_file c = fx_run("c.run", 3, candidate, FX_COUNT(candidate));
    struct rh_comparison cmp;
    struct rh_result r;
    fx_compare(&cmp, &b, &c, 0, 0);
    rh_result_make(&r, &cmp, NULL);
    check_gate(&r, "time-added-pct=1000", RH_GATE_CANNOT_JUDGE, NAN);
    check_gate(&r, "missing=1", RH_GATE_PASS, 1);
    rh_result_release(&r);
    fx_close(&cmp);

    /* A workload as the candidate has no lag; a log has no rows. */
    fx_compare(&cmp, &c, &b, 0, 0);
    rh_result_make(&r, &cmp, NULL);
    check_gate(&r, "lag-p99-ms=1000", RH_GATE_CANNOT_JUDGE, NAN);
    rh_result_release(&r);
    fx_close(&cmp);

    struct fx_file no_rows = fx_run("n.run", 4, base + 1, 2);
    fx_compare(&cmp, &no_rows, &no_rows, 0, 0);
    rh_result_make(&r, &cmp, NULL);
    check_gate(&r, "row-mismatches=9", RH_GATE_CANNOT_JUDGE, NAN);
    rh_result_release(&r);
    fx_close(&cmp);

    static const struct fx_statement none_ran[] = {
        {.session = 1,
         .ordinal = 1,
         .sql = "select a",
         .fate = RH_FATE_NOT_SENT,
         .reason = RH_REASON_CONNECT_FAILED},
    };
    struct fx_file refused = fx_run("r.run", 5, none_ran, 1);
    fx_compare(&cmp, &b, &refused, 0, 0);
    rh_result_make(&r, &cmp, NULL);
    check_gate(&r, "new-errors=0", RH_GATE_CANNOT_JUDGE, NAN);
    check_gate(&r, "missing=2", RH_GATE_FAIL, 3);
    rh_result_release(&r);
    fx_close(&cmp);

    struct fx_file other = fx_workload("o.trace", base, FX_COUNT(base));
    other.uuid = 77;
    fx_compare(&cmp, &b, &other, 0, 0);
    rh_result_make(&r, &cmp, NULL);
    assert_false(cmp.paired);
    check_gate(&r, "missing=9", RH_GATE_CANNOT_JUDGE, NAN);
    rh_result_release(&r);
    fx_close(&cmp);
}

/* 200 statements in the base, of which the candidate lacks so many. */
static void check_coverage(int lacking, enum rh_fate fate, enum rh_reason reason, bool paired,
                           enum rh_gate_state state)
{
    enum { N = 200 };
    static struct fx_statement all[N], some[N];
    struct rh_comparison cmp;
    struct rh_result r;
    for (int i = 0; i < N; i++) {
        all[i] = (struct fx_statement){.session = 1,
                                       .ordinal = (uint64_t) i + 1,
                                       .service_us = 100,
                                       .sql = "select a",
                                       .rows_plus_1 = 2,
                                       .lag_us = 10};
        some[i] = all[i];
        if (i >= N - lacking) {
            some[i].fate = fate;
            some[i].reason = reason;
            some[i].sqlstate = fate == RH_FATE_LOST ? "" : NULL;
        }
    }
    struct fx_file b = fx_run("whole.run", 2, all, N);
    struct fx_file c = fx_run("some.run", 3, some, N);
    c.trace = paired ? c.trace : 9;
    fx_compare(&cmp, &b, &c, 0, 0);
    assert_int_equal(cmp.paired, paired);
    rh_result_make(&r, &cmp, NULL);
    static const char *const texts[] = {"new-errors=0", "time-added-pct=10", "lag-p99-ms=100",
                                        "row-mismatches=0"};
    for (size_t i = 0; i < (paired ? 4U : 3U); i++) {
        struct rh_gate g;
        struct rh_error err;
        assert_int_equal(rh_gate_parse(&g, texts[i], &err), 0);
        rh_gate_judge(&g, &r);
        if (g.state != state) {
            fail_msg("%s, %d lack: %s", texts[i], lacking, rh_gate_state_name(g.state));
        }
        enum rh_verdict verdict = rh_verdict_make(&g, 1, &r);
        assert_int_equal(rh_verdict_exit(verdict), state == RH_GATE_PASS ? 0 : 3);
    }
    check_gate(&r, "missing=0", lacking ? RH_GATE_FAIL : RH_GATE_PASS, lacking);
    rh_result_release(&r);
    fx_close(&cmp);
}

static void test_lost_sessions_leave_nothing_to_judge(void **state)
{
    (void) state;
    static const enum rh_reason reasons[] = {RH_REASON_CONNECT_FAILED, RH_REASON_SESSION_LOST,
                                             RH_REASON_STOPPED, RH_REASON_DAMAGED};
    for (size_t i = 0; i < FX_COUNT(reasons); i++) {
        check_coverage(2, RH_FATE_NOT_SENT, reasons[i], true, RH_GATE_PASS); /* 1 % is let pass */
        check_coverage(3, RH_FATE_NOT_SENT, reasons[i], true, RH_GATE_CANNOT_JUDGE);
        check_coverage(2, RH_FATE_NOT_SENT, reasons[i], false, RH_GATE_PASS);
        check_coverage(3, RH_FATE_NOT_SENT, reasons[i], false, RH_GATE_CANNOT_JUDGE);
    }
    check_coverage(2, RH_FATE_LOST, RH_REASON_NONE, true, RH_GATE_PASS);
    check_coverage(3, RH_FATE_LOST, RH_REASON_NONE, true, RH_GATE_CANNOT_JUDGE);
    /* What cannot be replayed is no accident of this run. */
    check_coverage(40, RH_FATE_SKIPPED, RH_REASON_NO_COPY_DATA, true, RH_GATE_PASS);
    check_coverage(0, RH_FATE_DONE, RH_REASON_NONE, true, RH_GATE_PASS);
}

static void test_regressed(void **state)
{
    (void) state;
    enum { N = 80 };
    static struct fx_statement before[N], after[N];
    struct rh_comparison cmp;
    struct rh_result r;
    for (int i = 0; i < N; i++) {
        before[i] = (struct fx_statement){.session = 1,
                                          .ordinal = (uint64_t) i + 1,
                                          .start_us = i * 10000,
                                          .service_us = 1000 + i % 7 * 100,
                                          .sql = i % 2 ? "select a" : "select b"};
        after[i] = before[i];
        after[i].service_us *= i % 2 ? 2 : 1;
    }
    struct fx_file b = fx_run("before.run", 2, before, N);
    struct fx_file c = fx_run("after.run", 3, after, N);
    fx_compare(&cmp, &b, &c, 0, 0);
    rh_result_make(&r, &cmp, NULL);
    assert_int_equal(r.queries[0].verdict, RH_QUERY_REGRESSED);
    assert_int_equal(r.queries[0].test.pairs, N / 2 - 1 + !r.queries[0].test.first_apart);
    assert_int_equal(r.queries[1].verdict, RH_QUERY_SAME);
    assert_true(fabs(r.queries[0].base_time_pct + r.queries[1].base_time_pct - 100) < 1e-6);
    check_gate(&r, "regressed=0", RH_GATE_FAIL, 1);
    check_gate(&r, "regressed=1", RH_GATE_PASS, 1);
    rh_result_release(&r);

    struct rh_test_rule rule = rh_test_rule_default();
    rule.change_min_ns = 100000000;
    rh_result_make(&r, &cmp, &rule);
    check_gate(&r, "regressed=0", RH_GATE_PASS, 0);
    assert_string_equal(r.queries[0].why, RH_WHY_SMALL);
    rh_result_release(&r);
    fx_close(&cmp);

    fx_compare(&cmp, &c, &b, 0, 0);
    rh_result_make(&r, &cmp, NULL);
    assert_int_equal(r.verdicts[RH_QUERY_IMPROVED], 1);
    check_gate(&r, "regressed=0", RH_GATE_PASS, 0);
    rh_result_release(&r);
    fx_close(&cmp);

    /* Another trace: the sides are set against each other, and no query is judged. */
    c.trace = 9;
    fx_compare(&cmp, &b, &c, 0, 0);
    rh_result_make(&r, &cmp, NULL);
    check_gate(&r, "regressed=0", RH_GATE_CANNOT_JUDGE, NAN);
    assert_int_equal(r.verdicts[RH_QUERY_UNTESTED], 2);
    assert_true(r.queries[0].unpaired_p < 1e-6 && r.queries[0].unpaired_share > 0.9);
    assert_true(r.queries[1].unpaired_p > 0.9);
    rh_result_release(&r);
    fx_close(&cmp);

    /* Another vantage. */
    struct fx_file log = fx_workload("before.trace", before, N);
    c.trace = 1;
    fx_compare(&cmp, &log, &c, 0, 0);
    rh_result_make(&r, &cmp, NULL);
    check_gate(&r, "regressed=0", RH_GATE_CANNOT_JUDGE, NAN);
    assert_int_equal(r.verdicts[RH_QUERY_UNTESTED], 2);
    assert_string_equal(r.queries[0].why, "vantage");
    rh_result_release(&r);
    fx_close(&cmp);
}

static void check_text(enum rh_gate_kind kind, double limit, double actual, const char *wanted)
{
    const struct rh_gate gate = {.kind = kind, .limit = limit, .actual = actual};
    char text[RH_GATE_ACTUAL_SIZE];
    assert_string_equal(rh_gate_actual_text(&gate, text), wanted);
}

/* A number that fails must not look as if it passed, nor the other way round. */
static void test_rounding(void **state)
{
    (void) state;
    check_text(RH_GATE_TIME_ADDED_PCT, 10, 74.3170358, "74.3");
    check_text(RH_GATE_TIME_ADDED_PCT, 10, 10.00042, "10.0004");
    check_text(RH_GATE_TIME_ADDED_PCT, 10, 9.99999, "10");
    check_text(RH_GATE_TIME_ADDED_PCT, 10, 10, "10");
    check_text(RH_GATE_TIME_ADDED_PCT, 10, -3.14159, "-3.14");
    check_text(RH_GATE_TIME_ADDED_PCT, 10, 0, "0");
    check_text(RH_GATE_LAG_P99_MS, 1, 123456.789, "123457");
    check_text(RH_GATE_LAG_P99_MS, 123456.6, 123456.4, "123456");
    check_text(RH_GATE_LAG_P99_MS, 123456.8, 123456.6, "123456.6");
    check_text(RH_GATE_NEW_ERRORS, 0, 2995, "2995");
    check_text(RH_GATE_NEW_ERRORS, 0, 1234567890, "1234567890");
}

static void test_verdict(void **state)
{
    (void) state;
    struct rh_result whole = {.complete = true};
    struct rh_result cut = {.complete = false};
    const struct rh_gate pass = {.state = RH_GATE_PASS};
    const struct rh_gate failed = {.state = RH_GATE_FAIL};
    const struct rh_gate unknown = {.state = RH_GATE_CANNOT_JUDGE};

    assert_int_equal(rh_verdict_make(NULL, 0, &whole), RH_VERDICT_NONE);
    assert_int_equal(rh_verdict_make(NULL, 0, &cut), RH_VERDICT_CANNOT_JUDGE);
    struct rh_gate gates[2] = {pass, pass};
    assert_int_equal(rh_verdict_make(gates, 2, &whole), RH_VERDICT_PASS);
    assert_int_equal(rh_verdict_make(gates, 2, &cut), RH_VERDICT_CANNOT_JUDGE);
    gates[1] = unknown;
    assert_int_equal(rh_verdict_make(gates, 2, &whole), RH_VERDICT_CANNOT_JUDGE);
    gates[0] = failed;
    assert_int_equal(rh_verdict_make(gates, 2, &whole), RH_VERDICT_FAIL);
    assert_int_equal(rh_verdict_make(gates, 2, &cut), RH_VERDICT_CANNOT_JUDGE);

    assert_null(rh_verdict_name(RH_VERDICT_NONE));
    assert_int_equal(rh_verdict_exit(RH_VERDICT_NONE), 0);
    assert_int_equal(rh_verdict_exit(RH_VERDICT_PASS), 0);
    assert_int_equal(rh_verdict_exit(RH_VERDICT_FAIL), 1);
    assert_int_equal(rh_verdict_exit(RH_VERDICT_CANNOT_JUDGE), 3);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_parse),
        cmocka_unit_test(test_runs),
        cmocka_unit_test(test_what_cannot_be_judged),
        cmocka_unit_test(test_lost_sessions_leave_nothing_to_judge),
        cmocka_unit_test(test_regressed),
        cmocka_unit_test(test_rounding),
        cmocka_unit_test(test_verdict),
    };
    return cmocka_run_group_tests(tests, fx_setup, fx_teardown);
}
