/*
 * formats/trace_header.h
 *
 * The first block of a trace or run file: where it comes from and what may be compared with it.
 */
#ifndef RH_FORMATS_TRACE_HEADER_H
#define RH_FORMATS_TRACE_HEADER_H

#include <stdint.h>

#include "common/arena.h"
#include "formats/record.h"
#include "formats/server_fact.h"

enum rh_file_kind { RH_FILE_WORKLOAD = 0, RH_FILE_RUN = 1 };

struct rh_trace_header {
    enum rh_file_kind kind;
    uint32_t format_version; /* filled by the reader */
    uint8_t uuid[16];
    uint8_t trace_uuid[16]; /* run: of the trace that was replayed; else zeros */
    enum rh_vantage vantage;
    struct rh_span source;         /* "csvlog", "wire", "replay" */
    struct rh_span tool;           /* "pgrehearse 0.1.0" */
    struct rh_span server_version; /* "15.18"; none: unknown */
    struct rh_span server_address; /* "host:port"; none: unknown */
    int64_t created_ns;
    /* Run: options as given, and round_trip_ns, speed ...; workload: settings of the server. */
    const struct rh_setting *settings;
    uint32_t setting_count;
    const struct rh_server_fact *server_facts; /* of a run's server; none: not known */
    uint32_t server_fact_count;
};

/* A random (version 4) UUID. */
void rh_uuid_make(uint8_t uuid[16]);
/* "6f1c...-....", 36 characters and NUL. */
char *rh_uuid_format(const uint8_t uuid[16], char text[37]);

/* The value of a setting (of the last one of that name), none if it is not there. */
struct rh_span rh_trace_header_setting(const struct rh_trace_header *h, const char *name);

struct rh_buf;
/* Append the header as a msgpack map with text keys (FORMAT.md, "header block"). */
int rh_trace_header_put(const struct rh_trace_header *h, struct rh_buf *out);
/* Unknown keys are passed over.  Texts are copied to the arena.  -1: not such a map. */
int rh_trace_header_get(struct rh_trace_header *h, struct rh_span map, struct rh_arena *arena);

#endif
