/*
 * capture/wire_summary.h
 *
 * What a capture of the wire saw and what is missing, for people.
 */
#ifndef RH_CAPTURE_WIRE_SUMMARY_H
#define RH_CAPTURE_WIRE_SUMMARY_H

#include <stdio.h>

#include "capture/packet_files.h"
#include "capture/wire_capture.h"
#include "capture/wire_counts.h"

struct rh_wire_summary {
    const struct rh_wire_counts *packets;
    const struct rh_wire_capture_counts *sessions;
    const struct rh_packet_files_counts *files; /* NULL: of an interface */
    int64_t first_ns;                           /* the first packet's; RH_TIME_UNKNOWN */
    int64_t last_ns;
    uint64_t drops;     /* of the kernel */
    const char *output; /* NULL: none was made */
    uint32_t output_files;
    uint64_t output_bytes;
};

/* Executions of portals and queries. */
uint64_t rh_wire_summary_statements(const struct rh_wire_capture_counts *c);
void rh_wire_summary_print(const struct rh_wire_summary *m, FILE *out);
/* Why there is no statement, and what to do (NULL: nothing), into two texts of one line each. */
void rh_wire_summary_why_empty(const struct rh_wire_summary *m, const char **reason,
                               const char **hint);

#endif
