/*
 * capture/wire_rotation.h
 *
 * The files of a capture of the wire: one, or by --rotate one after the other.  T.trace is followed
 * by T.0001.trace, T.0002.trace and so on.  Each can be replayed alone: a session that goes on is
 * known in the next file with its user, database, prepared statements and settings, marked as
 * joined midway.  It changes files between two transactions; so the file before stays open until
 * the transactions that run are over, RH_ROTATION_GRACE_NS at most.  Sessions and ordinals keep
 * their numbers, so all files together are the whole capture.
 */
#ifndef RH_CAPTURE_WIRE_ROTATION_H
#define RH_CAPTURE_WIRE_ROTATION_H

#include "capture/wire_trace.h"
#include "common/map.h"

#define RH_ROTATION_GRACE_NS (INT64_C(60) * 1000000000)

struct rh_rotation_options {
    const char *path;
    uint64_t bytes;   /* of a file, before the next is begun; 0: any number */
    int64_t every_ns; /* the same by time */
    int64_t seal_ns;  /* so often all is brought to the disk; 0: when there is much of it */
};

struct rh_wire_rotation {
    struct rh_capture_sink sink; /* what puts records in; its context is the rotation */
    struct rh_rotation_options options;
    const struct rh_wire_server *server;
    struct rh_wire_trace files[2];
    struct rh_wire_trace *now;    /* where new sessions go */
    struct rh_wire_trace *before; /* of transactions that are not over; NULL: none */
    char *paths[2];               /* of the two */
    uint32_t count;               /* files begun */
    struct rh_map sessions;       /* number -> where it is */
    uint32_t behind;              /* sessions that are in the file before */
    int64_t begun_ns;             /* the file, by tick()'s clock; RH_TIME_UNKNOWN */
    int64_t sealed_ns;
    bool unsealed;           /* records came since */
    uint64_t finished_bytes; /* of the files that are closed */
};

/* options and what they point to, and server, must live as long. */
int rh_wire_rotation_open(struct rh_wire_rotation *r, const struct rh_rotation_options *options,
                          const struct rh_wire_server *server, struct rh_error *err);
/* What is due at this time, of any clock that goes on: seal, begin another file, end the one
 * before. */
int rh_wire_rotation_tick(struct rh_wire_rotation *r, int64_t now_ns, struct rh_error *err);
/* Written to all files so far. */
uint64_t rh_wire_rotation_bytes(const struct rh_wire_rotation *r);
/* The name of a file, the first one is 0; to be freed. */
char *rh_wire_rotation_name(const char *path, uint32_t number);
/* As rh_wire_trace_finish(), for all that are open. */
int rh_wire_rotation_finish(struct rh_wire_rotation *r, bool stopped_early, struct rh_error *err);
/* The files that are open are removed; none is allowed. */
void rh_wire_rotation_discard(struct rh_wire_rotation *r);
/* After either. */
void rh_wire_rotation_release(struct rh_wire_rotation *r);

#endif
