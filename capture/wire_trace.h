/*
 * capture/wire_trace.h
 *
 * The trace that a capture of the wire writes.  What is known of the server goes into its header:
 * until the first record comes the file can still be begun anew.
 */
#ifndef RH_CAPTURE_WIRE_TRACE_H
#define RH_CAPTURE_WIRE_TRACE_H

#include <stdbool.h>

#include "capture/capture_sink.h"
#include "capture/wire_capture.h"
#include "formats/trace_writer.h"

/* Which of the files of one capture it is. */
struct rh_wire_trace_place {
    uint32_t number;    /* 0: the first one, or the only one */
    uint8_t before[16]; /* uuid of the file before it, of all but the first one */
};

struct rh_wire_trace {
    struct rh_capture_sink sink; /* what puts records in; its context is the trace */
    const char *path;
    struct rh_trace_writer *writer;      /* of the file that is open; NULL: none */
    const struct rh_wire_server *server; /* as it gets known */
    struct rh_wire_trace_place place;
    uint8_t uuid[16];
    bool has_records;  /* the file has more than a header */
    bool address_told; /* by its header */
    bool version_told;
};

/* server must live as long; path too. */
int rh_wire_trace_open(struct rh_wire_trace *t, const char *path,
                       const struct rh_wire_server *server, const struct rh_wire_trace_place *place,
                       struct rh_error *err);
/* As rh_trace_writer_finish(); what became known of the server too late for the header is noted. */
int rh_wire_trace_finish(struct rh_wire_trace *t, bool stopped_early, struct rh_error *err);
/* The file that is open is removed; none is allowed. */
void rh_wire_trace_discard(struct rh_wire_trace *t);

#endif
