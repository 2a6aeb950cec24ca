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

enum {
    RH_SUMMARY_SLOWEST_MAX = 3, /* queries that are told by themselves */
    RH_SUMMARY_ERRORS_MAX = 3,  /* and kinds of new errors */
};

enum rh_summary_line {
    RH_SUMMARY_TRUST,    /* the verdict on the rehearsal, and which checks make it */
    RH_SUMMARY_NOISE,    /* which changes cannot be seen */
    RH_SUMMARY_GATES,    /* label: the verdict; text: the gates that failed */
    RH_SUMMARY_UNJUDGED, /* no label: gates that cannot be judged, and why */
    RH_SUMMARY_SLOWER,
    /* No label: those that matter most, each with a line of figures and one of SQL, and how many
     * more there are. */
    RH_SUMMARY_SLOWEST,
    RH_SUMMARY_SLOWEST_REST = RH_SUMMARY_SLOWEST + 2 * RH_SUMMARY_SLOWEST_MAX,
    RH_SUMMARY_FASTER,
    RH_SUMMARY_FASTEST, /* no label: the one that matters most, in two lines */
    RH_SUMMARY_FASTEST_SQL,
    RH_SUMMARY_OTHERS,
    RH_SUMMARY_FAILS,
    RH_SUMMARY_ERRORS, /* no label: the most frequent kinds, and how many more there are */
    RH_SUMMARY_ERRORS_REST = RH_SUMMARY_ERRORS + RH_SUMMARY_ERRORS_MAX,
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
        struct rh_span sql;  /* what stands behind it of a query's text; may be empty */
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
/* "typical 1.49x (1.47x to 1.51x, 97.5 % sure), q 3.8e-06; mean 1.52x": by how much a query
 * changed, of the measure that says most surely. */
void rh_query_change_tell(const struct rh_query_result *row, enum rh_direction direction,
                          struct rh_buf *out);

#endif
