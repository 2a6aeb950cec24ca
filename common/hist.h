/*
 * common/hist.h
 *
 * Log-linear histogram of non-negative 64-bit values (HdrHistogram's idea: buckets double, each
 * is cut into 2^RH_HIST_SUB_BITS equal parts), so any quantile is known within 1/64 of its value
 * (1.6 %), whatever the range.  Memory grows with the range that was seen, at most
 * RH_HIST_MAX_CELLS counters.  Two histograms merge exactly.
 */
#ifndef RH_COMMON_HIST_H
#define RH_COMMON_HIST_H

#include <stdint.h>

enum { RH_HIST_SUB_BITS = 6, RH_HIST_MAX_CELLS = (64 - RH_HIST_SUB_BITS + 1) << RH_HIST_SUB_BITS };

struct rh_hist {
    uint32_t *cells; /* NULL while empty; covers first_cell .. first_cell + cell_count - 1 */
    uint32_t first_cell;
    uint32_t cell_count;
    uint64_t count;
    int64_t min;
    int64_t max;
    double sum;
    double sum_of_squares;
};

void rh_hist_init(struct rh_hist *h);
void rh_hist_release(struct rh_hist *h);
/* A negative value is counted as 0. */
void rh_hist_add(struct rh_hist *h, int64_t value);
void rh_hist_merge(struct rh_hist *into, const struct rh_hist *from);
/* The value below which a share q (0..1) of the values lies: exact at q = 0 (min) and 1 (max), else the
 * middle of its cell, kept within min..max; nearest rank.  0 for an empty histogram. */
int64_t rh_hist_quantile(const struct rh_hist *h, double q);
double rh_hist_mean(const struct rh_hist *h);

#endif
