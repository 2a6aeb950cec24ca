/*
 * diff/dimension_result.h
 *
 * What a comparison comes to for each database, user and application: the sums of both sides, and a
 * verdict by the test that queries get.
 */
#ifndef RH_DIFF_DIMENSION_RESULT_H
#define RH_DIFF_DIMENSION_RESULT_H

#include "diff/dimensions.h"
#include "diff/query_test.h"

struct rh_dimension_row {
    const struct rh_dimension_value *value;
    bool is_other; /* all values beyond the limit together */
    struct rh_query_test test;
    double ratio;          /* of the means of the pairs; NAN where there are none */
    double time_added_ns;  /* difference of the means x the base's calls */
    double time_added_pct; /* of the base's time of all values */
};

/* One dimension, by time added, most first. */
struct rh_dimension_result {
    struct rh_dimension_row *rows;
    uint32_t count;
};

/* tested: the times may be set against each other.  Release it. */
void rh_dimension_result_make(struct rh_dimension_result *r, const struct rh_dimensions *d,
                              enum rh_dimension dimension, const struct rh_test_rule *rule,
                              bool tested);
void rh_dimension_result_release(struct rh_dimension_result *r);
/* "regressed", "improved", "same", "undecided"; NULL where nothing was tested. */
const char *rh_dimension_verdict(const struct rh_dimension_row *row);

#endif
