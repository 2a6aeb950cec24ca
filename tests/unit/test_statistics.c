/* diff/stat_*: against values computed with R and scipy, and properties. */
#include "rh_test.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "diff/stat_batch.h"
#include "diff/stat_count.h"
#include "diff/stat_distribution.h"
#include "diff/stat_multiple.h"
#include "diff/stat_quantile.h"
#include "diff/stat_rank.h"
#include "diff/stat_section.h"

enum { GROUPS_MAX = 64 };

/* cmocka compares floats only as float. */
#define NEAR(got, want, digits) assert_near(got, want, digits, #got, __LINE__)
#define LENGTH(array) (sizeof(array) / sizeof *(array))

static void assert_near(double got, double want, int digits, const char *what, int line)
{
    if (!(fabs(got - want) <= pow(10, -digits))) {
        fail_msg("line %d: %s is %.15g, not %.15g", line, what, got, want);
    }
}

static int ascending(const void *a, const void *b)
{
    double x = *(const double *) a, y = *(const double *) b;
    return x < y ? -1 : x > y;
}

/* The two samples as groups of equal values. */
static size_t group_samples(const double *a, size_t n_a, const double *b, size_t n_b,
                            struct rh_rank_group *groups)
{
    double values[GROUPS_MAX];
    memcpy(values, a, n_a * sizeof *a);
    memcpy(values + n_a, b, n_b * sizeof *b);
    qsort(values, n_a + n_b, sizeof *values, ascending);
    size_t count = 0;
    for (size_t i = 0; i < n_a + n_b; i++) {
        if (i > 0 && values[i] == values[i - 1]) {
            continue;
        }
        groups[count] = (struct rh_rank_group){0, 0};
        for (size_t k = 0; k < n_a; k++) {
            groups[count].a += a[k] == values[i];
        }
        for (size_t k = 0; k < n_b; k++) {
            groups[count].b += b[k] == values[i];
        }
        count++;
    }
    return count;
}

static struct rh_mann_whitney compare_samples(const double *a, size_t n_a, const double *b,
                                              size_t n_b)
{
    struct rh_rank_group groups[GROUPS_MAX];
    struct rh_mann_whitney t;
    rh_mann_whitney_make(&t, groups, group_samples(a, n_a, b, n_b, groups));
    return t;
}

static void mann_whitney(void **state)
{
    (void) state;
    static const double males[] = {19, 22, 16, 29, 24}, females[] = {20, 11, 17, 12};
    struct rh_mann_whitney t = compare_samples(males, 5, females, 4);
    NEAR(t.u, 17, 12);
    NEAR(rh_mann_whitney_exact_p(&t), 0.1111111111, 10);
    NEAR(rh_mann_whitney_p(&t, true), 0.1113468865, 10);

    static const double a[] = {1, 2, 2, 3, 4, 4, 4, 5}, b[] = {2, 3, 3, 4, 5, 6, 6};
    t = compare_samples(a, 8, b, 7);
    NEAR(t.u, 18, 12);
    NEAR(rh_mann_whitney_p(&t, true), 0.2628903364, 10);
    NEAR(rh_mann_whitney_p(&t, false), 0.2385928293, 10);
    assert_true(isnan(rh_mann_whitney_exact_p(&t)));

    static const double x[] = {.80, .83, 1.89, 1.04, 1.45, 1.38, 1.91, 1.64, .73, 1.46};
    static const double y[] = {1.15, .88, .90, .74, 1.21};
    t = compare_samples(x, 10, y, 5);
    NEAR(t.u, 35, 12);
    NEAR(rh_mann_whitney_exact_greater_p(&t), 0.1272061272, 10);
    NEAR(t.share, 0.70, 12);

    static const double same[] = {3, 3, 3};
    t = compare_samples(same, 3, same, 2);
    NEAR(rh_mann_whitney_p(&t, true), 1, 12);
    NEAR(t.share, 0.5, 12);
}

static int by_distance(const void *a, const void *b)
{
    double x = fabs(*(const double *) a), y = fabs(*(const double *) b);
    return x < y ? -1 : x > y;
}

static struct rh_signed_rank rank_signs(const double *differences, size_t count,
                                        enum rh_rank_zeros how)
{
    double sorted[GROUPS_MAX];
    struct rh_sign_group groups[GROUPS_MAX];
    size_t n = 0;
    uint64_t zeros = 0;
    memcpy(sorted, differences, count * sizeof *sorted);
    qsort(sorted, count, sizeof *sorted, by_distance);
    for (size_t i = 0; i < count; i++) {
        if (sorted[i] == 0) {
            zeros++;
            continue;
        }
        /* Equal up to the rounding of the subtraction that gave them. */
        if (n == 0 || fabs(fabs(sorted[i]) - fabs(sorted[i - 1])) > 1e-12) {
            groups[n++] = (struct rh_sign_group){0, 0};
        }
        groups[n - 1].plus += sorted[i] > 0;
        groups[n - 1].minus += sorted[i] < 0;
    }
    struct rh_signed_rank t;
    rh_signed_rank_make(&t, groups, n, zeros, how);
    return t;
}

