/*
 * diff/arrivals.h
 *
 * How many statements started in each second of a side, counted from its first one.
 */
#ifndef RH_DIFF_ARRIVALS_H
#define RH_DIFF_ARRIVALS_H

#include <stdint.h>

/* Of a longer file the rest is not counted: twelve days. */
enum { RH_ARRIVALS_SECONDS_MAX = 1 << 20 };

struct rh_arrivals {
    uint32_t *counts;
    uint32_t seconds;
    uint32_t cap;
    int64_t first_ns; /* valid when seconds > 0 */
};

/* Zeroed is empty. */
void rh_arrivals_release(struct rh_arrivals *a);
/* In start order; a start before the first one counts into the first second. */
void rh_arrivals_add(struct rh_arrivals *a, int64_t start_ns);

/* The correlation (Pearson's) of the counts of both, second by second, over the longer one.  NAN
 * with fewer than 10 seconds, or where one side's counts are all the same. */
double rh_arrivals_correlation(const struct rh_arrivals *a, const struct rh_arrivals *b);

#endif
