/*
 * diff/noise.h
 *
 * What two runs differ by when nothing was changed, from runs of one trace on one server: the noise
 * that no test within one run can see.
 *
 *   - Of all queries together: s, the standard deviation of a run's typical times (of their
 *     logarithm), from how far the queries' typical ratios lie from 1 beyond their own errors
 *     (the median, so that a few queries do not make it).  The margin is exp(2 s) - 1.
 *   - Of each query by itself: the part of its own difference that its error does not explain.
 *   - Queries whose rows or outcomes differ: nothing follows when they differ in the candidate too.
 */
#ifndef RH_DIFF_NOISE_H
#define RH_DIFF_NOISE_H

#include <stdbool.h>
#include <stdint.h>

#include "diff/comparison.h"
#include "diff/index_map.h"
#include "diff/query_test.h"

struct rh_query_noise {
    double margin[RH_MEASURES]; /* 0.05: 5 %; of the pair of runs that differs most */
    uint64_t rows_compared;
    uint64_t row_mismatches;
    uint64_t outcomes_differ; /* succeeded in one run, failed in the other */
};

/* One query in one pair of runs. */
struct rh_noise_point {
    double log_ratio;
    double error;
};

struct rh_noise {
    uint32_t pairs;    /* of runs that told something */
    uint32_t rejected; /* pairs of runs that are invalid as a rehearsal of each other */
    double margin;     /* after rh_noise_finish(); NAN when nothing is known of it */
    struct rh_query_noise *queries;
    uint32_t query_count;
    uint32_t query_cap;
    struct rh_index_map by_fingerprint; /* index + 1 */
    struct rh_noise_point *points;
    uint32_t point_count;
    uint32_t point_cap;
};

enum { RH_NOISE_QUERIES_MIN = 5 };

/* Zeroed is empty and says nothing. */
void rh_noise_release(struct rh_noise *n);
/* The comparison of a run with a repeat of it, which is not needed afterwards. */
void rh_noise_add(struct rh_noise *n, const struct rh_comparison *c,
                  const struct rh_test_rule *rule);
void rh_noise_finish(struct rh_noise *n);
/* NULL when no repeat has it. */
const struct rh_query_noise *rh_noise_find(const struct rh_noise *n, uint64_t fingerprint);

#endif