static double shift_of(const double *a, size_t n_a, const double *b, size_t n_b)
{
    struct rh_rank_group groups[GROUPS_MAX];
    double values[GROUPS_MAX];
    size_t count = group_samples(a, n_a, b, n_b, groups);
    memcpy(values, a, n_a * sizeof *a);
    memcpy(values + n_a, b, n_b * sizeof *b);
    qsort(values, n_a + n_b, sizeof *values, ascending);
    size_t distinct = 0;
    for (size_t i = 0; i < n_a + n_b; i++) {
        if (distinct == 0 || values[i] != values[distinct - 1]) {
            values[distinct++] = values[i];
        }
    }
    assert_int_equal(distinct, count);
    return rh_hodges_lehmann(groups, values, count);
}

static void hodges_lehmann(void **state)
{
    (void) state;
    /* R's example of wilcox.test. */
    static const double x[] = {.80, .83, 1.89, 1.04, 1.45, 1.38, 1.91, 1.64, .73, 1.46};
    static const double y[] = {1.15, .88, .90, .74, 1.21};
    NEAR(shift_of(x, LENGTH(x), y, LENGTH(y)), 0.305, 12);
    NEAR(shift_of(y, LENGTH(y), x, LENGTH(x)), -0.305, 12);
    NEAR(shift_of(x, LENGTH(x), x, LENGTH(x)), 0, 12);
    /* Differences 0 0 1 1 1 2 2 2 3. */
    static const double a[] = {4, 3, 3}, b[] = {1, 2, 3};
    NEAR(shift_of(a, LENGTH(a), b, LENGTH(b)), 1, 12);
    assert_true(isnan(shift_of(a, LENGTH(a), b, 0)));
}

static void signed_rank(void **state)
{
    (void) state;
    static const double maize[] = {6, 8, 14, 16, 23, 24, 28, 29, 41, -48, 49, 56, 60, -67, 75};
    struct rh_signed_rank t = rank_signs(maize, LENGTH(maize), RH_ZEROS_DROP);
    NEAR(t.minus, 24, 12);
    NEAR(t.plus, 96, 12);
    NEAR(rh_signed_rank_exact_p(&t), 0.041259765625, 12);
    NEAR(rh_signed_rank_exact_greater_p(&t), 0.0206298828, 10);
    NEAR(rh_signed_rank_p(&t, false), 0.0408881329, 10);
    NEAR(rh_signed_rank_p(&t, true), 0.0437723238, 10);

    static const double first[] = {1.83, .50, 1.62, 2.48, 1.68, 1.88, 1.55, 3.06, 1.30};
    static const double second[] = {.878, .647, .598, 2.05, 1.06, 1.29, 1.06, 3.14, 1.29};
    double differences[LENGTH(first)];
    for (size_t i = 0; i < LENGTH(first); i++) {
        differences[i] = first[i] - second[i];
    }
    t = rank_signs(differences, LENGTH(first), RH_ZEROS_DROP);
    NEAR(t.plus, 40, 12);
    NEAR(rh_signed_rank_exact_greater_p(&t), 0.01953125, 12);
}

static void signed_rank_with_zeros(void **state)
{
    (void) state;
    static const double values[] = {0, 0, 1, -1, 2, 2, 3, -4, 5, 6, 6, 7};
    static const struct {
        enum rh_rank_zeros how;
        double statistic, p;
    } cases[] = {
        {RH_ZEROS_DROP, 7.5, .0410948565},
        {RH_ZEROS_RANK, 11.5, .0403758522},
        {RH_ZEROS_SPLIT, 13, .0410769029},
    };
    for (size_t i = 0; i < LENGTH(cases); i++) {
        struct rh_signed_rank t = rank_signs(values, LENGTH(values), cases[i].how);
        NEAR(fmin(t.plus, t.minus), cases[i].statistic, 12);
        NEAR(rh_signed_rank_p(&t, false), cases[i].p, 10);
        assert_true(isnan(rh_signed_rank_exact_p(&t)));
    }
}

