/*
 * capture/log_entry.h
 *
 * One record of a server log, whatever the format it was read from.  Spans live until the next one
 * is read.
 */
#ifndef RH_CAPTURE_LOG_ENTRY_H
#define RH_CAPTURE_LOG_ENTRY_H

#include <stdbool.h>
#include <stdint.h>

#include "common/span.h"
#include "formats/csvlog.h"
#include "formats/log_time.h"
#include "formats/logmsg.h"

/* The process display (csv: command tag) at the start of a simple statement is one of these. */
enum rh_log_idle {
    RH_LOG_BUSY,          /* any other display */
    RH_LOG_IDLE,          /* outside a transaction block */
    RH_LOG_IDLE_IN_BLOCK, /* "idle in transaction", aborted or not */
};

struct rh_log_entry {
    struct rh_log_stamp stamp;
    struct rh_log_stamp session_start;
    bool has_session_start;
    uint64_t session_key;    /* start and process id, as the session id has them */
    int64_t session_epoch_s; /* seconds since the epoch of the session's start */
    uint32_t pid;
    uint64_t line;       /* the session's own count of log lines */
    uint64_t lxid;       /* the local part of the virtual transaction id; 0: none */
    struct rh_span user; /* no value: a background process, or before authentication */
    struct rh_span database;
    struct rh_span client; /* "host:port", "[local]"; no value: a background process */
    struct rh_span tag;
    enum rh_log_idle idle;
    enum rh_log_severity severity;
    struct rh_span sqlstate;
    struct rh_span message;
    struct rh_span detail;
    struct rh_span context;
    struct rh_span query; /* STATEMENT; no value where none was logged */
    struct rh_span application;
    struct rh_span backend_type; /* no value before 13 */
    bool may_cut;                /* a server of this age (13 and newer) can cut parameters */
};

enum {
    RH_LOG_HEADS = 1024, /* as the hash of rh_log_heads_slot() has */
    RH_LOG_HEAD_MIN = 4,
    RH_LOG_HEAD_MAX = 192,
    RH_LOG_HEAD_LENS = 8,
    RH_LOG_TAIL_MAX = 192,
    RH_LOG_NAME_MAX_BYTES = 1024, /* of user, database, client, application: servers cut at 63 */
};

/* Of a record's tail, from the detail's end on. */
struct rh_log_piece {
    uint16_t at;
    uint16_t len;
    bool set;
};

/*
 * The columns from user to session id are the same in all records of a session, once it has logged
 * in, and so is its start: what they say is kept by their bytes.  What follows the detail, the
 * query id left out, is mostly the same too; log_repeat.h is for it.
 */
struct rh_log_head {
    uint32_t len; /* 0: nothing kept */
    uint32_t start_len;
    uint32_t tail_len; /* 0: not kept */
    uint32_t pid;
    bool has_session_start;
    bool has_query_id; /* behind the tail */
    bool may_cut;
    uint64_t session_key;
    int64_t session_epoch_s;
    struct rh_log_stamp session_start;
    struct rh_span user; /* these point into text */
    struct rh_span database;
    struct rh_span client;
    struct rh_log_piece application;
    struct rh_log_piece backend_type;
    char bytes[RH_LOG_HEAD_MAX]; /* as in the log */
    char start[40];
    char tail[RH_LOG_TAIL_MAX];
    char text[RH_LOG_HEAD_MAX];
};

struct rh_log_heads {
    uint32_t stamp_len;              /* of the stamp read last */
    uint16_t lens[RH_LOG_HEAD_LENS]; /* of heads, those of late first */
    struct rh_log_head slots[RH_LOG_HEADS];
};

/* By the last digits of the process id, which differ most.  len >= RH_LOG_HEAD_MIN. */
static inline struct rh_log_head *rh_log_heads_slot(struct rh_log_heads *heads, const char *bytes,
                                                    size_t len)
{
    uint32_t tail;
    memcpy(&tail, bytes + len - sizeof tail, sizeof tail);
    return &heads->slots[tail * UINT32_C(2654435761) >> 22];
}

void rh_log_entry_use_head(struct rh_log_entry *e, const struct rh_log_head *h);
enum rh_log_idle rh_log_idle_of(struct rh_span tag);
bool rh_log_entry_may_cut(const struct rh_csvlog_row *row);

/* Read the fields of a csvlog row (they are folded in its window).  RH_CSVLOG_OK, or
 * RH_CSVLOG_NO_STAMP or RH_CSVLOG_FIELD when they cannot be a server's. */
enum rh_csvlog_fault rh_log_entry_from_csv(struct rh_log_entry *e, const struct rh_csvlog_row *row,
                                           struct rh_log_clock *clock,
                                           struct rh_logmsg_reader *messages,
                                           struct rh_log_heads *heads);

#endif
