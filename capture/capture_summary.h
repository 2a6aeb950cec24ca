/*
 * capture/capture_summary.h
 *
 * What was captured and what was not, for people and for the notes in the trace.
 */
#ifndef RH_CAPTURE_CAPTURE_SUMMARY_H
#define RH_CAPTURE_CAPTURE_SUMMARY_H

#include <stdbool.h>
#include <stdio.h>

#include "capture/capture_stats.h"
#include "capture/log_files.h"
#include "formats/trace_writer.h"

struct rh_capture_summary {
    struct rh_capture_stats *stats; /* sorted by printing */
    const struct rh_log_reader_counts *counts;
    uint32_t file_count;
    uint32_t empty_files;
    bool verbose;
    bool redacted;
    double sample;             /* part of the sessions that was asked for */
    uint64_t include_runaways; /* texts on which a pattern ran away: left out */
    uint64_t exclude_runaways;
    const char *output;
    uint64_t output_bytes;
};

void rh_capture_summary_print(const struct rh_capture_summary *m, FILE *out);

/* Counts of what is in the log and not in the trace, as notes. */
void rh_capture_summary_note(const struct rh_capture_summary *m, struct rh_trace_writer *w);

/* Why there is no statement, and what to do, into two texts of one line each. */
void rh_capture_summary_why_empty(const struct rh_capture_summary *m, bool language_known,
                                  const char **reason, const char **hint);

#endif
