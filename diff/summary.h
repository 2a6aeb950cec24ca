/*
 * diff/summary.h
 *
 * The first lines of every report, as sentences: did anything get slower, what, how much, how sure;
 * what fails now; can this comparison be trusted.
 */
#ifndef RH_DIFF_SUMMARY_H
#define RH_DIFF_SUMMARY_H

#include "common/buf.h"
#include "diff/report.h"

enum rh_tone { RH_TONE_PLAIN, RH_TONE_GOOD, RH_TONE_BAD, RH_TONE_DOUBT, RH_TONES };
/* "plain", "good", "bad", "doubt". */
const char *rh_tone_name(enum rh_tone tone);

enum rh_summary_line {
    RH_SUMMARY_TRUST,    /* the verdict on the rehearsal, and which checks make it */
    RH_SUMMARY_GATES,    /* label: the verdict; text: the gates that failed */
    RH_SUMMARY_UNJUDGED, /* no label: gates that cannot be judged, and why */
    RH_SUMMARY_SLOWER,
    RH_SUMMARY_SLOWEST, /* no label: the query that matters most */
    RH_SUMMARY_FASTER,
    RH_SUMMARY_FASTEST,
    RH_SUMMARY_OTHERS,
    RH_SUMMARY_FAILS,
    RH_SUMMARY_ROWS,     /* where rows differ */
    RH_SUMMARY_VOLATILE, /* no label: the queries whose rows are not counted */
    RH_SUMMARY_RAN,
    RH_SUMMARY_BASE_CUT, /* no label: the file is not whole */
    RH_SUMMARY_CANDIDATE_CUT,
    RH_SUMMARY_LINES,
};

struct rh_summary {
    struct {
        const char *label; /* static, may be empty; NULL: there is no such line */
        enum rh_tone tone;
        struct rh_span text; /* one line, safe for a terminal; the summary's */
    } lines[RH_SUMMARY_LINES];
    struct rh_buf texts;
};

void rh_summary_make(struct rh_summary *s, const struct rh_report *report);
void rh_summary_release(struct rh_summary *s);

/* "VALID", "DEGRADED", "INVALID"; "PASS", "FAIL", "CANNOT JUDGE", "No gates were given: ...". */
const char *rh_fit_word(enum rh_fit fit);
const char *rh_verdict_word(enum rh_verdict verdict);
/* A query's verdict as tables show it: "REGRESSED", "minor", "same", "-" where nothing was tested.
 */
const char *rh_query_verdict_word(const struct rh_query_result *row);
enum rh_tone rh_query_verdict_tone(const struct rh_query_result *row);

#endif
