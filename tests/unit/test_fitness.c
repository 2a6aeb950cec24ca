/* diff/fitness, diff/arrivals: what makes a rehearsal unfit to judge queries. */
#include "rh_test.h"

#include <math.h>
#include <stdio.h>

#include "diff/gates.h"
#include "diff_fixture.h"

enum { COUNT = 400 };

static struct fx_statement sides[RH_SIDES][COUNT];

/* 40 s of statements, ten sessions, every other query twice as slow in the candidate; the first
 * seconds have more of them. */
static void make_sides(void)
{
    for (int i = 0; i < COUNT; i++) {
        for (int side = 0; side < RH_SIDES; side++) {
            sides[side][i] = (struct fx_statement){
                .session = (uint32_t) (i % 10) + 1,
                .ordinal = (uint64_t) (i / 10) + 1,
                .start_us = (int64_t) i * i * 250,
                .service_us = (1000 + i % 7 * 50) * (side == RH_CANDIDATE && i % 2 ? 2 : 1),
                .sql = i % 2 ? "select a" : "select b",
                .rows_plus_1 = 2,
                .lag_us = 100,
            };
        }
    }
}

static struct fx_file file_of(enum rh_side side)
{
    return fx_run(side == RH_BASE ? "base.run" : "candidate.run", side == RH_BASE ? 2 : 3,
                  sides[side], COUNT);
}

static void check_files(const struct fx_file *base, const struct fx_file *candidate,
                        enum rh_check check, enum rh_fit state, double actual)
{
    struct rh_comparison cmp;
    struct rh_result r;
    fx_compare(&cmp, base, candidate, 0, 0);
    rh_result_make(&r, &cmp, NULL);
    const struct rh_fitness_check *found = &r.fitness.checks[check];
    if (found->state != state || !(fabs(found->actual - actual) < 0.01)) {
        fail_msg("%s: %g, %s", rh_check_name(check), found->actual,
                 rh_check_state_name(found->state));
    }
    assert_int_equal(r.fitness.verdict, state);

    struct rh_gate gate;
    struct rh_error err;
    assert_int_equal(rh_gate_parse(&gate, "regressed=0", &err), 0);
    rh_gate_judge(&gate, &r);
    bool judged = cmp.paired && cmp.same_vantage && r.complete && state != RH_FIT_INVALID;
    assert_int_equal(r.verdicts[RH_QUERY_REGRESSED], judged);
    assert_int_equal(gate.state, judged ? RH_GATE_FAIL : RH_GATE_CANNOT_JUDGE);
    enum rh_verdict verdict = rh_verdict_make(NULL, 0, &r);
    assert_int_equal(rh_verdict_exit(verdict), state == RH_FIT_INVALID ? 3 : 0);
    if (state == RH_FIT_INVALID) {
        assert_string_equal(r.queries[0].why, "invalid");
    }
    rh_result_release(&r);
    if (state == RH_FIT_INVALID && r.complete) {
        struct rh_test_rule rule = rh_test_rule_default();
        rule.judge_anyway = true;
        rh_result_make(&r, &cmp, &rule);
        assert_int_equal(r.verdicts[RH_QUERY_REGRESSED], 1);
        assert_int_equal(rh_verdict_exit(rh_verdict_make(NULL, 0, &r)), 0);
        rh_result_release(&r);
    }
    fx_close(&cmp);
}

static void check_sides(enum rh_check check, enum rh_fit state, double actual)
{
    struct fx_file base = file_of(RH_BASE);
    struct fx_file candidate = file_of(RH_CANDIDATE);
    check_files(&base, &candidate, check, state, actual);
}

static void test_a_good_rehearsal(void **state)
{
    (void) state;
    static const double wanted[RH_CHECKS] = {1,   1, 1,   1, 100, 100, 100, 100,
                                             100, 1, 0.1, 0, 0,   NAN, NAN};
    make_sides();
    for (int i = 0; i < RH_CHECK_SHIFT; i++) {
        check_sides((enum rh_check) i, RH_FIT_VALID, wanted[i]);
    }
}

static void lack(int count, enum rh_fate fate, enum rh_reason reason)
{
    make_sides();
    for (int i = COUNT - count; i < COUNT; i++) {
        sides[RH_CANDIDATE][i].fate = fate;
        sides[RH_CANDIDATE][i].reason = reason;
    }
}

