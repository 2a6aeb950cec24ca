/*
 * capture/summary_text.h
 *
 * Words that the summaries of all captures share.
 */
#ifndef RH_CAPTURE_SUMMARY_TEXT_H
#define RH_CAPTURE_SUMMARY_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "capture/capture_stats.h"
#include "common/noun.h"
#include "formats/trace_writer.h"

enum { RH_SIZE_TEXT = 32 };

/* "512 bytes", "1.5 MB" (units of 1024, as options and the server have them).  Returns text. */
const char *rh_size_text(uint64_t bytes, char text[RH_SIZE_TEXT]);

struct rh_summary_row {
    uint64_t count;
    const char *what;
};

/* A block of lines, without those of 0; the first one has the label. */
void rh_summary_rows(const char *label, const struct rh_summary_row *rows, size_t count, FILE *out);

/* The SQLSTATEs of what failed; the errors are sorted. */
void rh_summary_errors(const struct rh_capture_stats *s, FILE *out);
/* What cannot be replayed, by reason. */
void rh_summary_held(const struct rh_capture_stats *s, FILE *out);
/* Statements that the filters left out, or put in front of what they kept. */
void rh_summary_filtered(const struct rh_capture_stats *s, FILE *out);
void rh_summary_runaways(const char *option, uint64_t count, FILE *out);
/* Warnings of the end, if there is cause for them: texts that patterns ran away on, and a trace
 * that does not hold all. */
void rh_summary_warn_runaways(uint64_t count);
void rh_summary_warn_incomplete(bool stopped, bool damaged);
/* A note in the trace, unless it is 0. */
void rh_summary_note(struct rh_trace_writer *w, const char *name, uint64_t count);

#endif
