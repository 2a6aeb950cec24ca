#include "diff/stat_rank.h"

#include <math.h>
#include <string.h>

#include "common/alloc.h"
#include "diff/stat_distribution.h"

enum { LARGER_EXACT_MAX = 200 };

void rh_mann_whitney_make(struct rh_mann_whitney *t, const struct rh_rank_group *groups,
                          size_t count)
{
    memset(t, 0, sizeof *t);
    double ties = 0;
    double b_below = 0;
    for (size_t i = 0; i < count; i++) {
        double a = (double) groups[i].a, b = (double) groups[i].b, n = a + b;
        t->u += a * (b_below + b / 2);
        b_below += b;
        t->n_a += a;
        t->n_b += b;
        ties += n * n * n - n;
        t->has_ties |= n > 1;
    }
    double n = t->n_a + t->n_b, product = t->n_a * t->n_b;
    t->share = product > 0 ? t->u / product : NAN;
    t->deviation = n > 1 ? sqrt(fmax(0, product / 12 * (n + 1 - ties / (n * (n - 1))))) : 0;
}

static double two_sided(double distance, double deviation, bool continuity)
{
    if (deviation <= 0) {
        return 1;
    }
    double z = (fabs(distance) - (continuity ? 0.5 : 0)) / deviation;
    return fmin(1, 2 * rh_normal_upper(fmax(0, z)));
}

double rh_mann_whitney_p(const struct rh_mann_whitney *t, bool continuity)
{
    return two_sided(t->u - t->n_a * t->n_b / 2, t->deviation, continuity);
}

/*
 * P(U >= u) by counting: ways(u) for m and n values is the number of partitions of u into at most m
 * parts of at most n, i.e. the coefficients of the Gaussian binomial: multiply by (1 - x^(n + i)),
 * divide by (1 - x^i), i = 1..m.  The doubles are exact up to 2^53 and near enough beyond.
 */
static double count_upper(int m, int n, double u)
{
    int size = m * n + 1;
    double *ways = rh_calloc((size_t) size, sizeof *ways);
    ways[0] = 1;
    for (int i = 1; i <= m; i++) {
        for (int v = size - 1; v >= n + i; v--) {
            ways[v] -= ways[v - n - i];
        }
        for (int v = i; v < size; v++) {
            ways[v] += ways[v - i];
        }
    }
    double all = 0, upper = 0;
    for (int v = 0; v < size; v++) {
        all += ways[v];
        upper += v >= u ? ways[v] : 0;
    }
    rh_free(ways);
    return upper / all;
}

double rh_mann_whitney_exact_greater_p(const struct rh_mann_whitney *t)
{
    double fewer = fmin(t->n_a, t->n_b), more = fmax(t->n_a, t->n_b);
    if (t->has_ties || fewer < 1 || fewer > RH_RANK_EXACT_MAX || more > LARGER_EXACT_MAX) {
        return NAN;
    }
    return count_upper((int) fewer, (int) more, t->u);
}

/* fmin() would take a NAN for 1. */
static double doubled(double tail)
{
    return tail >= 0.5 ? 1 : 2 * tail;
}

double rh_mann_whitney_exact_p(const struct rh_mann_whitney *t)
{
    struct rh_mann_whitney larger = *t;
    larger.u = fmax(t->u, t->n_a * t->n_b - t->u);
    return doubled(rh_mann_whitney_exact_greater_p(&larger));
}

void rh_signed_rank_make(struct rh_signed_rank *t, const struct rh_sign_group *groups, size_t count,
                         uint64_t zeros, enum rh_rank_zeros how)
{
    memset(t, 0, sizeof *t);
    double below = 0, squares = 0;
    if (zeros && how != RH_ZEROS_DROP) {
        double z = (double) zeros, rank = (z + 1) / 2;
        below = z;
        t->has_ties = true;
        if (how == RH_ZEROS_SPLIT) {
            t->plus = t->minus = z * rank / 2;
            t->n = z;
            squares = z * rank * rank;
        }
    }
    for (size_t i = 0; i < count; i++) {
        double plus = (double) groups[i].plus, minus = (double) groups[i].minus, n = plus + minus;
        double rank = below + (n + 1) / 2;
        t->plus += plus * rank;
        t->minus += minus * rank;
        t->n += n;
        t->has_ties |= n > 1;
        squares += n * rank * rank;
        below += n;
    }
    t->deviation = sqrt(squares / 4);
}

double rh_signed_rank_p(const struct rh_signed_rank *t, bool continuity)
{
    return two_sided((t->plus - t->minus) / 2, t->deviation, continuity);
}

double rh_signed_rank_greater_p(const struct rh_signed_rank *t)
{
    return t->deviation > 0 ? rh_normal_upper((t->plus - t->minus) / 2 / t->deviation) : 1;
}

/* P(W >= w): each rank counts on either side with the same chance. */
static double sign_upper(int n, double w)
{
    enum { SUM_MAX = RH_RANK_EXACT_MAX * (RH_RANK_EXACT_MAX + 1) / 2 };
    double chance[SUM_MAX + 1] = {1};
    int sum = 0;
    for (int rank = 1; rank <= n; rank++) {
        sum += rank;
        for (int v = sum; v >= 0; v--) {
            chance[v] = (chance[v] + (v >= rank ? chance[v - rank] : 0)) / 2;
        }
    }
    double upper = 0;
    for (int v = 0; v <= sum; v++) {
        upper += v >= w ? chance[v] : 0;
    }
    return upper;
}

double rh_signed_rank_exact_greater_p(const struct rh_signed_rank *t)
{
    if (t->has_ties || t->n < 1 || t->n > RH_RANK_EXACT_MAX) {
        return NAN;
    }
    return sign_upper((int) t->n, t->plus);
}

double rh_signed_rank_exact_p(const struct rh_signed_rank *t)
{
    struct rh_signed_rank larger = *t;
    larger.plus = fmax(t->plus, t->minus);
    return doubled(rh_signed_rank_exact_greater_p(&larger));
}

/* How many differences a - b are at most x. */
static double count_differences(const struct rh_rank_group *groups, const double *values,
                                size_t count, double x)
{
    double pairs = 0, below = 0;
    size_t next = 0;
    for (size_t i = 0; i < count; i++) {
        while (next < count && values[next] <= values[i] + x) {
            below += (double) groups[next++].a;
        }
        pairs += (double) groups[i].b * below;
    }
    return pairs;
}

/* The difference of that rank, from 1 on, by halving the interval that holds it. */
static double difference_of_rank(const struct rh_rank_group *groups, const double *values,
                                 size_t count, double rank)
{
    double span = values[count - 1] - values[0];
    double low = -span - 1, high = span;
    double exact = 1e-14 * (span > 1 ? span : 1);
    while (high - low > exact) {
        double middle = low + (high - low) / 2;
        if (count_differences(groups, values, count, middle) >= rank) {
            high = middle;
        } else {
            low = middle;
        }
    }
    return high;
}

double rh_hodges_lehmann(const struct rh_rank_group *groups, const double *values, size_t count)
{
    double n_a = 0, n_b = 0;
    for (size_t i = 0; i < count; i++) {
        n_a += (double) groups[i].a;
        n_b += (double) groups[i].b;
    }
    double pairs = n_a * n_b;
    if (pairs == 0) {
        return NAN;
    }
    double lower = difference_of_rank(groups, values, count, floor((pairs + 1) / 2));
    double upper = difference_of_rank(groups, values, count, floor(pairs / 2) + 1);
    return lower + (upper - lower) / 2;
}
