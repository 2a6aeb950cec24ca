/*
 * capture/wire_summary.h
 *
 * What a capture of the wire saw and what is missing, for people and for the notes in the trace.
 */
#ifndef RH_CAPTURE_WIRE_SUMMARY_H
#define RH_CAPTURE_WIRE_SUMMARY_H

#include <stdbool.h>
#include <stdio.h>

#include "capture/packet_files.h"
#include "capture/wire_capture.h"
#include "capture/wire_counts.h"
#include "formats/trace_writer.h"

struct rh_wire_summary {
    const struct rh_wire_counts *packets;
    const struct rh_wire_capture_counts *sessions;
    struct rh_capture_stats *stats; /* sorted by printing */
    const struct rh_wire_server *server;
    const struct rh_capture_filter *filter;
    const struct rh_packet_files_counts *files; /* NULL: of an interface */
    int64_t first_ns;                           /* the first packet's; RH_TIME_UNKNOWN */
    int64_t last_ns;
    uint64_t drops; /* of the kernel */
    bool verbose;
    bool redacted;
    double sample;      /* part of the sessions that was asked for */
    const char *output; /* NULL: none was made */
    uint32_t output_files;
    uint64_t output_bytes;
};

void rh_wire_summary_print(const struct rh_wire_summary *m, FILE *out);
/* Counts of what was on the wire and is not in the trace, as notes. */
void rh_wire_summary_note(const struct rh_wire_summary *m, struct rh_trace_writer *w);
/* Why there is no statement, and what to do (NULL: nothing), into two texts of one line each. */
void rh_wire_summary_why_empty(const struct rh_wire_summary *m, const char **reason,
                               const char **hint);

#endif
