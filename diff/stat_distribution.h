/*
 * diff/stat_distribution.h
 *
 * The distributions that the tests need: normal, Student's t, binomial.  Tails keep their relative
 * accuracy down to the smallest doubles, since a thousand queries are tested at once and small p
 * are what decides.
 */
#ifndef RH_DIFF_STAT_DISTRIBUTION_H
#define RH_DIFF_STAT_DISTRIBUTION_H

#include <stdint.h>

/* P(Z > z). */
double rh_normal_upper(double z);
/* z with P(Z <= z) = p, p in (0, 1). */
double rh_normal_quantile(double p);

/* P(T > t) with df > 0 degrees of freedom, not necessarily whole. */
double rh_t_upper(double t, double df);
/* t with P(T <= t) = p, p in (0, 1). */
double rh_t_quantile(double p, double df);

/* P(K <= k) and P(K = k) for K ~ Bin(n, p); k < 0 and k > n are allowed. */
double rh_binomial_cdf(int64_t k, int64_t n, double p);
double rh_binomial_pmf(int64_t k, int64_t n, double p);

/* I_x(a, b), the regularised incomplete beta function; a, b > 0, x in [0, 1]. */
double rh_beta_incomplete(double a, double b, double x);
/* ln of n over k. */
double rh_log_choose(int64_t n, int64_t k);

#endif
