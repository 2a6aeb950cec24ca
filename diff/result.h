/*
 * diff/result.h
 *
 * What a comparison comes to: queries ranked by the time they add, errors classed, totals, gates
 * and the verdict.  Reports show this and compute nothing.
 */
#ifndef RH_DIFF_RESULT_H
#define RH_DIFF_RESULT_H

#include <stdbool.h>
#include <stdint.h>

#include "diff/comparison.h"
#include "diff/dimension_result.h"
#include "diff/error_test.h"
#include "diff/fitness.h"
#include "diff/query_test.h"

enum rh_latency_mode {
    RH_LATENCY_ABSOLUTE, /* both sides' times have one vantage */
    RH_LATENCY_RELATIVE, /* they have not: only what deviates from the workload's median shift tells
                          */
    RH_LATENCY_NONE,     /* a side has no times */
};

enum rh_query_verdict {
    RH_QUERY_UNTESTED, /* nothing of it could be */
    RH_QUERY_REGRESSED,
    RH_QUERY_IMPROVED,
    RH_QUERY_SAME,
    RH_QUERY_UNDECIDED,
    RH_QUERY_NEW,  /* only the candidate has it */
    RH_QUERY_GONE, /* only the base has it */
    RH_QUERY_VERDICTS,
};

/* "regressed", "improved", "same", "undecided", "new", "gone"; NULL for untested. */
const char *rh_query_verdict_name(enum rh_query_verdict verdict);

/* Why a query's rows say nothing of the candidate: they differ from run to run anyway. */
enum rh_volatility {
    RH_VOLATILE_NOT,
    RH_VOLATILE_BY_TEXT, /* it chooses rows by the time of day, by chance ... (volatile_text.h) */
    RH_VOLATILE_BY_RUNS, /* rows or outcomes differ between runs of one side */
};
/* "text", "runs"; NULL for none. */
const char *rh_volatility_name(enum rh_volatility volatility);

/* A regression that adds less than this to the base's time, in percent, is minor: no gate fails for
 * it. */
#define RH_IMPACT_MINOR_PCT 0.1

/* Unknown numbers are NAN. */
struct rh_query_result {
    const struct rh_query *query;
    bool is_other; /* all queries beyond the limit together */
    enum rh_query_verdict verdict;
    const char *why; /* it is undecided or untested: a word for programs, static; else NULL */
    bool minor;      /* regressed or improved, and hardly felt in the whole */
    enum rh_volatility volatility;
    const struct rh_query_noise *noise; /* between runs of one side; NULL: not known */
    struct rh_query_test test;
    double base_time_ns;      /* base mean of compared successes x the base's calls */
    double base_time_pct;     /* what it takes of the base's time */
    double time_added_pct;    /* what it adds to it */
    double unpaired_p;        /* Mann-Whitney test of both sides' times where there are no pairs: it
                                 sees the mix of parameters as well, so it decides nothing */
    double unpaired_shift_ns; /* the median difference of a call of each (Hodges, Lehmann) */
    double unpaired_share; /* how often a call of the candidate takes longer than one of the base */
    uint64_t missing;      /* ran in the base, not in the candidate; unpaired: did not run there */
    uint64_t compared;     /* statements behind the ratio; unpaired: the fewer of both sides */
    double ratio;          /* mean of the candidate / mean of the base, of compared successes */
    double time_added_ns;  /* difference of these means x the base's calls */
    double relative_ratio; /* ratio / median shift; NAN unless RH_LATENCY_RELATIVE */
    double relative_time_added_ns; /* the same with the candidate's mean / median shift */
};

enum rh_error_class {
    RH_ERROR_NEW,           /* the base has none */
    RH_ERROR_CHANGED,       /* both have some, not the same number */
    RH_ERROR_GONE,          /* the candidate has none */
    RH_ERROR_TYPES_UNKNOWN, /* new, and the capture's lack of parameter types explains it */
    RH_ERROR_SAME,
};
/* "new", "changed", "gone", "types-unknown", "same". */
const char *rh_error_class_name(enum rh_error_class klass);

struct rh_error_result {
    const struct rh_error_group *group;
    bool is_other; /* all groups beyond the limit together */
    enum rh_error_class klass;
    struct rh_error_test test;
    bool follows; /* every one of them only follows from an earlier failure of its transaction */
};

struct rh_result {
    const struct rh_comparison *comparison;
    enum rh_latency_mode latency;
    double median_shift; /* of the queries' ratios; NAN unless RH_LATENCY_RELATIVE */
    bool complete;       /* both files are whole */

    struct rh_query_result *queries; /* ranked */
    uint32_t query_count;
    struct rh_error_result *errors; /* new first */
    uint32_t error_count;

    struct rh_dimension_result dimensions[RH_DIMENSIONS];
    struct rh_fitness fitness;
    struct rh_test_rule rule; /* with the margin of the noise, where that is larger */
    double margin_given;      /* that of the caller's rule */
    uint32_t noisier;         /* queries with a margin of their own, above that of the rule */
    uint32_t verdicts[RH_QUERY_VERDICTS]; /* how many queries have which */
    uint32_t regressed;                   /* that are not minor */
    uint32_t tested;                      /* enough pairs to decide something of */

    /* Pairs with row counts on both sides, and those that differ: of the volatile queries and of
     * all others, which alone are judged. */
    uint64_t rows_compared;
    uint64_t row_mismatches;
    uint64_t volatile_compared;
    uint64_t volatile_mismatches;
    uint32_t volatile_queries;

    uint64_t missing;
    uint64_t new_errors;    /* failures of class new that follow from no other one, and that chance
                               does    not explain */
    uint64_t new_by_chance; /* the rest of those that follow from no other one */
    uint64_t new_error_groups;
    double base_time_ns;  /* over queries with a ratio: base mean x base calls */
    double time_added_ns; /* sum over the same */
    double time_added_pct;
};

/* A volatile query that a report names: one that differs without a change, or whose rows do differ.
 */
static inline bool rh_query_result_names_volatile(const struct rh_query_result *row)
{
    return row->volatility == RH_VOLATILE_BY_RUNS ||
           (row->volatility != RH_VOLATILE_NOT && row->query->pairs.row_mismatches > 0);
}

/* rule NULL: the default; its noise is needed as long as the result. */
void rh_result_make(struct rh_result *r, const struct rh_comparison *c,
                    const struct rh_test_rule *rule);
/* An invalid rehearsal gets no verdict on queries, unless the rule says so. */
bool rh_result_withholds(const struct rh_result *r);
/* Queries get verdicts by their times. */
bool rh_result_judges_times(const struct rh_result *r);
void rh_result_release(struct rh_result *r);

/* The mean and a quantile in ns of one side's successes; NAN if it has none with a time. */
double rh_query_mean_ns(const struct rh_query *q, enum rh_side side);
double rh_query_quantile_ns(const struct rh_query *q, enum rh_side side, double quantile);
/* Between which the percentile (RH_P50 ...) lies with a confidence of 0.95; NAN where it is not
 * known. */
enum rh_percentile { RH_P50, RH_P95, RH_P99 };
struct rh_interval rh_query_percentile_interval(const struct rh_query_result *row,
                                                enum rh_side side, enum rh_percentile percentile);
/* The same of any quantile, with the dependence of its calls as it is at the nearest of the three.
 */
struct rh_interval rh_query_quantile_interval(const struct rh_query_result *row, enum rh_side side,
                                              double quantile);

#endif
