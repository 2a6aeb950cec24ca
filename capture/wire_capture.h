/*
 * capture/wire_capture.h
 *
 * From connections (capture/tcp_sink.h) to sessions and records.  A session's record is written
 * when ReadyForQuery has told what its transaction does; a large COPY, or one of many statements in
 * one pipeline, goes out before its outcome, which follows as a record.
 *
 * Passwords and what else authenticates are never kept; keys of cancel requests are, in memory, and
 * are not written.  Statements whose text holds a password are masked (common/secret.h).
 */
#ifndef RH_CAPTURE_WIRE_CAPTURE_H
#define RH_CAPTURE_WIRE_CAPTURE_H

#include <stdint.h>

#include "capture/capture_filter.h"
#include "capture/capture_sink.h"
#include "capture/capture_stats.h"
#include "capture/tcp_sink.h"
#include "common/error.h"

struct rh_wire_capture;

enum { RH_WIRE_VERSION_MAX = 63 };

/* The server that was seen. */
struct rh_wire_server {
    char
        address[80]; /* "192.0.2.7:5432", "[2001:db8::1]:5432" of the first session; "": none yet */
    char version[RH_WIRE_VERSION_MAX + 1]; /* "15.18", as reported; "": not */
    uint64_t elsewhere;                    /* sessions with another address */
};

struct rh_wire_limits {
    size_t session_bytes; /* that wait for answers, of one session; 0: 64 MiB */
    size_t bytes;         /* of all; 0: 1 GiB */
    size_t names_bytes;   /* of the prepared statements of all; 0: 1 GiB */
};

struct rh_wire_capture_counts {
    uint64_t connections;
    uint64_t sessions; /* of these, written */
    uint64_t joined_midway;
    uint64_t left_open;
    uint64_t logins_failed;
    uint64_t logins_unfinished; /* a client went away when it was asked for a password, say */
    uint64_t encrypted;
    uint64_t replication;
    uint64_t foreign;                   /* of another protocol */
    uint64_t opaque;                    /* joined midway, and nothing in them was understood */
    uint64_t cancels;                   /* requests */
    uint64_t cancels_unlinked;          /* of sessions that were not captured */
    uint64_t cancels_late;              /* of sessions that had ended */
    uint64_t kinds[RH_KIND_CANCEL + 1]; /* records with ordinals */
    uint64_t failed;                    /* statements with an error */
    uint64_t outcome_unknown;
    uint64_t held[RH_REASON_COUNT];
    uint64_t written_early; /* before their outcomes */
    uint64_t gaps;
    uint64_t bytes_lost;  /* where it is known how many */
    uint64_t anomalies;   /* answers that did not fit */
    uint64_t forgotten;   /* prepared statements, for want of room */
    uint64_t messages[2]; /* by enum rh_pg_side */
    /* Of the filters. */
    uint64_t filtered; /* statements left out of sessions that are kept, or would be */
    uint64_t carried;  /* SETs and PREPAREs of before the first statement kept, in front of it */
    uint64_t sessions_filtered;
    uint64_t sessions_unknown; /* left out since their user and database are not known */
};

/* The sink must outlive it; limits may be NULL. */
struct rh_wire_capture *rh_wire_capture_new(const struct rh_capture_sink *sink,
                                            const struct rh_wire_limits *limits);
/* What is wanted; before the first connection.  The filter must live as long, and counts patterns
 * that ran away. */
void rh_wire_capture_filter(struct rh_wire_capture *c, struct rh_capture_filter *filter);
/* Placeholders for literals and parameters, no COPY data: nothing of it is replayed. */
void rh_wire_capture_redact(struct rh_wire_capture *c);
/* After the last connection was closed. */
void rh_wire_capture_free(struct rh_wire_capture *c);
void rh_wire_capture_tcp_sink(struct rh_wire_capture *c, struct rh_tcp_sink *sink);
/* The last records, about the capture itself.  0, or -1 with the first error of the sink; after it
 * nothing more was written. */
int rh_wire_capture_finish(struct rh_wire_capture *c, int64_t time_ns, struct rh_error *err);
/* The same error, at any time. */
int rh_wire_capture_check(const struct rh_wire_capture *c, struct rh_error *err);
/* Valid as long as the capture; filled before the first session is told. */
const struct rh_wire_server *rh_wire_capture_server(const struct rh_wire_capture *c);
/* The counts that all captures have, brought up to date. */
struct rh_capture_stats *rh_wire_capture_stats(struct rh_wire_capture *c);
const struct rh_wire_capture_counts *rh_wire_capture_counts(const struct rh_wire_capture *c);

#endif
