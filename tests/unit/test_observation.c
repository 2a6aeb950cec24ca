#include "rh_test.h"

#include "diff/observation.h"

static struct rh_record record_of(uint32_t flags)
{
    struct rh_record r;
    rh_record_init(&r);
    r.session = 3;
    r.ordinal = 9;
    r.start_ns = 5000;
    r.flags = flags;
    return r;
}

static void test_workload_times(void **state)
{
    (void) state;
    struct rh_observation o;
    struct rh_record r = record_of(RH_FLAG_COMMIT_NOT_TIMED);

    assert_true(rh_observation_make(&o, &r, RH_FILE_WORKLOAD));
    assert_int_equal(o.service_ns, -1);
    assert_int_equal(o.lag_ns, -1);
    assert_int_equal(o.status, RH_OBSERVED_UNKNOWN);
    assert_true(o.commit_not_timed);

    r.outcome.done_ns = 12000;
    r.outcome.sqlstate = 0;
    assert_true(rh_observation_make(&o, &r, RH_FILE_WORKLOAD));
    assert_int_equal(o.service_ns, 7000);
    assert_int_equal(o.status, RH_OBSERVED_OK);

    /* The parts of an extended statement, where known, leave out what the client did in between. */
    r.outcome.parse_ns = 1000;
    r.outcome.execute_ns = 2500;
    assert_true(rh_observation_make(&o, &r, RH_FILE_WORKLOAD));
    assert_int_equal(o.service_ns, 3500);

    r = record_of(RH_FLAG_START_ESTIMATED);
    r.outcome.done_ns = 12000;
    assert_true(rh_observation_make(&o, &r, RH_FILE_WORKLOAD));
    assert_int_equal(o.service_ns, -1);

    r = record_of(0);
    r.outcome.done_ns = 4000; /* a clock that stepped back */
    assert_true(rh_observation_make(&o, &r, RH_FILE_WORKLOAD));
    assert_int_equal(o.service_ns, 0);

    r.start_ns = INT64_MIN + 1;
    r.outcome.done_ns = INT64_MAX;
    assert_true(rh_observation_make(&o, &r, RH_FILE_WORKLOAD));
    assert_int_equal(o.service_ns, (INT64_C(1) << 53) - 1);
    r.outcome.parse_ns = r.outcome.bind_ns = r.outcome.execute_ns = INT64_MAX;
    assert_true(rh_observation_make(&o, &r, RH_FILE_WORKLOAD));
    assert_int_equal(o.service_ns, (INT64_C(1) << 53) - 1);
}

static void test_run_times(void **state)
{
    (void) state;
    struct rh_observation o;
    struct rh_record r = record_of(RH_FLAG_COMMIT_NOT_TIMED);
    r.outcome.sqlstate = 0;
    r.outcome.done_ns = 9000;
    r.run.fate = RH_FATE_DONE;
    r.run.planned_ns = 5000;
    r.run.sent_ns = 6000;
    r.run.ready_ns = RH_TIME_UNKNOWN;
    assert_true(rh_observation_make(&o, &r, RH_FILE_RUN));
    assert_int_equal(o.service_ns, 3000);
    assert_int_equal(o.lag_ns, 1000);
    assert_false(o.commit_not_timed); /* the client waited for it */

    r.run.ready_ns = 5700; /* it had to wait for an answer: that is the server's time, not lag */
    assert_true(rh_observation_make(&o, &r, RH_FILE_RUN));
    assert_int_equal(o.lag_ns, 300);
    assert_int_equal(o.behind_ns, 700);
    r.run.ready_ns = 4000;
    r.run.wait_ns = 600; /* nor is its turn by order */
    assert_true(rh_observation_make(&o, &r, RH_FILE_RUN));
    assert_int_equal(o.lag_ns, 400);
    assert_int_equal(o.behind_ns, 0);
    r.run.wait_ns = 60000;
    assert_true(rh_observation_make(&o, &r, RH_FILE_RUN));
    assert_int_equal(o.lag_ns, 0);
    r.run.sent_ns = RH_TIME_UNKNOWN;
    assert_true(rh_observation_make(&o, &r, RH_FILE_RUN));
    assert_int_equal(o.lag_ns, -1);
    assert_int_equal(o.service_ns, -1);
}

