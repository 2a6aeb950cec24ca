#include "diff/stat_quantile.h"

#include "diff/stat_distribution.h"

/* The least k with P(K <= k) >= limit, K ~ Bin(n, p). */
static int64_t binomial_rank(int64_t n, double p, double limit)
{
    int64_t low = -1, high = n;
    while (high - low > 1) {
        int64_t middle = low + (high - low) / 2;
        if (rh_binomial_cdf(middle, n, p) >= limit) {
            high = middle;
        } else {
            low = middle;
        }
    }
    return high;
}

void rh_quantile_ranks(uint64_t n, double p, double confidence, uint64_t *low, uint64_t *high)
{
    double tail = (1 - confidence) / 2;
    int64_t k = binomial_rank((int64_t) n, p, tail);
    /* The largest l with P(K <= l - 1) <= tail: k itself, or one more where it is met exactly. */
    while (k < (int64_t) n && rh_binomial_cdf(k, (int64_t) n, p) <= tail) {
        k++;
    }
    *low = (uint64_t) k;
    *high = (uint64_t) binomial_rank((int64_t) n, p, 1 - tail) + 1;
}