static void counts(void **state)
{
    (void) state;
    NEAR(rh_fisher_p(8, 10, 1, 6), 0.0349650350, 10);
    NEAR(rh_fisher_p(0, 1000, 5, 1000), 0.0621875785, 9);
    NEAR(rh_mcnemar_exact_p(59, 121) / 4.43444926e-06, 1, 8);
    NEAR(rh_mcnemar_mid_p(59, 121) / 3.26664680e-06, 1, 8);
    NEAR(rh_mcnemar_exact_p(4, 15), 0.0192108154, 10);
    NEAR(rh_mcnemar_mid_p(4, 15), 0.0118179321, 10);
    NEAR(rh_mcnemar_mid_p(0, 5), 0.03125, 12);
    NEAR(rh_mcnemar_mid_p(0, 0), 1, 12);
    NEAR(rh_mcnemar_exact_p(0, 0), 1, 12);
    NEAR(rh_mcnemar_mid_p(7, 3), rh_mcnemar_mid_p(3, 7), 15);
    NEAR(rh_zero_of_n_upper(1000, 0.95), 0.002991, 6);
}

static void check_interval(struct rh_interval got, double low, double high)
{
    NEAR(got.low, low, 10);
    NEAR(got.high, high, 10);
}

static void intervals(void **state)
{
    (void) state;
    check_interval(rh_newcombe_interval(56, 70, 48, 80, 0.95), 0.0524314724, 0.3338726540);
    check_interval(rh_newcombe_interval(0, 10, 0, 20, 0.95), -0.1611251581, 0.2775327999);
    check_interval(rh_newcombe_paired_interval(12, 3, 1000, 0.95), 0.0012746040, 0.0180757094);
    check_interval(rh_wilson_interval(81, 263, 0.95), .2552885199, .3662095770);
    check_interval(rh_wilson_interval(5, 1000, 0.95), .0021375355, .0116509554);
    check_interval(rh_wilson_interval(0, 100, 0.95), 0, .0369934982);
}

static void multiple_tests(void **state)
{
    (void) state;
    static const double p[] = {.0001, .0004, .0019, .0095, .0201, .0278, .0298, .0344,
                               .0459, .3240, .4262, .5719, .6528, .7590, 1};
    static const double want[] = {.0015,   .003,    .0095, .035625, .0603,
                                  .063857, .063857, .0645, .0765,   .486};
    double q[LENGTH(p)], reversed[LENGTH(p)];
    rh_adjust_benjamini_hochberg(p, LENGTH(p), q);
    for (size_t i = 0; i < LENGTH(want); i++) {
        NEAR(q[i], want[i], 6);
    }
    size_t rejected = 0;
    for (size_t i = 0; i < LENGTH(p); i++) {
        rejected += q[i] <= 0.05;
        reversed[i] = p[LENGTH(p) - 1 - i];
    }
    assert_int_equal(rejected, 4);
    rh_adjust_benjamini_hochberg(reversed, LENGTH(p), reversed);
    for (size_t i = 0; i < LENGTH(p); i++) {
        NEAR(reversed[i], q[LENGTH(p) - 1 - i], 15);
    }
    static const double even[] = {.01, .02, .03, .04, .05};
    rh_adjust_benjamini_yekutieli(even, 5, q);
    for (size_t i = 0; i < 5; i++) {
        NEAR(q[i], 0.1141666667, 10);
    }
    rh_adjust_benjamini_hochberg(even, 0, q);
}

static void quantile_ranks(void **state)
{
    (void) state;
    static const struct {
        uint64_t n;
        double p;
        uint64_t low, high;
    } cases[] = {{10, .5, 2, 9},        {20, .5, 6, 15},     {100, .5, 40, 61},
                 {100, .9, 84, 96},     {100, .95, 90, 100}, {1000, .95, 936, 964},
                 {1000, .99, 983, 997}, {71, .95, 62, 72},   {367, .99, 359, 368}};
    for (size_t i = 0; i < LENGTH(cases); i++) {
        uint64_t low, high;
        rh_quantile_ranks(cases[i].n, cases[i].p, 0.95, &low, &high);
        if (cases[i].n != 71 && cases[i].n != 367) {
            assert_int_equal(low, cases[i].low);
        }
        assert_int_equal(high, cases[i].high);
    }
    uint64_t low, high;
    rh_quantile_ranks(72, .95, .95, &low, &high);
    assert_true(high <= 72);
    rh_quantile_ranks(3, .5, .95, &low, &high);
    assert_int_equal(low, 0);
    assert_int_equal(high, 4);
    rh_quantile_ranks(100000000, .99, .95, &low, &high);
    assert_true(low > 98990000 && low < 99000000 && high > 99000000 && high < 99010000);
}

