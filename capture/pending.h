/*
 * capture/pending.h
 *
 * The one statement of a session that log records are still adding to.  One execution may be logged
 * by one to four records (parse, bind, execute, duration); what they tell is gathered here.  Its
 * bytes are copied into a buffer of its own, and pendings are reused, so nothing is allocated per
 * statement.
 */
#ifndef RH_CAPTURE_PENDING_H
#define RH_CAPTURE_PENDING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "capture/log_entry.h"
#include "formats/record.h"

enum rh_pending_stage {
    RH_PENDING_PARSED,  /* parse was logged */
    RH_PENDING_BOUND,   /* bind was logged */
    RH_PENDING_RUNNING, /* its beginning was logged */
    RH_PENDING_DONE,    /* its end was logged: a duration or an error */
};

/* A piece of the buffer; len 0 and no value differ by `set`. */
struct rh_piece {
    uint32_t at;
    uint32_t len;
    bool set;
};

struct rh_log_session;

struct rh_pending {
    enum rh_pending_stage stage;
    enum rh_kind kind;
    bool has_parse;   /* a parse record belongs to it */
    bool parse_named; /* `label` is the statement's name alone so far */
    bool may_cut;
    bool from_context; /* the parameters are those of an error's context */
    bool ended_known;  /* a simple statement's end was logged: end_lxid tells whether a transaction
                          goes on */
    bool gap;          /* log lines were lost since it began */
    bool written;      /* its record went out before its outcome was known */
    enum rh_log_idle idle; /* what its session was when it began, where that was logged */
    uint32_t flags;        /* enum rh_record_flag */
    uint32_t sqlstate;
    uint64_t text_hash; /* if written */
    uint64_t lxid;
    uint64_t end_lxid;
    int64_t start_ns;
    int64_t stamp_ns;    /* of the last record that belongs to it */
    int64_t done_ns;     /* RH_TIME_UNKNOWN */
    int64_t duration_ns; /* of a simple statement, -1 */
    int64_t parse_ns;
    int64_t bind_ns;
    int64_t execute_ns;
    struct rh_piece text;   /* not set: the log does not tell it */
    struct rh_piece label;  /* NAME or NAME/PORTAL as logged, "<unnamed>" included */
    struct rh_piece params; /* the list, from "$1" on */
    struct rh_piece prepare;
    struct rh_piece application; /* where it is not the session's */
    uint32_t name_len;           /* of the statement's name in label; 0: not known */
    char *bytes;
    size_t len;
    size_t cap;
    struct rh_pending *free_next; /* in the pool */
    /* Among those that are DONE and wait for what follows, in order of their ends. */
    struct rh_log_session *session;
    struct rh_pending *held_prev;
    struct rh_pending *held_next;
};

struct rh_pending_pool {
    struct rh_pending *free;
    size_t bytes; /* in the buffers of those that are in use */
};

void rh_pending_pool_init(struct rh_pending_pool *pool);
void rh_pending_pool_release(struct rh_pending_pool *pool);
struct rh_pending *rh_pending_get(struct rh_pending_pool *pool, enum rh_kind kind);
void rh_pending_put(struct rh_pending_pool *pool, struct rh_pending *p);

/* Copy s; no value stays not set. */
void rh_pending_store(struct rh_pending_pool *pool, struct rh_pending *p, struct rh_piece *piece,
                      struct rh_span s);
struct rh_span rh_pending_span(const struct rh_pending *p, struct rh_piece piece);

#endif
