/*
 * diff/stat_count.h
 *
 * Tests and intervals for counts: errors of paired and of unpaired statements, proportions.
 * Sources: Fagerland, Lydersen, Laake 2013 (mid-p), Newcombe 1998 (hybrid score interval),
 * Wilson 1927.
 */
#ifndef RH_DIFF_STAT_COUNT_H
#define RH_DIFF_STAT_COUNT_H

#include <stdint.h>

struct rh_interval {
    double low;
    double high;
};

/* McNemar's test of paired outcomes by its discordant counts: `broke` went from success to failure,
 * `mended` the other way.  Two-sided; 1 when both are 0.  The mid-p counts half of what was
 * observed, and is what to decide by: the exact one is too cautious. */
double rh_mcnemar_exact_p(uint64_t broke, uint64_t mended);
double rh_mcnemar_mid_p(uint64_t broke, uint64_t mended);

/* Fisher's exact test, two-sided: failures of n in each of two samples without pairs. */
double rh_fisher_p(uint64_t failed_a, uint64_t n_a, uint64_t failed_b, uint64_t n_b);

/* Of the proportion k / n, n > 0; confidence such as 0.95. */
struct rh_interval rh_wilson_interval(uint64_t k, uint64_t n, double confidence);
/* Of the difference a / n_a - b / n_b of two samples without pairs. */
struct rh_interval rh_newcombe_interval(uint64_t a, uint64_t n_a, uint64_t b, uint64_t n_b,
                                        double confidence);
/* Of the difference of two failure rates over n pairs, by their discordant counts. */
struct rh_interval rh_newcombe_paired_interval(uint64_t broke, uint64_t mended, uint64_t n,
                                               double confidence);
/* What the rate is at most, when none was seen in n > 0. */
double rh_zero_of_n_upper(uint64_t n, double confidence);

#endif
