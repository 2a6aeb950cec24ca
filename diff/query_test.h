/*
 * diff/query_test.h
 *
 * Is a query slower or faster, beyond noise and chance?  Three measures of its pairs are tested:
 * the mean, the typical pair, and the 95th percentile; over all queries at once, so that of those
 * that are called slower only a bounded share is so by chance.
 */
#ifndef RH_DIFF_QUERY_TEST_H
#define RH_DIFF_QUERY_TEST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "diff/pair_stat.h"
#include "diff/query_table.h"
#include "diff/stat_count.h"

struct rh_noise;

enum rh_measure { RH_MEASURE_MEAN, RH_MEASURE_TYPICAL, RH_MEASURE_P95, RH_MEASURES };

/* When a difference counts. */
struct rh_test_rule {
    uint32_t pairs_min; /* fewer tell nothing */
    double margin;      /* noise between two runs that no test within them can see: 0.05 is 5 % */
    double effect;      /* the estimate is at least as far from 1, and "same" is nearer */
    int64_t change_min_ns;        /* the mean (for p95: it) changes by at least this */
    bool judge_anyway;            /* also what an invalid rehearsal gave */
    double false_share;           /* bound of the expected share of false ones among the flagged */
    const struct rh_noise *noise; /* what runs of one side differ by (noise.h); NULL: not known */
    double own_margin[RH_MEASURES]; /* of one query: its margin where that is above `margin` */
};

/* 15 pairs, 5 %, 10 %, 100 us, 0.05. */
struct rh_test_rule rh_test_rule_default(void);

enum { RH_TEST_FIRST_APART = 100, RH_TEST_RANKS_BELOW = 64, RH_TEST_P95_PAIRS_MIN = 400 };

/* "mean", "typical", "p95". */
const char *rh_measure_name(enum rh_measure measure);

enum rh_direction { RH_SLOWER, RH_FASTER, RH_DIRECTIONS };

struct rh_measure_test {
    double margin;               /* it is tested against; the effect that counts is as large */
    bool estimated;              /* the estimate's ratio and error are known */
    bool tested;                 /* so are p and q */
    bool is_wide;                /* too few pairs to test: the interval is `wide`, of 95 % */
    struct rh_interval wide;     /* of the ratio */
    struct rh_estimate estimate; /* of ln(candidate / base) */
    double change_ns;            /* what must reach change_min_ns */
    double p[RH_DIRECTIONS];     /* one-sided: of "no slower (faster) than the margin" */
    double q[RH_DIRECTIONS];     /* adjusted for all tests (Benjamini, Hochberg 1995) */
    double same_p;               /* of "differs by the effect or more" (Schuirmann 1987) */
};

enum rh_test_result {
    RH_TEST_NONE, /* nothing could be tested: see why */
    RH_TEST_REGRESSED,
    RH_TEST_IMPROVED,
    RH_TEST_SAME,
    RH_TEST_UNDECIDED,
};

/* Why there is no result, or none that decides; static text, else NULL. */
#define RH_WHY_FEW "too-few-calls"
#define RH_WHY_BURST "one-burst"
#define RH_WHY_NOISY "too-noisy"
#define RH_WHY_SMALL "below-min-change"
#define RH_WHY_MEMORY "memory"

struct rh_query_test {
    enum rh_test_result result;
    const char *why;
    uint64_t pairs;    /* that were tested */
    bool first_apart;  /* one more, the query's first call, was left out */
    double base_ns;    /* mean of these pairs */
    uint64_t slower;   /* took at least twice the base's time */
    uint64_t faster;   /* at most half */
    double confidence; /* of the intervals of the ratios */
    bool confirmed;    /* the whole interval of a measure lies beyond the effect */
    struct rh_measure_test measures[RH_MEASURES];
    double design_effect[RH_SIDES][3]; /* of p50, p95, p99; NAN unknown */
};

/* Estimates and p of one query.  q and the result are still to come. */
void rh_query_test_make(struct rh_query_test *t, const struct rh_pair_stat *times,
                        const struct rh_test_rule *rule);
/* Those of all tests[0..count): their q, results and intervals. */
void rh_query_tests_decide(struct rh_query_test **tests, size_t count,
                           const struct rh_test_rule *rule);
/* Of a measure's ratio; NAN when it is not known. */
struct rh_interval rh_query_test_interval(const struct rh_query_test *t, enum rh_measure measure);
/* The least q of a direction, and the measure that has it (the mean where nothing was tested: then
 * NAN).  measure may be NULL. */
double rh_query_test_q(const struct rh_query_test *t, enum rh_direction direction,
                       enum rh_measure *measure);

#endif
