/*
 * capture/cut_evidence.h
 *
 * Whether a parameter's value that ends in "..." was cut by the server (log_parameter_max_length,
 * 13 and newer) or is an honest text.  A limit would have cut every longer value, so one longer
 * value in full speaks for honest dots; several values with dots at the same length, and no longer
 * one since the first of them, speak for a limit, also one that was set while the log was written.
 * With no evidence a value counts as cut: a statement is rather left out of a replay than sent with
 * another value.
 */
#ifndef RH_CAPTURE_CUT_EVIDENCE_H
#define RH_CAPTURE_CUT_EVIDENCE_H

#include <stdbool.h>
#include <stdint.h>

struct rh_cut_evidence {
    int64_t longest_whole; /* of all values seen; -1 */
    int64_t run_length;    /* of the last values with dots, without them; -1 */
    uint32_t run_count;    /* of this length in a row, no longer whole value between */
};

void rh_cut_evidence_init(struct rh_cut_evidence *c);

/* Take note of a list's longest whole value and longest value with dots (-1: none). */
void rh_cut_evidence_add(struct rh_cut_evidence *c, int64_t whole, int64_t dotted);

/* Whether a value with dots of this length, already added, is to be taken for cut. */
bool rh_cut_evidence_judge(const struct rh_cut_evidence *c, int64_t dotted);

#endif
