/*
 * capture/log_session.h
 *
 * The sessions of a log that have not ended, by session id and by process id.
 */
#ifndef RH_CAPTURE_LOG_SESSION_H
#define RH_CAPTURE_LOG_SESSION_H

#include <stdbool.h>
#include <stdint.h>

#include "capture/known_names.h"
#include "capture/log_entry.h"
#include "capture/pending.h"
#include "capture/seen_lines.h"
#include "capture/session_keep.h"
#include "common/map.h"
#include "formats/record.h"

struct rh_log_session {
    uint64_t key;
    int64_t start_s; /* by its id, in seconds since the epoch */
    uint32_t pid;
    uint32_t number; /* in the trace, 0: none yet */
    uint32_t flags;  /* enum rh_session_flag */
    bool has_user;
    bool authorized;
    bool wanted;   /* by the filters on user and database */
    bool written;  /* made known to the sink */
    bool in_block; /* an explicit transaction block is open */
    bool txn_open; /* the next statement belongs to a transaction that has begun */
    bool lost_client;
    struct rh_session_keep keep;
    bool opened_exact; /* opened_ns is the stamp of its connection */
    bool opened_told;  /* its OPEN record is written */
    uint32_t zone;     /* of its start, and that zone's offset */
    int32_t offset_s;
    uint32_t close_sqlstate; /* of its FATAL error, RH_SQLSTATE_UNKNOWN */
    uint64_t txn_lxid;
    uint64_t last_line; /* since it is known; 0: none */
    struct rh_seen_lines seen;
    uint64_t ordinal;
    uint64_t textless;
    uint64_t
        unfinished_ordinal; /* a statement whose record went out before its outcome was known */
    uint64_t errors_unplaced;
    int64_t opened_ns;
    int64_t last_stamp_ns;
    int64_t last_start_ns;
    int64_t last_end_ns;
    struct rh_span user; /* these point into `names` */
    struct rh_span database;
    struct rh_span client;
    struct rh_span application; /* when it opened; no value: not known yet */
    char *names;
    char *application_heap;
    char *current_application; /* what the last record said */
    uint32_t current_application_len;
    uint32_t current_application_cap;
    struct rh_known_names known;
    struct rh_pending *pending;
};

struct rh_log_sessions {
    struct rh_map by_key;
    struct rh_map by_pid;
    struct rh_log_session *last; /* the one found last */
};

void rh_log_sessions_init(struct rh_log_sessions *t);
/* Frees all sessions; their pendings must have been given back. */
void rh_log_sessions_release(struct rh_log_sessions *t);

struct rh_log_session *rh_log_sessions_find(struct rh_log_sessions *t, uint64_t key);
/* The session that a process id stands for; NULL if there is none. */
struct rh_log_session *rh_log_sessions_by_pid(struct rh_log_sessions *t, uint32_t pid);
struct rh_log_session *rh_log_sessions_add(struct rh_log_sessions *t, uint64_t key, uint32_t pid);
void rh_log_sessions_remove(struct rh_log_sessions *t, struct rh_log_session *s);

/* All of them, sorted; to be freed.  Not NULL. */
struct rh_log_session **rh_log_sessions_list(const struct rh_log_sessions *t,
                                             int (*compare)(const void *, const void *));

void rh_log_session_set_names(struct rh_log_session *s, struct rh_span user,
                              struct rh_span database, struct rh_span client);
void rh_log_session_set_application(struct rh_log_session *s, struct rh_span name);
/* Take note of the application_name in a record. */
void rh_log_session_see_application(struct rh_log_session *s, struct rh_span name);
struct rh_span rh_log_session_current_application(const struct rh_log_session *s);

#endif
