/*
 * diff/text_page.h
 *
 * What the sections of the text report share: the sink, emphasis, and a few kinds of line.
 */
#ifndef RH_DIFF_TEXT_PAGE_H
#define RH_DIFF_TEXT_PAGE_H

#include "diff/human.h"
#include "diff/report.h"
#include "diff/summary.h"

enum { RH_PAGE_COLUMNS = 110 };

enum rh_emphasis { RH_PLAIN, RH_BOLD, RH_RED, RH_GREEN, RH_YELLOW };
enum rh_emphasis rh_page_emphasis(enum rh_tone tone);

struct rh_text_page {
    const struct rh_report *report;
    const struct rh_result *result;
    const struct rh_comparison *comparison;
    struct rh_report_sink *sink;
    struct rh_buf *out; /* the sink's */
};

void rh_page_begin(struct rh_text_page *p, enum rh_emphasis emphasis);
void rh_page_end(struct rh_text_page *p, enum rh_emphasis emphasis);
/* A blank line and a heading. */
void rh_page_heading(struct rh_text_page *p, const char *text);
/* "  ... and N more" when not all were shown. */
void rh_page_rest(struct rh_text_page *p, uint64_t total, uint64_t shown);
/* At most so many columns of a text, and blanks up to them where there is to be something behind.
 */
void rh_page_cell(struct rh_text_page *p, struct rh_span text, unsigned columns, bool pad);
/* "      FINGERPRINT  SQL" in one line. */
void rh_page_query(struct rh_text_page *p, uint32_t query);

/* The sections. */
void rh_page_summary(struct rh_text_page *p); /* text_summary.c */
void rh_page_checks(struct rh_text_page *p);
void rh_page_header(struct rh_text_page *p);  /* text_header.c */
void rh_page_servers(struct rh_text_page *p); /* text_servers.c */
void rh_page_queries(struct rh_text_page *p); /* text_queries.c */
void rh_page_plans(struct rh_text_page *p);   /* text_plans.c */
void rh_page_dimensions(struct rh_text_page *p);
void rh_page_errors(struct rh_text_page *p); /* text_errors.c */

#endif
