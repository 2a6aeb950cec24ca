#include "diff/stat_count.h"

#include <math.h>

#include "diff/stat_distribution.h"

double rh_mcnemar_exact_p(uint64_t broke, uint64_t mended)
{
    uint64_t n = broke + mended, fewer = broke < mended ? broke : mended;
    return fmin(1, 2 * rh_binomial_cdf((int64_t) fewer, (int64_t) n, 0.5));
}

double rh_mcnemar_mid_p(uint64_t broke, uint64_t mended)
{
    uint64_t n = broke + mended, fewer = broke < mended ? broke : mended;
    if (n == 0) {
        return 1;
    }
    return fmin(1, 2 * rh_binomial_cdf((int64_t) fewer - 1, (int64_t) n, 0.5) +
                       rh_binomial_pmf((int64_t) fewer, (int64_t) n, 0.5));
}

double rh_fisher_p(uint64_t failed_a, uint64_t n_a, uint64_t failed_b, uint64_t n_b)
{
    int64_t failed = (int64_t) (failed_a + failed_b), n = (int64_t) (n_a + n_b);
    int64_t low = failed - (int64_t) n_b, high = failed;
    low = low > 0 ? low : 0;
    high = high < (int64_t) n_a ? high : (int64_t) n_a;
    double all = rh_log_choose(n, failed);
    /* Tables as likely as the observed one count as observed, whatever rounding does to them. */
    double limit = rh_log_choose((int64_t) n_a, (int64_t) failed_a) +
                   rh_log_choose((int64_t) n_b, (int64_t) failed_b) - all + 1e-7;
    double sum = 0;
    for (int64_t k = low; k <= high; k++) {
        double p = rh_log_choose((int64_t) n_a, k) + rh_log_choose((int64_t) n_b, failed - k) - all;
        sum += p <= limit ? exp(p) : 0;
    }
    return fmin(1, sum);
}

struct rh_interval rh_wilson_interval(uint64_t k, uint64_t n, double confidence)
{
    double z = rh_normal_quantile((1 + confidence) / 2), size = (double) n;
    double p = (double) k / size;
    double centre = (p + z * z / (2 * size)) / (1 + z * z / size);
    double half = z / (1 + z * z / size) * sqrt(p * (1 - p) / size + z * z / (4 * size * size));
    /* At the ends the formula is exact but for rounding. */
    return (struct rh_interval){k == 0 ? 0 : centre - half, k == n ? 1 : centre + half};
}

/* The difference a - b from the interval of each: the limits that lie towards each other. */
static struct rh_interval combine(double a, struct rh_interval of_a, double b,
                                  struct rh_interval of_b)
{
    return (struct rh_interval){
        a - b - hypot(a - of_a.low, of_b.high - b),
        a - b + hypot(of_a.high - a, b - of_b.low),
    };
}

struct rh_interval rh_newcombe_interval(uint64_t a, uint64_t n_a, uint64_t b, uint64_t n_b,
                                        double confidence)
{
    return combine((double) a / (double) n_a, rh_wilson_interval(a, n_a, confidence),
                   (double) b / (double) n_b, rh_wilson_interval(b, n_b, confidence));
}

struct rh_interval rh_newcombe_paired_interval(uint64_t broke, uint64_t mended, uint64_t n,
                                               double confidence)
{
    /* The difference of the rates is that of the discordant shares, and these two hardly depend on
     * each other while they are rare. */
    return rh_newcombe_interval(broke, n, mended, n, confidence);
}

double rh_zero_of_n_upper(uint64_t n, double confidence)
{
    return -expm1(log1p(-confidence) / (double) n);
}
