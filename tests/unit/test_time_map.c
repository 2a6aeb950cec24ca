#include "rh_test.h"

#include "common/clock.h"
#include "replay/time_map.h"

#define S RH_NS_PER_SEC

static void test_speed(void **state)
{
    (void) state;
    struct rh_time_map m;
    rh_time_map_init(&m, 100 * S, 4.0);
    assert_int_equal(rh_time_map_offset_ns(&m, 100 * S), 0);
    assert_int_equal(rh_time_map_offset_ns(&m, 108 * S), 2 * S);
    assert_int_equal(rh_time_map_offset_ns(&m, 99 * S), 0);
    assert_int_equal(rh_time_map_offset_ns(&m, INT64_MIN), 0);
    assert_int_equal(rh_time_map_scale_ns(&m, S), S / 4);
    rh_time_map_release(&m);
}

static void test_original_speed_is_exact(void **state)
{
    (void) state;
    struct rh_time_map m;
    int64_t origin = INT64_C(1790000000123456789);
    rh_time_map_init(&m, origin, 1.0);
    assert_int_equal(rh_time_map_offset_ns(&m, origin + 1), 1);
    assert_int_equal(rh_time_map_offset_ns(&m, origin + INT64_C(86400123456789)),
                     INT64_C(86400123456789));
    rh_time_map_release(&m);
}

static void test_cuts(void **state)
{
    (void) state;
    struct rh_time_map m;
    rh_time_map_init(&m, 0, 2.0);
    assert_int_equal(rh_time_map_cut(&m, 10 * S, 20 * S), 0);
    assert_int_equal(rh_time_map_cut(&m, 30 * S, 90 * S), 0);
    assert_int_equal(rh_time_map_removed_ns(&m), 70 * S);
    assert_int_equal(rh_time_map_offset_ns(&m, 10 * S), 5 * S);
    assert_int_equal(rh_time_map_offset_ns(&m, 15 * S), 5 * S); /* within a cut: its begin */
    assert_int_equal(rh_time_map_offset_ns(&m, 20 * S), 5 * S);
    assert_int_equal(rh_time_map_offset_ns(&m, 22 * S), 6 * S);
    assert_int_equal(rh_time_map_offset_ns(&m, 30 * S), 10 * S);
    assert_int_equal(rh_time_map_offset_ns(&m, 90 * S), 10 * S);
    assert_int_equal(rh_time_map_offset_ns(&m, 100 * S), 15 * S);
    rh_time_map_release(&m);
}

/* The map never goes backwards and never runs faster than the trace. */
static void test_is_monotonic(void **state)
{
    (void) state;
    struct rh_time_map m;
    rh_time_map_init(&m, 0, 1.0);
    for (int64_t i = 0; i < 500; i++) {
        assert_int_equal(rh_time_map_cut(&m, i * 100 + 10, i * 100 + 10 + i % 90 + 1), 0);
    }
    int64_t last = 0;
    for (int64_t t = 0; t < 51000; t += 7) {
        int64_t now = rh_time_map_offset_ns(&m, t);
        assert_true(now >= last && now - last <= 7);
        last = now;
    }
    rh_time_map_release(&m);
}

/* Stamps of a trace may be anything that 64 bits hold. */
static void test_far_times(void **state)
{
    (void) state;
    struct rh_time_map m;
    rh_time_map_init(&m, INT64_MIN + 1, 1.0);
    assert_int_equal(rh_time_map_offset_ns(&m, INT64_MAX), INT64_MAX);
    assert_int_equal(rh_time_map_cut(&m, INT64_MIN + 2, INT64_MAX), 0);
    assert_true(rh_time_map_offset_ns(&m, INT64_MAX) >= 0);
    rh_time_map_release(&m);
    rh_time_map_init(&m, 0, 1e-6);
    assert_true(rh_time_map_scale_ns(&m, INT64_MAX) > 0);
    assert_true(rh_time_map_scale_ns(&m, -INT64_MAX) < 0);
    rh_time_map_release(&m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_speed),     cmocka_unit_test(test_original_speed_is_exact),
        cmocka_unit_test(test_cuts),      cmocka_unit_test(test_is_monotonic),
        cmocka_unit_test(test_far_times),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
