/*
 * capture/wire_session.h
 *
 * What the parts of the wire's capture share; not for others.
 */
#ifndef RH_CAPTURE_WIRE_SESSION_H
#define RH_CAPTURE_WIRE_SESSION_H

#include "capture/wire_capture.h"
#include "capture/wire_group.h"
#include "capture/wire_names.h"
#include "common/map.h"
#include "formats/pg_wire.h"

enum { RH_WIRE_KEY_MAX = 256, RH_WIRE_LOSS_KINDS = 4 };

struct rh_wire_capture {
    const struct rh_capture_sink *sink;
    struct rh_wire_limits limits;
    struct rh_wire_capture_counts counts;
    struct rh_wire_server server;
    uint32_t last_number;
    size_t waiting_bytes;         /* of all sessions */
    struct rh_map keys;           /* hash of address, pid and key -> session */
    struct rh_wire_group *unused; /* groups for the next messages */
    struct rh_buf masked;
    struct rh_param *params; /* of the record at hand */
    uint32_t param_cap;
    uint16_t *formats;
    uint32_t format_cap;
    bool failed;
    struct rh_error error;
};

/* One connection. */
struct rh_wire_session {
    struct rh_wire_capture *capture;
    struct rh_tcp_connection_info info;
    struct rh_pg_wire wire;
    uint32_t number; /* 0: not written */
    uint32_t flags;
    uint64_t ordinal;
    bool authorized;
    bool terminated; /* the client said so */
    bool had_startup;
    uint32_t fatal;            /* SQLSTATE with which the server ended it, RH_SQLSTATE_UNKNOWN */
    struct rh_buf startup;     /* the body of the startup message */
    struct rh_buf application; /* as last reported */
    bool application_changed;  /* it is not that of the startup */
    uint32_t pid;
    uint8_t key[RH_WIRE_KEY_MAX];
    uint32_t key_len;
    struct rh_wire_names names;
    struct rh_wire_group *first;
    struct rh_wire_group *last;
    struct rh_wire_group *answering; /* the one with the message that was answered last */
    bool names_unsure;               /* joined midway, or some of what it said is missing */
    size_t waiting_bytes;
    uint64_t lost[RH_WIRE_LOSS_KINDS]; /* before it was written */
    uint64_t not_prepared;             /* executions of what was prepared before */
    int64_t last_ns;
    bool in_transaction;
    bool in_block;
};

/* wire_session.c */
void rh_wire_session_event(void *context, const struct rh_pg_wire_event *ev);
/* The session's end; groups that still wait are written. */
void rh_wire_session_end(struct rh_wire_session *s, enum rh_tcp_end how);

/* wire_resolve.c: what the answers make of names. */
void rh_wire_resolve(struct rh_wire_session *s, struct rh_wire_group *g);
void rh_wire_apply(struct rh_wire_session *s, struct rh_wire_group *g,
                   const struct rh_pg_wire_event *ev);

/* wire_record.c */
/* Make the session known to the sink, if it is not. */
void rh_wire_tell_session(struct rh_wire_session *s);
void rh_wire_put_session(struct rh_wire_session *s, int64_t closed_ns);
void rh_wire_put_record(struct rh_wire_session *s, struct rh_record *r);
void rh_wire_put_gap(struct rh_wire_session *s, const char *what, uint64_t count);
/* Write the group's record, or, if that was written early, its outcome; and its COPY data. */
void rh_wire_write_group(struct rh_wire_session *s, struct rh_wire_group *g, uint8_t txn);
/* Only what there is of the COPY data. */
void rh_wire_write_copy(struct rh_wire_session *s, struct rh_wire_group *g);
/* All that waits is written without outcomes; release: and its bytes are given up, to bound memory.
 */
void rh_wire_write_early(struct rh_wire_session *s, bool release);

/* wire_txn.c: the marks of a group, and the session's transaction behind it.  ready: status of the
 * ReadyForQuery that follows it, 0 for none. */
uint8_t rh_wire_txn(struct rh_wire_session *s, const struct rh_wire_group *g, char ready);

#endif
