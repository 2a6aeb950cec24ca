/*
 * diff/json_query.h
 *
 * What the tests say, as members of the JSON report.
 */
#ifndef RH_DIFF_JSON_QUERY_H
#define RH_DIFF_JSON_QUERY_H

#include "common/json.h"
#include "diff/result.h"

/* Members of a query's object: verdict, reason, minor. */
void rh_json_query_verdict(struct rh_json *j, const struct rh_query_result *row);
/* And the figures behind them. */
void rh_json_query_test(struct rh_json *j, const struct rh_query_result *row);
/* "rehearsal": its verdict and checks. */
void rh_json_fitness(struct rh_json *j, const struct rh_fitness *fitness);
/* "test" of an error: null when it does not come by chance. */
void rh_json_error_test(struct rh_json *j, const struct rh_error_test *t);
/* "rule": when a difference counts. */
void rh_json_test_rule(struct rh_json *j, const struct rh_result *r);
/* "verdicts": how many queries have which. */
void rh_json_verdict_counts(struct rh_json *j, const struct rh_result *r);

#endif
