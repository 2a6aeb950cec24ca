/*
 * capture/wire_session.h
 *
 * What the parts of the wire's capture share; not for others.
 */
#ifndef RH_CAPTURE_WIRE_SESSION_H
#define RH_CAPTURE_WIRE_SESSION_H

#include "capture/redactor.h"
#include "capture/session_keep.h"
#include "capture/wire_capture.h"
#include "capture/wire_group.h"
#include "capture/wire_names.h"
#include "common/map.h"
#include "formats/pg_wire.h"

enum { RH_WIRE_KEY_MAX = 256, RH_WIRE_LOSS_KINDS = 4, RH_WIRE_ENDED_KEYS = 1024 };

/* By the filters, as far as the session is known. */
enum rh_wire_unwanted {
    RH_WIRE_WANTED,
    RH_WIRE_UNWANTED,
    RH_WIRE_UNWANTED_UNKNOWN, /* joined midway: its user and database are not known */
};

struct rh_wire_capture {
    const struct rh_capture_sink *sink;
    struct rh_wire_limits limits;
    struct rh_wire_capture_counts counts;
    struct rh_wire_server server;
    uint32_t last_number;
    size_t waiting_bytes; /* of all sessions */
    struct rh_wire_names_room names_room;
    struct rh_map keys;                      /* hash of address, pid and key -> session */
    uint64_t ended_keys[RH_WIRE_ENDED_KEYS]; /* the same of the sessions that ended last, a ring */
    uint32_t next_ended_key;
    struct rh_wire_group *unused;     /* groups for the next messages */
    struct rh_capture_filter *filter; /* NULL: all is wanted */
    bool is_partial;                  /* statements may be left out of a session that is kept */
    bool redact;
    struct rh_redactor redactor;
    struct rh_buf redacted;
    struct rh_capture_stats stats; /* errors by their state */
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
    struct rh_buf application_next; /* reported since the last ReadyForQuery */
    bool application_is_new;
    bool application_changed; /* it is not that of the startup */
    uint32_t pid;
    uint8_t key[RH_WIRE_KEY_MAX];
    uint32_t key_len;
    uint64_t key_hash; /* where it is in the keys of the capture, whatever pid becomes since */
    struct rh_wire_names names;
    struct rh_wire_group *first;
    struct rh_wire_group *last;
    struct rh_wire_group *answering; /* the one with the message that was answered last */
    bool was_ready;                  /* a ReadyForQuery was seen */
    bool names_unsure;               /* joined midway, or some of what it said is missing */
    size_t waiting_bytes;
    uint64_t lost[RH_WIRE_LOSS_KINDS]; /* before it was written */
    uint64_t not_prepared;             /* executions of what was prepared before */
    int64_t last_ns;
    bool in_transaction;
    bool in_block;

    /* Of the filters. */
    enum rh_wire_unwanted unwanted;
    struct rh_session_keep keep;
    bool last_kept;           /* the statement before */
    bool has_unwritten;       /* names have statements whose Parse was left out */
    bool kept_unsynced;       /* what was written ends without a Sync */
    bool kept_in_transaction; /* as what was written says */
};

/* wire_session.c */
void rh_wire_session_event(void *context, const struct rh_pg_wire_event *ev);
/* The session's end; groups that still wait are written. */
void rh_wire_session_end(struct rh_wire_session *s, enum rh_tcp_end how);

/* wire_resolve.c: what the answers make of names. */
void rh_wire_resolve(struct rh_wire_session *s, struct rh_wire_group *g);
void rh_wire_apply(struct rh_wire_session *s, struct rh_wire_group *g,
                   const struct rh_pg_wire_event *ev);
/* Its text has an EXECUTE of what is not known to be prepared.  One that has a PREPARE or
 * DEALLOCATE too has not: which came first is not looked at. */
bool rh_wire_executes_unknown(const struct rh_wire_session *s, const struct rh_wire_group *g);

/* wire_keep.c: what the filters leave. */
/* Whether the session is wanted, by what is known when it begins, and by its startup message. */
void rh_wire_keep_connection(struct rh_wire_session *s);
void rh_wire_keep_startup(struct rh_wire_session *s);
/* What happened last is in the window of time that is wanted. */
bool rh_wire_is_in_window(const struct rh_wire_session *s);
/* False: the group is left out.  Its record, without parameters yet, may get other marks. */
bool rh_wire_keep_group(struct rh_wire_session *s, const struct rh_wire_group *g,
                        struct rh_record *r);
/* Records that a group which is kept needs in front of it. */
void rh_wire_keep_before(struct rh_wire_session *s, const struct rh_wire_group *g,
                         const struct rh_record *r);
void rh_wire_keep_after(struct rh_wire_session *s, const struct rh_wire_group *g,
                        const struct rh_record *r);

/* wire_record.c */
/* What the startup message says; to->startup is settings, up to max of them. */
void rh_wire_set_startup(const struct rh_wire_session *s, struct rh_session *to,
                         struct rh_setting *settings, uint32_t max);
/* The types of a Parse without Bind stand as parameters without values, in c->params. */
void rh_wire_set_types(struct rh_wire_capture *c, struct rh_span types, struct rh_record *r);
/* A record with an ordinal, which it gets. */
void rh_wire_put_statement(struct rh_wire_session *s, struct rh_record *r);
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
/* At the first ReadyForQuery of a session joined midway, with its status, before its groups up to
 * `answered` get their marks: was it joined within a transaction?  A COMMIT without a BEGIN is
 * taken for the end of one. */
void rh_wire_txn_join(struct rh_wire_session *s, uint64_t answered, char ready);

#endif
