#include "diff/stat_distribution.h"

#include <float.h>
#include <math.h>

double rh_normal_upper(double z)
{
    return erfc(z / M_SQRT2) / 2;
}

/* A start from the tail's asymptote, then Newton on ln P, whose shape is nearly a parabola: it
 * converges from everywhere and stays exact in the far tail. */
static double upper_quantile(double tail)
{
    double z = sqrt(-2 * log(tail));
    for (int i = 0; i < 60; i++) {
        double p = rh_normal_upper(z);
        double density = exp(-z * z / 2) / sqrt(2 * M_PI);
        double step = (log(p) - log(tail)) * p / density;
        z += step;
        if (fabs(step) < 1e-15 * (1 + fabs(z))) {
            break;
        }
    }
    return z;
}

double rh_normal_quantile(double p)
{
    return p > 0.5 ? upper_quantile(1 - p) : -upper_quantile(p);
}

double rh_log_choose(int64_t n, int64_t k)
{
    int sign;
    return lgamma_r((double) n + 1, &sign) - lgamma_r((double) k + 1, &sign) -
           lgamma_r((double) (n - k) + 1, &sign);
}

/* Keeps a denominator of the continued fraction from being 0. */
static double nonzero(double v)
{
    return fabs(v) < DBL_MIN / DBL_EPSILON ? DBL_MIN / DBL_EPSILON : v;
}

/* The continued fraction of I_x(a, b) by Lentz's method (DLMF 8.17.22); converges fast for x below
 * the mean (a + 1) / (a + b + 2). */
static double beta_fraction(double a, double b, double x)
{
    double c = 1;
    double d = 1 / nonzero(1 - (a + b) * x / (a + 1));
    double f = d;
    for (int m = 1; m <= 100000; m++) {
        double even = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m));
        d = 1 / nonzero(1 + even * d);
        c = nonzero(1 + even / c);
        f *= d * c;
        double odd = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1));
        d = 1 / nonzero(1 + odd * d);
        c = nonzero(1 + odd / c);
        f *= d * c;
        if (fabs(d * c - 1) < 4 * DBL_EPSILON) {
            break;
        }
    }
    return f;
}

double rh_beta_incomplete(double a, double b, double x)
{
    if (x <= 0 || x >= 1) {
        return x <= 0 ? 0 : 1;
    }
    int sign;
    double front = exp(lgamma_r(a + b, &sign) - lgamma_r(a, &sign) - lgamma_r(b, &sign) +
                       a * log(x) + b * log1p(-x));
    if (x < (a + 1) / (a + b + 2)) {
        return front * beta_fraction(a, b, x) / a;
    }
    return 1 - front * beta_fraction(b, a, 1 - x) / b;
}

double rh_t_upper(double t, double df)
{
    if (isnan(t)) {
        return NAN;
    }
    double half = isinf(t) ? 0 : rh_beta_incomplete(df / 2, 0.5, df / (df + t * t)) / 2;
    return t >= 0 ? half : 1 - half;
}

double rh_t_quantile(double p, double df)
{
    double tail = p > 0.5 ? 1 - p : p;
    double low = 0, high = 1;
    while (rh_t_upper(high, df) > tail && high < DBL_MAX / 4) {
        low = high;
        high *= 2;
    }
    for (int i = 0; i < 200 && high - low > 1e-14 * high; i++) {
        double middle = low + (high - low) / 2;
        if (rh_t_upper(middle, df) > tail) {
            low = middle;
        } else {
            high = middle;
        }
    }
    double t = low + (high - low) / 2;
    return p > 0.5 ? t : -t;
}

double rh_binomial_cdf(int64_t k, int64_t n, double p)
{
    if (k < 0 || k >= n) {
        return k < 0 ? 0 : 1;
    }
    return rh_beta_incomplete((double) (n - k), (double) k + 1, 1 - p);
}

double rh_binomial_pmf(int64_t k, int64_t n, double p)
{
    if (k < 0 || k > n) {
        return 0;
    }
    if (p <= 0 || p >= 1) {
        return k == (p <= 0 ? 0 : n) ? 1 : 0;
    }
    return exp(rh_log_choose(n, k) + (double) k * log(p) + (double) (n - k) * log1p(-p));
}