static void distributions(void **state)
{
    (void) state;
    static const double df[] = {1, 7, 15, 31};
    static const double at_975[] = {12.7062047364, 2.3646242510, 2.1314495456, 2.0395134464};
    static const double above_2_5[] = {.1211189416, .0204961093, .0122529016, .0089601134};
    for (size_t i = 0; i < LENGTH(df); i++) {
        NEAR(rh_t_quantile(.975, df[i]), at_975[i], 9);
        NEAR(rh_t_quantile(.025, df[i]), -at_975[i], 9);
        NEAR(rh_t_upper(2.5, df[i]), above_2_5[i], 10);
        NEAR(rh_t_upper(-2.5, df[i]), 1 - above_2_5[i], 10);
    }
    NEAR(rh_normal_quantile(.975), 1.9599639845, 10);
    NEAR(rh_normal_quantile(.5), 0, 12);
    NEAR(rh_normal_upper(4) / 3.1671241833e-05, 1, 10);
    for (int digits = 300; digits > 0; digits -= 10) {
        double p = pow(10, -digits);
        NEAR(rh_normal_upper(-rh_normal_quantile(p)) / p, 1, 9);
    }
    NEAR(rh_t_upper(0, 5), 0.5, 15);
    NEAR(rh_binomial_cdf(3, 10, 0.5), 0.171875, 12);
    NEAR(rh_binomial_pmf(3, 10, 0.5), 0.1171875, 12);
    NEAR(rh_binomial_cdf(-1, 10, 0.5), 0, 15);
    NEAR(rh_binomial_cdf(10, 10, 0.5), 1, 15);
    /* Far tails keep their relative accuracy: t with 1 df is Cauchy. */
    NEAR(rh_t_upper(1e12, 1) * M_PI * 1e12, 1, 9);
}

static void batch_ratio(void **state)
{
    (void) state;
    static const uint64_t base[] = {10, 12, 11, 9, 14, 10, 13, 12};
    static const uint64_t candidate[] = {12, 13, 12, 12, 15, 12, 14, 14};
    struct rh_batch batches[RH_BATCHES_MIN];
    for (size_t i = 0; i < RH_BATCHES_MIN; i++) {
        batches[i] =
            (struct rh_batch){.count = 1, .base_ns = base[i], .candidate_ns = candidate[i]};
    }
    struct rh_estimate e;
    assert_int_equal(rh_estimate_mean(&e, batches, RH_BATCHES_MIN), 0);
    NEAR(exp(e.log_ratio), 1.1428571429, 10);
    NEAR(e.error, .0256877051, 10);
    NEAR(e.df, 7, 12);
    check_interval(rh_estimate_interval(&e, 0.95), 1.0755042508, 1.2144279746);
}

/* A small generator of its own, so that the test is the same everywhere. */
static double uniform(uint64_t *seed)
{
    *seed = *seed * 6364136223846793005U + 1442695040888963407U;
    return (double) (*seed >> 11) / (double) (1ULL << 53);
}

static void fill(struct rh_batch *batches, uint64_t seed, double factor)
{
    memset(batches, 0, RH_BATCHES * sizeof *batches);
    for (int i = 0; i < 3200; i++) {
        double base = 1e6 * exp(2 * uniform(&seed));
        double candidate = base * factor * exp(0.4 * (uniform(&seed) - 0.5));
        rh_batch_add(&batches[i / 100], (uint64_t) base, (uint64_t) candidate);
    }
}

static void batches_find_what_is_there(void **state)
{
    (void) state;
    struct rh_batch same[RH_BATCHES], slower[RH_BATCHES];
    fill(same, 1, 1);
    fill(slower, 2, 1.3);
    struct rh_estimate e;
    for (int k = 0; k < 2; k++) {
        int (*make)(struct rh_estimate *, const struct rh_batch *, uint32_t) =
            k ? rh_estimate_mean : rh_estimate_typical;
        assert_int_equal(make(&e, same, RH_BATCHES), 0);
        assert_true(rh_estimate_above_p(&e, 1.05) > 0.5 && rh_estimate_below_p(&e, 0.95) > 0.5);
        assert_int_equal(make(&e, slower, RH_BATCHES), 0);
        assert_true(rh_estimate_above_p(&e, 1.05) < 1e-9);
        struct rh_interval i = rh_estimate_interval(&e, 0.999);
        assert_true(i.low < 1.3 * 1.01 && i.high > 1.3 * 0.99 && i.high / i.low < 1.1);
    }
}