static void test_what_did_not_run(void **state)
{
    (void) state;
    lack(5, RH_FATE_SKIPPED, RH_REASON_NO_COPY_DATA);
    check_sides(RH_CHECK_SENT, RH_FIT_DEGRADED, 98.75);
    lack(100, RH_FATE_SKIPPED, RH_REASON_NO_COPY_DATA);
    check_sides(RH_CHECK_SENT, RH_FIT_INVALID, 75);
    lack(2, RH_FATE_NOT_SENT, RH_REASON_SESSION_LOST);
    check_sides(RH_CHECK_CONNECTED, RH_FIT_DEGRADED, 99.5);
    lack(5, RH_FATE_NOT_SENT, RH_REASON_SESSION_LOST);
    check_sides(RH_CHECK_CONNECTED, RH_FIT_INVALID, 98.75);
    make_sides();
    for (int i = 3; i < COUNT; i += 10) {
        sides[RH_CANDIDATE][i].fate = RH_FATE_NOT_SENT;
        sides[RH_CANDIDATE][i].reason = RH_REASON_CONNECT_FAILED;
    }
    check_sides(RH_CHECK_SESSIONS, RH_FIT_INVALID, 90);
}

static void test_other_outcomes(void **state)
{
    (void) state;
    make_sides();
    for (int i = 0; i < 8; i++) {
        sides[RH_CANDIDATE][i].sqlstate = "42703";
    }
    check_sides(RH_CHECK_ERROR_PARITY, RH_FIT_DEGRADED, 98);
    for (int i = 0; i < 210; i++) {
        sides[RH_CANDIDATE][i].sqlstate = "42703";
    }
    check_sides(RH_CHECK_ERROR_PARITY, RH_FIT_INVALID, 47.5);
    make_sides();
    for (int i = 0; i < 8; i++) {
        sides[RH_CANDIDATE][i].rows_plus_1 = 9;
    }
    check_sides(RH_CHECK_ROW_PARITY, RH_FIT_DEGRADED, 98);
}

static void test_lag(void **state)
{
    (void) state;
    make_sides();
    for (int i = 0; i < 10; i++) {
        sides[RH_BASE][i].lag_us = 20000;
    }
    check_sides(RH_CHECK_LAG_P99_MS, RH_FIT_DEGRADED, 20);
    for (int i = 0; i < 10; i++) {
        sides[RH_CANDIDATE][i].lag_us = 2000000;
    }
    check_sides(RH_CHECK_LAG_P99_MS, RH_FIT_INVALID, 2000);
}

/* The same statements, but the other way round in time: few first, then many. */
static void test_other_load(void **state)
{
    (void) state;
    make_sides();
    for (int i = 0; i < COUNT; i++) {
        int64_t left = COUNT - i;
        sides[RH_CANDIDATE][i].start_us = 40000000 - left * left * 250;
    }
    struct fx_file base = file_of(RH_BASE);
    struct fx_file candidate = file_of(RH_CANDIDATE);
    struct rh_comparison cmp;
    struct rh_fitness f;
    fx_compare(&cmp, &base, &candidate, 0, 0);
    rh_fitness_make(&f, &cmp, 0, 0, NULL);
    assert_true(f.checks[RH_CHECK_ARRIVAL_CORRELATION].actual < 0);
    assert_int_equal(f.checks[RH_CHECK_ARRIVAL_CORRELATION].state, RH_FIT_INVALID);
    assert_int_equal(f.verdict, RH_FIT_INVALID);
    fx_close(&cmp);
}

