/*
 * diff/stat_batch.h
 *
 * Estimates from sums over batches of time.  Neighbouring statements are not independent (a stall
 * or a cold cache meets many of them), so the spread of single statements says too little: a paired
 * Wilcoxon test at 5 % raised 21 to 34 % false alarms under drift, sums over batches 5 to 9 %.
 *
 * All sums are integers: merging batches of parts gives the same bytes whatever the order.
 */
#ifndef RH_DIFF_STAT_BATCH_H
#define RH_DIFF_STAT_BATCH_H

#include <stdint.h>

#include "diff/stat_count.h"

enum {
    RH_BATCHES = 32, /* halves cleanly */
    RH_BATCHES_MIN = 8,
    RH_LOG_SCALE = 1 << 20, /* of log_sum */
};

/* The pairs of one query that fall into one 32nd of the base's time. */
struct rh_batch {
    uint64_t count;
    uint64_t base_ns;
    uint64_t candidate_ns;
    int64_t log_sum; /* of ln(candidate / base) * RH_LOG_SCALE, each rounded */
};

/* An estimate of ln(candidate / base). */
struct rh_estimate {
    double log_ratio;
    double error; /* standard error */
    double df;
    uint32_t batches; /* that it was made from, after neighbours were joined */
};

/* Takes one pair in; times below 1 ns count as 1 ns.  Returns what it added to log_sum. */
int64_t rh_batch_add(struct rh_batch *batch, uint64_t base_ns, uint64_t candidate_ns);
void rh_batch_merge(struct rh_batch *into, const struct rh_batch *from);

/*
 * The ratio of the means, sum of the candidate / sum of the base (the linearised ratio estimator
 * with clusters), and the typical ratio, exp of the mean ln ratio.  count is a power of two from
 * RH_BATCHES_MIN to RH_BATCHES, or anything below it.  While more than RH_BATCHES_MIN batches are
 * left and neighbours go together (lag-1 correlation above 1 / sqrt(k)), neighbours are joined.  -1
 * with fewer than two batches that hold pairs: there is no error to tell then.
 */
int rh_estimate_mean(struct rh_estimate *e, const struct rh_batch *batches, uint32_t count);
int rh_estimate_typical(struct rh_estimate *e, const struct rh_batch *batches, uint32_t count);

/* Of the ratio, with this confidence. */
struct rh_interval rh_estimate_interval(const struct rh_estimate *e, double confidence);
/* One-sided p of "the ratio is at most `ratio`" (upper) and of "at least" (lower). */
double rh_estimate_above_p(const struct rh_estimate *e, double ratio);
double rh_estimate_below_p(const struct rh_estimate *e, double ratio);

#endif
