/*
 * diff/stat_quantile.h
 *
 * How sure a quantile is.
 */
#ifndef RH_DIFF_STAT_QUANTILE_H
#define RH_DIFF_STAT_QUANTILE_H

#include <stdint.h>

/* The ranks (from 1) of the two values between which the p-quantile of what n independent values
 * come from lies with this confidence: order statistics, no distribution assumed.  low 0 and high n
 * + 1 mean that there is no such limit, n is too small. */
void rh_quantile_ranks(uint64_t n, double p, double confidence, uint64_t *low, uint64_t *high);

#endif