/* Twenty queries, of which most take 1.2 times as long: that is no matter of single queries. */
static void test_all_move_together(void **state)
{
    (void) state;
    static char sql[20][32];
    for (int slower = 0; slower <= 20; slower += 4) {
        make_sides();
        for (int i = 0; i < COUNT; i++) {
            int query = i % 20;
            snprintf(sql[query], sizeof sql[query], "select x%d", query);
            sides[RH_BASE][i].sql = sides[RH_CANDIDATE][i].sql = sql[query];
            sides[RH_BASE][i].service_us = 1000;
            sides[RH_CANDIDATE][i].service_us = query < slower ? 1200 : 1000;
        }
        struct fx_file base = file_of(RH_BASE);
        struct fx_file candidate = file_of(RH_CANDIDATE);
        struct rh_comparison cmp;
        struct rh_fitness f;
        fx_compare(&cmp, &base, &candidate, 0, 0);
        rh_fitness_make(&f, &cmp, 0, 0, NULL);
        const struct rh_fitness_check *shift = &f.checks[RH_CHECK_SHIFT];
        assert_true(fabs(shift->actual - (slower > 10 ? 20 : 0)) < 1e-9);
        assert_int_equal(shift->state, slower > 10 ? RH_FIT_DEGRADED : RH_FIT_VALID);
        assert_int_equal(f.verdict, shift->state);
        fx_close(&cmp);
        /* The other way round it is as far. */
        fx_compare(&cmp, &candidate, &base, 0, 0);
        rh_fitness_make(&f, &cmp, 0, 0, NULL);
        assert_true(fabs(f.checks[RH_CHECK_SHIFT].actual - (slower > 10 ? 20 : 0)) < 1e-9);
        fx_close(&cmp);
    }
}

static void test_speeds(void **state)
{
    (void) state;
    make_sides();
    struct fx_file base = file_of(RH_BASE);
    struct fx_file candidate = file_of(RH_CANDIDATE);
    base.speed = "1";
    candidate.speed = "4";
    check_files(&base, &candidate, RH_CHECK_SAME_SPEED, RH_FIT_INVALID, 0);
    candidate.speed = "1";
    check_files(&base, &candidate, RH_CHECK_SAME_SPEED, RH_FIT_VALID, 1);
    /* Of production the speed is 1. */
    struct fx_file log = fx_workload("base.trace", sides[RH_BASE], COUNT);
    check_files(&log, &candidate, RH_CHECK_SAME_VANTAGE, RH_FIT_DEGRADED, 0);
    candidate.speed = "max";
    check_files(&log, &candidate, RH_CHECK_SAME_SPEED, RH_FIT_DEGRADED, 0);
    candidate.speed = "1";
    candidate.trace = 9;
    check_files(&base, &candidate, RH_CHECK_SAME_TRACE, RH_FIT_DEGRADED, 0);
    candidate.trace = 1;
    candidate.stopped_early = true;
    check_files(&base, &candidate, RH_CHECK_COMPLETE, RH_FIT_INVALID, 0);
}

static void test_arrivals(void **state)
{
    (void) state;
    struct rh_arrivals a = {0}, b = {0};
    assert_true(isnan(rh_arrivals_correlation(&a, &b)));
    for (int64_t second = 0; second < 12; second++) {
        for (int64_t i = 0; i <= second; i++) {
            rh_arrivals_add(&a, FX_EPOCH_NS + second * 1000000000 + i);
            rh_arrivals_add(&b, (11 - second) * INT64_C(1000000000) + i);
        }
    }
    /* b was filled from its end: all before its first one counts into its first second. */
    assert_int_equal(b.seconds, 1);
    assert_int_equal(b.counts[0], 78);
    assert_int_equal(a.seconds, 12);
    assert_int_equal(a.counts[11], 12);
    assert_true(fabs(rh_arrivals_correlation(&a, &a) - 1) < 1e-12);
    /* One second of 78 against 1, 2 ... 12: -429 / sqrt(143 * 5577). */
    assert_true(fabs(rh_arrivals_correlation(&a, &b) + 0.48038446) < 1e-8);
    rh_arrivals_add(&a, INT64_MAX); /* too far off to be counted */
    assert_int_equal(a.seconds, 12);
    rh_arrivals_release(&a);
    rh_arrivals_release(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_good_rehearsal), cmocka_unit_test(test_what_did_not_run),
        cmocka_unit_test(test_other_outcomes),   cmocka_unit_test(test_lag),
        cmocka_unit_test(test_other_load),       cmocka_unit_test(test_all_move_together),
        cmocka_unit_test(test_speeds),           cmocka_unit_test(test_arrivals),
    };
    return cmocka_run_group_tests(tests, fx_setup, fx_teardown);
}
