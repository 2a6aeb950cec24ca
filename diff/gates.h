/*
 * diff/gates.h
 *
 * Limits that a candidate must keep, and the verdict of all of them.  A gate that cannot be judged
 * never passes.
 */
#ifndef RH_DIFF_GATES_H
#define RH_DIFF_GATES_H

#include <stddef.h>

#include "common/error.h"
#include "diff/result.h"

enum rh_gate_kind {
    RH_GATE_REGRESSED,  /* queries that regressed, minor ones left out */
    RH_GATE_NEW_ERRORS, /* statements that fail as none in the base did (result.h, new_errors) */
    RH_GATE_MISSING,    /* statements that ran in the base and not in the candidate */
    RH_GATE_ROW_MISMATCHES, /* twins that succeeded with another number of rows */
    RH_GATE_LAG_P99_MS,     /* of the candidate, a run */
    RH_GATE_TIME_ADDED_PCT, /* to the whole workload, improvements set off */
    RH_GATE_COUNT,
};

/*
 * When more than so many percent of the base's statements did not run in the candidate because
 * sessions were refused, lost or stopped, or the trace is damaged, errors, rows and times of the
 * rest prove nothing.
 */
enum { RH_GATE_UNCONNECTED_PCT = 1 };

enum rh_gate_state { RH_GATE_PASS, RH_GATE_FAIL, RH_GATE_CANNOT_JUDGE };

struct rh_gate {
    enum rh_gate_kind kind;
    double limit;  /* passes while actual <= limit */
    double actual; /* NAN when it cannot be judged */
    enum rh_gate_state state;
    const char *why; /* it cannot be judged; static text, else NULL */
};

/* "new-errors=0". */
int rh_gate_parse(struct rh_gate *gate, const char *text, struct rh_error *err);
void rh_gate_judge(struct rh_gate *gate, const struct rh_result *r);
/* "new-errors". */
const char *rh_gate_name(enum rh_gate_kind kind);
/* What it found, for people: rounded, but never onto the other side of the limit. */
enum { RH_GATE_ACTUAL_SIZE = 40 };
char *rh_gate_actual_text(const struct rh_gate *gate, char text[RH_GATE_ACTUAL_SIZE]);
/* "pass", "fail", "cannot-judge". */
const char *rh_gate_state_name(enum rh_gate_state state);

enum rh_verdict {
    RH_VERDICT_NONE, /* no gates were given, both files are whole */
    RH_VERDICT_PASS,
    RH_VERDICT_FAIL,
    RH_VERDICT_CANNOT_JUDGE, /* a file is not whole, or a gate cannot be judged and none failed */
};

enum rh_verdict rh_verdict_make(const struct rh_gate *gates, size_t count,
                                const struct rh_result *r);
/* "pass", "fail", "cannot-judge"; NULL for none. */
const char *rh_verdict_name(enum rh_verdict verdict);
/* RH_EXIT_DONE, RH_EXIT_GATE or RH_EXIT_PARTIAL. */
enum rh_exit rh_verdict_exit(enum rh_verdict verdict);

#endif
