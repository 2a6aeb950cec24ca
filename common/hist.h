/*
 * common/hist.h
 *
 * Log-linear histogram of non-negative 64-bit values (HdrHistogram's idea: buckets double, each
 * is cut into 2^RH_HIST_SUB_BITS equal parts).  Values below 128 are exact; a cell above is at most
 * 1/64 of its values wide and its middle stands for them, so a quantile is within 1/128 (0.8 %) of
 * the value of that rank, whatever the range.  Memory grows with the range that was seen, at most
 * RH_HIST_MAX_CELLS counters.  Merging gives the same cells, count, min and max as adding every
 * value (the sums up to rounding).  A cell stops counting at 2^32 - 1.
 */
#ifndef RH_COMMON_HIST_H
#define RH_COMMON_HIST_H

#include <stdint.h>

enum { RH_HIST_SUB_BITS = 6, RH_HIST_MAX_CELLS = (64 - RH_HIST_SUB_BITS) << RH_HIST_SUB_BITS };

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
/* The value of rank ceil(q * count), q in 0..1: exact for the first (q = 0) and the last rank, else
 * the middle of its cell, kept within min..max.  0 for an empty histogram. */
int64_t rh_hist_quantile(const struct rh_hist *h, double q);
/* How many values lie in cells above that of `value`. */
uint64_t rh_hist_count_above(const struct rh_hist *h, int64_t value);
double rh_hist_mean(const struct rh_hist *h);
/* What stands for the values of a cell. */
int64_t rh_hist_cell_middle(uint32_t cell);

#endif
