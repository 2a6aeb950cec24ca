/*
 * diff/result.h
 *
 * What a comparison comes to: queries ranked by the time they add, errors classed, totals, gates
 * and the verdict.  Reports show this and compute nothing.
 *
 * `verdict` is so far that of the gates alone.  The tests of each query's times and the verdict on
 * the rehearsal itself (VALID, DEGRADED, INVALID) are not there: a query's verdict is only ever new
 * or gone, and nothing here claims that a difference is more than chance.
 */
#ifndef RH_DIFF_RESULT_H
#define RH_DIFF_RESULT_H

#include <stdbool.h>
#include <stdint.h>

#include "diff/comparison.h"

enum rh_latency_mode {
    RH_LATENCY_ABSOLUTE, /* both sides' times have one vantage */
    RH_LATENCY_RELATIVE, /* they have not: only what deviates from the workload's median shift tells
                          */
    RH_LATENCY_NONE,     /* a side has no times */
};

enum rh_query_verdict {
    RH_QUERY_UNTESTED,
    RH_QUERY_NEW,  /* only the candidate has it */
    RH_QUERY_GONE, /* only the base has it */
};

/* Unknown numbers are NAN. */
struct rh_query_result {
    const struct rh_query *query;
    bool is_other; /* all queries beyond the limit together */
    enum rh_query_verdict verdict;
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

    uint64_t missing;
    uint64_t new_errors; /* failures of class new that follow from no other one */
    uint64_t new_error_groups;
    double base_time_ns;  /* over queries with a ratio: base mean x base calls */
    double time_added_ns; /* sum over the same */
    double time_added_pct;
};

void rh_result_make(struct rh_result *r, const struct rh_comparison *c);
void rh_result_release(struct rh_result *r);

/* The mean and a quantile in ns of one side's successes; NAN if it has none with a time. */
double rh_query_mean_ns(const struct rh_query *q, enum rh_side side);
double rh_query_quantile_ns(const struct rh_query *q, enum rh_side side, double quantile);

#endif
