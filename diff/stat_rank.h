/*
 * diff/stat_rank.h
 *
 * Rank tests on groups of equal values, as a histogram gives them: Mann-Whitney for two samples,
 * Wilcoxon's signed ranks for pairs.  Nothing is sorted here.
 *
 * Formulas as in scipy.stats 1.10 (mannwhitneyu, wilcoxon) and R's wilcox.test, which the unit
 * tests hold them against.
 */
#ifndef RH_DIFF_STAT_RANK_H
#define RH_DIFF_STAT_RANK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The exact distributions are for samples up to this size, without ties. */
enum { RH_RANK_EXACT_MAX = 50 };

/* Mann-Whitney: how often one value occurs in either sample; in ascending order of the values. */
struct rh_rank_group {
    uint64_t a;
    uint64_t b;
};

struct rh_mann_whitney {
    double u; /* pairs (a, b) with a > b, ties count half */
    double n_a;
    double n_b;
    bool has_ties;
    double share;     /* u / (n_a n_b): how often a value of a is the larger one (A12) */
    double deviation; /* standard deviation of u if nothing differs; 0: all values are equal */
};

void rh_mann_whitney_make(struct rh_mann_whitney *t, const struct rh_rank_group *groups,
                          size_t count);
/* Two-sided, by the normal distribution; `continuity` shrinks the distance from the mean by 1/2.
 * 1 when all values are equal. */
double rh_mann_whitney_p(const struct rh_mann_whitney *t, bool continuity);
/* The exact distribution; only without ties and up to RH_RANK_EXACT_MAX values in the smaller
 * sample and 200 in the larger one, else NAN. */
double rh_mann_whitney_exact_p(const struct rh_mann_whitney *t);
/* One-sided: that a is larger. */
double rh_mann_whitney_exact_greater_p(const struct rh_mann_whitney *t);

/* The median of all differences a - b (Hodges and Lehmann 1963): how much larger a value of a is.
 * values[i], ascending, is that of groups[i].  NAN when a sample is empty. */
double rh_hodges_lehmann(const struct rh_rank_group *groups, const double *values, size_t count);

/* Signed ranks: how often a distance from zero occurs above and below; in ascending order of the
 * distance, the zeros apart. */
struct rh_sign_group {
    uint64_t plus;
    uint64_t minus;
};

enum rh_rank_zeros {
    RH_ZEROS_DROP,  /* Wilcoxon: differences of zero are left out */
    RH_ZEROS_RANK,  /* Pratt: they take the lowest ranks, which are then left out */
    RH_ZEROS_SPLIT, /* they take the lowest ranks, half of them on either side */
};

struct rh_signed_rank {
    double plus; /* sum of the ranks of the positive differences */
    double minus;
    double n; /* that have a rank in the sums */
    bool has_ties;
    double deviation;
};

void rh_signed_rank_make(struct rh_signed_rank *t, const struct rh_sign_group *groups, size_t count,
                         uint64_t zeros, enum rh_rank_zeros how);
double rh_signed_rank_p(const struct rh_signed_rank *t, bool continuity);
/* By the normal distribution, one-sided: that the differences are positive. */
double rh_signed_rank_greater_p(const struct rh_signed_rank *t);
/* The exact distribution; NAN with ties or zeros, or beyond RH_RANK_EXACT_MAX. */
double rh_signed_rank_exact_p(const struct rh_signed_rank *t);
double rh_signed_rank_exact_greater_p(const struct rh_signed_rank *t);

#endif
