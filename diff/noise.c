#include "diff/noise.h"

#include <math.h>
#include <stdlib.h>

#include "common/alloc.h"
#include "diff/fitness.h"
#include "diff/median.h"

/* The median of chi-square with one degree of freedom: the median of squares is so much of their
 * mean when they are of normal numbers. */
static const double CHI_SQUARE_MEDIAN = 0.4549364231195724;
/* A query whose error is larger says little of the noise beyond it. */
static const double ERROR_SURE = 0.01;

void rh_noise_release(struct rh_noise *n)
{
    rh_free(n->queries);
    rh_free(n->points);
    rh_index_map_release(&n->by_fingerprint);
    *n = (struct rh_noise){0};
}

static struct rh_query_noise *query_for(struct rh_noise *n, uint64_t fingerprint)
{
    uint32_t known = rh_index_map_get(&n->by_fingerprint, fingerprint);
    if (known) {
        return &n->queries[known - 1];
    }
    RH_GROW(n->queries, n->query_count, n->query_cap);
    n->queries[n->query_count++] = (struct rh_query_noise){0};
    rh_index_map_put(&n->by_fingerprint, fingerprint, n->query_count);
    return &n->queries[n->query_count - 1];
}

/* 0 when the error of the estimate explains it. */
static double own_margin(const struct rh_estimate *e)
{
    double beyond = e->log_ratio * e->log_ratio - e->error * e->error;
    return beyond > 0 ? expm1(sqrt(beyond)) : 0;
}

static void add_times(struct rh_noise *n, struct rh_query_noise *into,
                      const struct rh_pair_stat *times, const struct rh_test_rule *rule)
{
    struct rh_query_test test;
    rh_query_test_make(&test, times, rule);
    if (test.pairs < rule->pairs_min) {
        return;
    }
    for (int i = 0; i < RH_MEASURES; i++) {
        const struct rh_measure_test *m = &test.measures[i];
        if (m->estimated && isfinite(m->estimate.error)) {
            into->margin[i] = fmax(into->margin[i], own_margin(&m->estimate));
        }
    }
    const struct rh_measure_test *typical = &test.measures[RH_MEASURE_TYPICAL];
    if (typical->estimated && isfinite(typical->estimate.error)) {
        RH_GROW(n->points, n->point_count, n->point_cap);
        n->points[n->point_count++] =
            (struct rh_noise_point){typical->estimate.log_ratio, typical->estimate.error};
    }
}

void rh_noise_add(struct rh_noise *n, const struct rh_comparison *c,
                  const struct rh_test_rule *rule)
{
    struct rh_fitness fitness;
    rh_fitness_make(&fitness, c, c->pairs.rows_compared, c->pairs.row_mismatches, NULL);
    if (fitness.verdict == RH_FIT_INVALID) {
        n->rejected++;
        return;
    }
    n->pairs++;
    for (uint32_t i = 0; i < c->queries.count; i++) {
        const struct rh_query *q = &c->queries.items[i];
        if (i == RH_QUERY_OTHER || !q->has_example) {
            continue;
        }
        struct rh_query_noise *into = query_for(n, q->fingerprint);
        into->rows_compared += q->pairs.rows_compared;
        into->row_mismatches += q->pairs.row_mismatches;
        into->outcomes_differ += q->pairs.broke + q->pairs.fixed;
        if (c->same_vantage) {
            add_times(n, into, &q->times, rule);
        }
    }
}

static int order_by_error(const void *a, const void *b)
{
    const struct rh_noise_point *x = a, *y = b;
    if (x->error != y->error) {
        return x->error < y->error ? -1 : 1;
    }
    return (x->log_ratio > y->log_ratio) - (x->log_ratio < y->log_ratio);
}

/* The surest queries: all whose error is small, or the surest few where hardly any is. */
void rh_noise_finish(struct rh_noise *n)
{
    n->margin = NAN;
    if (n->point_count < RH_NOISE_QUERIES_MIN) {
        return;
    }
    qsort(n->points, n->point_count, sizeof *n->points, order_by_error);
    uint32_t taken = RH_NOISE_QUERIES_MIN;
    while (taken < n->point_count && n->points[taken].error < ERROR_SURE) {
        taken++;
    }
    double *squares = rh_calloc(taken, sizeof *squares);
    double *errors = rh_calloc(taken, sizeof *errors);
    for (uint32_t i = 0; i < taken; i++) {
        squares[i] = n->points[i].log_ratio * n->points[i].log_ratio;
        errors[i] = n->points[i].error * n->points[i].error;
    }
    double both =
        rh_doubles_median(squares, taken) / CHI_SQUARE_MEDIAN - rh_doubles_median(errors, taken);
    /* The difference of two runs has twice the variance of one. */
    n->margin = expm1(2 * sqrt(fmax(both, 0) / 2));
    rh_free(squares);
    rh_free(errors);
}

const struct rh_query_noise *rh_noise_find(const struct rh_noise *n, uint64_t fingerprint)
{
    uint32_t known = n->query_count ? rh_index_map_get(&n->by_fingerprint, fingerprint) : 0;
    return known ? &n->queries[known - 1] : NULL;
}
