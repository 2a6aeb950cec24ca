/*
 * diff/html_data.h
 *
 * What the HTML report's script shows: one JSON object in which nothing can end the element that it
 * stands in.  The names are between the page and its script, and no interface.
 */
#ifndef RH_DIFF_HTML_DATA_H
#define RH_DIFF_HTML_DATA_H

#include "diff/report.h"

enum {
    RH_PAGE_QUERIES_MAX = 10000, /* those that matter most; the others are counted */
    RH_PAGE_ERRORS_MAX = 100,
    RH_PAGE_DETAILS = 150,      /* queries with plots */
    RH_PAGE_DETAILS_MANY = 400, /* of more than RH_PAGE_FEW queries */
    RH_PAGE_FEW = 1000,
};

/* The page stays below 1 MB with RH_PAGE_FEW queries and below 5 MB with RH_PAGE_QUERIES_MAX: the
 * longer their texts together, the less is shown of each. */
void rh_html_data(const struct rh_report *report, struct rh_report_sink *sink);

/* Adds JSON in which < > & and the separators U+2028 and U+2029 are written as escapes.  They occur
 * in strings only, so it means the same. */
void rh_html_add_json(struct rh_buf *out, struct rh_span json);

#endif
