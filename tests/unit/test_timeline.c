#include "rh_test.h"

#include <string.h>

#include "diff/timeline.h"

static void add(struct rh_timeline *t, int64_t start_ms, int64_t service_us,
                enum rh_observed status)
{
    struct rh_observation o = {
        .ref = {.start_ns = INT64_C(1700000000000000000) + start_ms * 1000000},
        .status = status,
        .service_ns = service_us * 1000,
        .lag_ns = 5000,
    };
    rh_timeline_add(t, &o, o.ref.start_ns);
}

static uint64_t calls_of(const struct rh_timeline *t)
{
    uint64_t n = 0;
    for (uint32_t i = 0; i < t->count; i++) {
        n += t->points[i].calls;
    }
    return n;
}

static void test_spans(void **state)
{
    (void) state;
    struct rh_timeline t = {0};
    add(&t, 0, 100, RH_OBSERVED_OK);
    add(&t, 99, 300, RH_OBSERVED_OK);
    add(&t, 100, 500, RH_OBSERVED_ERROR);
    add(&t, -50, 100, RH_OBSERVED_OK);
    assert_int_equal(t.count, 2);
    assert_int_equal(t.points[0].calls, 3);
    assert_int_equal(t.points[0].errors, 0);
    assert_int_equal(t.points[0].service.count, 3);
    assert_int_equal(t.points[1].calls, 1);
    assert_int_equal(t.points[1].errors, 1);
    /* What failed has no place among the times. */
    assert_int_equal(t.points[1].service.count, 0);
    assert_int_equal(t.points[1].lag.count, 1);
    /* 256 spans of 100 ms are full at 25.6 s. */
    add(&t, 25599, 100, RH_OBSERVED_OK);
    assert_int_equal(t.count, 256);
    add(&t, 25600, 100, RH_OBSERVED_OK);
    assert_int_equal(t.span_ns, 2 * RH_TIMELINE_SPAN_NS);
    assert_int_equal(t.count, 129);
    assert_int_equal(t.points[0].calls, 4);
    assert_int_equal(t.points[0].errors, 1);
    assert_int_equal(calls_of(&t), 6);
    rh_timeline_release(&t);
}

/* Thirteen days later is no part of it, and a day later does not grow it. */
static void test_bounds(void **state)
{
    (void) state;
    struct rh_timeline t = {0};
    add(&t, 0, 1, RH_OBSERVED_OK);
    add(&t, INT64_C(13) * 86400 * 1000, 1, RH_OBSERVED_OK);
    assert_int_equal(t.count, 1);
    struct rh_observation never = {.ref = {.start_ns = INT64_MAX}, .lag_ns = -1, .service_ns = -1};
    rh_timeline_add(&t, &never, never.ref.start_ns);
    assert_int_equal(calls_of(&t), 1);
    add(&t, INT64_C(86400) * 1000, 1, RH_OBSERVED_OK);
    assert_true(t.count <= RH_TIMELINE_POINTS);
    assert_int_equal(calls_of(&t), 2);
    rh_timeline_release(&t);
}

/* Coarser from the start or later: the same points. */
static void test_align(void **state)
{
    (void) state;
    struct rh_timeline a = {0};
    struct rh_timeline b = {0};
    for (int i = 0; i < 2000; i++) {
        int64_t at = i * 12 + i * 7919 % 10;
        int64_t us = 100 + i * 104729 % 10000;
        add(&a, at, us, i % 7 ? RH_OBSERVED_OK : RH_OBSERVED_ERROR);
        add(&b, at, us, i % 7 ? RH_OBSERVED_OK : RH_OBSERVED_ERROR);
    }
    add(&b, 100000, 1, RH_OBSERVED_OK);
    assert_true(a.span_ns < b.span_ns);
    rh_timeline_align(&a, &b);
    assert_int_equal(a.span_ns, b.span_ns);
    for (uint32_t i = 0; i < a.count; i++) {
        assert_int_equal(a.points[i].calls, b.points[i].calls);
        assert_int_equal(a.points[i].errors, b.points[i].errors);
        assert_int_equal(rh_hist_quantile(&a.points[i].service, 0.99),
                         rh_hist_quantile(&b.points[i].service, 0.99));
    }
    struct rh_timeline empty = {0};
    rh_timeline_align(&a, &empty);
    rh_timeline_release(&a);
    rh_timeline_release(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_spans),
        cmocka_unit_test(test_bounds),
        cmocka_unit_test(test_align),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
