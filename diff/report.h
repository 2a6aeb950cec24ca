/*
 * diff/report.h
 *
 * The pages that show a result (docs/REPORT.md).  Each is written piece by piece, so the memory of
 * a report does not grow with it.
 */
#ifndef RH_DIFF_REPORT_H
#define RH_DIFF_REPORT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/buf.h"
#include "common/outfile.h"
#include "diff/example_texts.h"
#include "diff/gates.h"
#include "diff/inputs.h"
#include "diff/plan_texts.h"
#include "diff/result.h"
#include "diff/server_difference.h"

struct rh_report {
    const struct rh_result *result;
    const struct rh_inputs *inputs; /* NULL: the comparison's files are all */
    const struct rh_gate *gates;
    size_t gate_count;
    enum rh_verdict verdict;
    uint32_t limit; /* rows of each table of text and Markdown, and JUnit's cases of queries that
                       did not regress */
    bool colour;    /* text: escape sequences for emphasis */
    const struct rh_server_differences *servers; /* NULL: not known */
    const struct rh_plan_texts *plans;           /* text, Markdown, HTML; NULL: none */
    const struct rh_example_texts *examples; /* HTML: statements with their literals; NULL: none */
};

/* Where a report goes. */
struct rh_report_sink {
    struct rh_buf buf;
    struct rh_outfile *file; /* NULL: all stays in buf */
    struct rh_error *err;
    bool failed;
};

void rh_report_sink_init(struct rh_report_sink *s, struct rh_outfile *file, struct rh_error *err);
void rh_report_sink_release(struct rh_report_sink *s);
/* Write out what has come together if it is a lot, or all of it. */
void rh_report_sink_drain(struct rh_report_sink *s);
int rh_report_sink_flush(struct rh_report_sink *s);

/* "absolute", "relative", "none". */
const char *rh_latency_mode_name(enum rh_latency_mode mode);
/* The measured empty round trip of a run in ns, NAN where there is none. */
double rh_report_round_trip_ns(const struct rh_trace_header *h);

/* At most 110 columns. */
int rh_report_text(const struct rh_report *report, struct rh_report_sink *sink);
int rh_report_json(const struct rh_report *report, struct rh_report_sink *sink);
/* One line a query (RFC 4180). */
int rh_report_csv(const struct rh_report *report, struct rh_report_sink *sink);
/* Has failures or errors exactly when the verdict's exit status is not 0. */
int rh_report_junit(const struct rh_report *report, struct rh_report_sink *sink);
/* At most RH_MARKDOWN_MAX bytes: GitHub takes comments of 65,536 characters. */
enum { RH_MARKDOWN_MAX = 60000 };
int rh_report_markdown(const struct rh_report *report, struct rh_report_sink *sink);
/* One page by itself, for a browser. */
int rh_report_html(const struct rh_report *report, struct rh_report_sink *sink);

#endif
