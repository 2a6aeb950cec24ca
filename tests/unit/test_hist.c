/* common/hist */
#include "rh_test.h"

#include <math.h>
#include <stdlib.h>

#include "common/hist.h"

enum { VALUES = 5000 };

static int compare_values(const void *a, const void *b)
{
    int64_t x = *(const int64_t *) a;
    int64_t y = *(const int64_t *) b;
    return (x > y) - (x < y);
}

static uint64_t next_random(uint64_t *seed)
{
    *seed ^= *seed << 13;
    *seed ^= *seed >> 7;
    *seed ^= *seed << 17;
    return *seed;
}

/* Every quantile against the sorted values: exact below 128, within 1/128 above. */
static void check_against_sorted(int64_t *values, size_t n)
{
    struct rh_hist h;
    rh_hist_init(&h);
    for (size_t i = 0; i < n; i++) {
        rh_hist_add(&h, values[i]);
    }
    qsort(values, n, sizeof *values, compare_values);
    assert_int_equal(h.count, n);
    assert_int_equal(h.min, values[0]);
    assert_int_equal(h.max, values[n - 1]);
    assert_int_equal(rh_hist_quantile(&h, 0), values[0]);
    assert_int_equal(rh_hist_quantile(&h, 1), values[n - 1]);
    for (size_t rank = 1; rank <= n; rank++) {
        int64_t want = values[rank - 1];
        int64_t got = rh_hist_quantile(&h, (double) rank / (double) n);
        int64_t slack = want < 128 ? 0 : want / 128;
        if (llabs(got - want) > slack) {
            fail_msg("rank %zu of %zu: %lld instead of %lld", rank, n, (long long) got,
                     (long long) want);
        }
    }
    rh_hist_release(&h);
}

static void test_quantiles_of_many_ranges(void **state)
{
    (void) state;
    static int64_t values[VALUES];
    uint64_t seed = 99;
    for (int bits = 1; bits <= 63; bits += 4) {
        for (size_t i = 0; i < VALUES; i++) {
            values[i] = (int64_t) (next_random(&seed) >> (64 - bits));
        }
        check_against_sorted(values, bits % 8 == 1 ? VALUES : 1 + (size_t) bits);
    }
    for (size_t i = 0; i < VALUES; i++) {
        values[i] = (int64_t) (next_random(&seed) >> (1 + next_random(&seed) % 63));
    }
    check_against_sorted(values, VALUES);
}

static void test_edges_of_cells(void **state)
{
    (void) state;
    static int64_t values[600];
    size_t n = 0;
    for (int bit = 0; bit < 63; bit++) {
        int64_t power = INT64_C(1) << bit;
        values[n++] = power - 1;
        values[n++] = power;
        values[n++] = power < INT64_MAX - 1 ? power + 1 : power;
    }
    values[n++] = INT64_MAX;
    check_against_sorted(values, n);
    /* One value in the widest cell's lowest corner. */
    int64_t alone = INT64_C(1) << 62;
    check_against_sorted(&alone, 1);
}

static void test_rank_is_the_nearest_one(void **state)
{
    (void) state;
    struct rh_hist h;
    rh_hist_init(&h);
    for (int i = 1; i <= 20; i++) {
        rh_hist_add(&h, i);
    }
    /* 0.95 * 20 is a little more than 19 in floating point. */
    assert_int_equal(rh_hist_quantile(&h, 0.95), 19);
    assert_int_equal(rh_hist_quantile(&h, 0.951), 20);
    assert_int_equal(rh_hist_quantile(&h, 0.5), 10);
    assert_int_equal(rh_hist_quantile(&h, 0.01), 1);
    rh_hist_release(&h);
}

static void test_merge_is_adding_all(void **state)
{
    (void) state;
    struct rh_hist parts[3];
    struct rh_hist merged;
    struct rh_hist all;
    uint64_t seed = 5;
    rh_hist_init(&merged);
    rh_hist_init(&all);
    for (int p = 0; p < 3; p++) {
        rh_hist_init(&parts[p]);
        for (int i = 0; i < 1000; i++) {
            /* The parts lie in different ranges, the last one spans both. */
            int64_t value = (int64_t) (next_random(&seed) >> (p == 2 ? 24 + i % 32 : 60 - 25 * p));
            rh_hist_add(&parts[p], value);
            rh_hist_add(&all, value);
        }
    }
    struct rh_hist empty;
    rh_hist_init(&empty);
    for (int p = 2; p >= 0; p--) {
        rh_hist_merge(&merged, &parts[p]);
        rh_hist_merge(&merged, &empty);
        rh_hist_release(&parts[p]);
    }
    assert_int_equal(merged.count, all.count);
    assert_int_equal(merged.min, all.min);
    assert_int_equal(merged.max, all.max);
    assert_true(fabs(merged.sum - all.sum) <= all.sum * 1e-12);
    assert_true(fabs(merged.sum_of_squares - all.sum_of_squares) <= all.sum_of_squares * 1e-12);
    for (int i = 0; i <= 3000; i++) {
        assert_int_equal(rh_hist_quantile(&merged, i / 3000.0), rh_hist_quantile(&all, i / 3000.0));
    }
    rh_hist_release(&merged);
    rh_hist_release(&all);
}

static void test_empty_and_negative(void **state)
{
    (void) state;
    struct rh_hist h;
    rh_hist_init(&h);
    assert_int_equal(rh_hist_quantile(&h, 0.5), 0);
    assert_true(rh_hist_mean(&h) == 0);
    rh_hist_add(&h, -5);
    rh_hist_add(&h, 4);
    assert_int_equal(h.min, 0);
    assert_true(rh_hist_mean(&h) == 2);
    assert_int_equal(rh_hist_quantile(&h, NAN), 0);
    rh_hist_release(&h);
}

static void test_memory_has_a_bound(void **state)
{
    (void) state;
    struct rh_hist h;
    rh_hist_init(&h);
    rh_hist_add(&h, 1000);
    assert_true(h.cell_count <= 64);
    rh_hist_add(&h, 0);
    rh_hist_add(&h, INT64_MAX);
    assert_true(h.cell_count <= RH_HIST_MAX_CELLS);
    rh_hist_release(&h);
}

static void test_count_above(void **state)
{
    (void) state;
    struct rh_hist h;
    rh_hist_init(&h);
    assert_int_equal(rh_hist_count_above(&h, 5), 0);
    for (int64_t v = 100; v > 0; v--) { /* each has a cell of its own; the first one is the last */
        rh_hist_add(&h, v);
    }
    rh_hist_add(&h, 1000000);
    assert_int_equal(rh_hist_count_above(&h, 40), 61);
    assert_int_equal(rh_hist_count_above(&h, 0), 101);
    assert_int_equal(rh_hist_count_above(&h, -7), 101);
    assert_int_equal(rh_hist_count_above(&h, 999999), 0); /* in one cell with the largest */
    assert_int_equal(rh_hist_count_above(&h, 900000), 1);
    assert_int_equal(rh_hist_count_above(&h, INT64_MAX), 0);
    rh_hist_release(&h);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_quantiles_of_many_ranges),
        cmocka_unit_test(test_edges_of_cells),
        cmocka_unit_test(test_rank_is_the_nearest_one),
        cmocka_unit_test(test_merge_is_adding_all),
        cmocka_unit_test(test_empty_and_negative),
        cmocka_unit_test(test_memory_has_a_bound),
        cmocka_unit_test(test_count_above),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