static void batches_keep_their_symmetry(void **state)
{
    (void) state;
    struct rh_batch forth[RH_BATCHES], back[RH_BATCHES], tenfold[RH_BATCHES];
    fill(forth, 3, 1.2);
    for (int i = 0; i < RH_BATCHES; i++) {
        back[i] = (struct rh_batch){forth[i].count, forth[i].candidate_ns, forth[i].base_ns,
                                    -forth[i].log_sum};
        tenfold[i] = forth[i];
        tenfold[i].base_ns *= 10;
        tenfold[i].candidate_ns *= 10;
    }
    struct rh_estimate a, b, c;
    for (int k = 0; k < 2; k++) {
        int (*make)(struct rh_estimate *, const struct rh_batch *, uint32_t) =
            k ? rh_estimate_mean : rh_estimate_typical;
        assert_int_equal(make(&a, forth, RH_BATCHES), 0);
        assert_int_equal(make(&b, back, RH_BATCHES), 0);
        assert_int_equal(make(&c, tenfold, RH_BATCHES), 0);
        NEAR(a.log_ratio, -b.log_ratio, 12);
        NEAR(a.error, b.error, 12);
        NEAR(rh_estimate_above_p(&a, 1.05), rh_estimate_below_p(&b, 1 / 1.05), 12);
        NEAR(a.log_ratio, c.log_ratio, 12);
        NEAR(a.error, c.error, 12);
    }
}

static void batches_that_go_together_are_joined(void **state)
{
    (void) state;
    struct rh_batch batches[RH_BATCHES];
    memset(batches, 0, sizeof batches);
    for (int i = 0; i < RH_BATCHES; i++) {
        /* A slow wave: one half of the time is slower as a whole. */
        batches[i] = (struct rh_batch){10, 10000, i < RH_BATCHES / 2 ? 12000 : 9000, 0};
    }
    struct rh_estimate e;
    assert_int_equal(rh_estimate_mean(&e, batches, RH_BATCHES), 0);
    assert_int_equal(e.batches, RH_BATCHES_MIN);
    memset(batches, 0, sizeof batches);
    rh_batch_add(&batches[4], 5, 7);
    assert_int_equal(rh_estimate_mean(&e, batches, RH_BATCHES), -1);
    assert_int_equal(rh_estimate_typical(&e, batches, RH_BATCHES), -1);
    rh_batch_add(&batches[5], 0, 0);
    assert_int_equal(rh_estimate_typical(&e, batches, RH_BATCHES), 0);
}

/* By the formula: exp(ln 1.5 -+ sqrt(...)) of 10 [9, 12] and 15 [13, 19]. */
static void quantile_ratio(void **state)
{
    (void) state;
    struct rh_interval i = rh_quantile_ratio_interval(10, (struct rh_interval){9, 12}, 15,
                                                      (struct rh_interval){13, 19});
    NEAR(i.low, 1.189688500294, 12);
    NEAR(i.high, 1.943073515486, 12);
    /* Swapped sides turn it round. */
    struct rh_interval back = rh_quantile_ratio_interval(15, (struct rh_interval){13, 19}, 10,
                                                         (struct rh_interval){9, 12});
    NEAR(back.low, 1 / i.high, 12);
    NEAR(back.high, 1 / i.low, 12);
    /* One scale of both does not matter. */
    struct rh_interval scaled = rh_quantile_ratio_interval(1000, (struct rh_interval){900, 1200},
                                                           1500, (struct rh_interval){1300, 1900});
    NEAR(scaled.low, i.low, 12);
    /* An end that is not known leaves the other one. */
    i = rh_quantile_ratio_interval(10, (struct rh_interval){9, NAN}, 15,
                                   (struct rh_interval){13, 19});
    assert_true(isnan(i.low));
    NEAR(i.high, 1.943073515486, 12);
    i = rh_quantile_ratio_interval(0, (struct rh_interval){0, 12}, 15,
                                   (struct rh_interval){13, 19});
    assert_true(isnan(i.low) && isnan(i.high));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(distributions),
        cmocka_unit_test(mann_whitney),
        cmocka_unit_test(hodges_lehmann),
        cmocka_unit_test(signed_rank),
        cmocka_unit_test(signed_rank_with_zeros),
        cmocka_unit_test(counts),
        cmocka_unit_test(intervals),
        cmocka_unit_test(multiple_tests),
        cmocka_unit_test(quantile_ranks),
        cmocka_unit_test(quantile_ratio),
        cmocka_unit_test(batch_ratio),
        cmocka_unit_test(batches_find_what_is_there),
        cmocka_unit_test(batches_keep_their_symmetry),
        cmocka_unit_test(batches_that_go_together_are_joined),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