static void test_fates(void **state)
{
    (void) state;
    struct rh_observation o;
    uint32_t gone = rh_sqlstate_pack(RH_SPAN_LITERAL("57P01"));
    const struct {
        enum rh_fate fate;
        uint32_t sqlstate;
        enum rh_observed status;
    } cases[] = {
        {RH_FATE_DONE, 0, RH_OBSERVED_OK},
        {RH_FATE_DONE, gone, RH_OBSERVED_ERROR},
        {RH_FATE_DONE, RH_SQLSTATE_UNKNOWN, RH_OBSERVED_UNKNOWN},
        {RH_FATE_LOST, RH_SQLSTATE_UNKNOWN, RH_OBSERVED_MISSING},
        {RH_FATE_LOST, 0, RH_OBSERVED_MISSING},
        {RH_FATE_LOST, gone, RH_OBSERVED_ERROR}, /* a FATAL error is an answer */
        {RH_FATE_SKIPPED, gone, RH_OBSERVED_MISSING},
        {RH_FATE_NOT_SENT, 0, RH_OBSERVED_MISSING},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct rh_record r = record_of(0);
        r.run.fate = cases[i].fate;
        r.run.reason = RH_REASON_STOPPED;
        r.outcome.sqlstate = cases[i].sqlstate;
        assert_true(rh_observation_make(&o, &r, RH_FILE_RUN));
        assert_int_equal(o.status, cases[i].status);
        assert_int_equal(o.fate, cases[i].fate);
        assert_int_equal(o.reason, RH_REASON_STOPPED);
        assert_int_equal(o.sqlstate, cases[i].status == RH_OBSERVED_ERROR ? gone : 0);
    }
}

static void test_kinds(void **state)
{
    (void) state;
    struct rh_observation o;
    const struct {
        enum rh_kind kind;
        bool seen;
        bool statement;
    } cases[] = {
        {RH_KIND_QUERY, true, true},     {RH_KIND_EXECUTE, true, true},
        {RH_KIND_FUNCTION, true, true},  {RH_KIND_FETCH, true, false},
        {RH_KIND_PROTOCOL, true, false}, {RH_KIND_CANCEL, false, false},
        {RH_KIND_OPEN, false, false},    {RH_KIND_CLOSE, false, false},
        {RH_KIND_GAP, false, false},     {RH_KIND_COPY_DATA, false, false},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct rh_record r = record_of(RH_FLAG_NO_TYPES);
        r.kind = cases[i].kind;
        assert_int_equal(rh_observation_make(&o, &r, RH_FILE_WORKLOAD), cases[i].seen);
        if (cases[i].seen) {
            assert_int_equal(o.is_statement, cases[i].statement);
            assert_false(o.untyped); /* no parameters: nothing is untyped */
            r.param_count = 1;
            assert_true(rh_observation_make(&o, &r, RH_FILE_WORKLOAD));
            assert_true(o.untyped);
        }
    }
}

static void test_reference_order(void **state)
{
    (void) state;
    /* Each is before the next. */
    const struct rh_statement_ref refs[] = {
        {0, 9, 9, 9, 1}, {0, 1, 0, 8, 2}, {0, 1, 1, 7, 2},
        {0, 1, 1, 8, 2}, {0, 2, 0, 1, 2}, {1, 1, 0, 1, 0},
    };
    for (size_t a = 0; a < sizeof refs / sizeof refs[0]; a++) {
        for (size_t b = 0; b < sizeof refs / sizeof refs[0]; b++) {
            assert_int_equal(rh_statement_ref_before(&refs[a], &refs[b]), a < b);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_workload_times),  cmocka_unit_test(test_run_times),
        cmocka_unit_test(test_fates),           cmocka_unit_test(test_kinds),
        cmocka_unit_test(test_reference_order),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
