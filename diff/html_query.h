/*
 * diff/html_query.h
 *
 * One query in the HTML report's data: a row of values, and for some what its plots show.
 */
#ifndef RH_DIFF_HTML_QUERY_H
#define RH_DIFF_HTML_QUERY_H

#include "common/json.h"
#include "diff/report.h"

/* No more than max bytes, and no torn UTF-8 character at the end. */
struct rh_span rh_html_cut(struct rh_span text, size_t max);

/* The members "columns", "quantiles" and "ratios_per_octave". */
void rh_html_query_names(struct rh_json *j);
/* The array of the values of "columns"; at most text_max bytes of the text. */
void rh_html_query_row(struct rh_json *j, const struct rh_query_result *row, uint32_t text_max);
/* An object: quantiles with intervals, the pairs' ratios, ratios over time, tests, examples. */
void rh_html_query_detail(struct rh_json *j, const struct rh_report *report,
                          const struct rh_query_result *row);
/* A member: which statement. */
void rh_html_example(struct rh_json *j, const char *key, const struct rh_statement_ref *ref,
                     enum rh_side side);
/* Members: an example's text, as far as the page shows it, and whether there is more. */
void rh_html_example_text(struct rh_json *j, struct rh_span text, bool is_cut);

#endif
