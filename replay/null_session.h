/*
 * replay/null_session.h
 *
 * One connection of the null server as a pure function: bytes of the client in, bytes of the
 * server out.  It never waits and knows no socket; where an answer has to wait, or would be too
 * much for one buffer, it stops and says so.
 *
 * Protocol 3.0 and 3.2: logins by trust, CancelRequest, simple and extended queries with row
 * limits, COPY, function calls, the transaction's status, errors that skip to the next Sync.
 * TLS and GSS encryption are refused.  Of a text the first RH_NULL_TEXT_MAX bytes count.
 */
#ifndef RH_REPLAY_NULL_SESSION_H
#define RH_REPLAY_NULL_SESSION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/buf.h"
#include "common/map.h"
#include "common/sql_class.h"
#include "formats/pg_scan.h"
#include "replay/null_answer.h"
#include "replay/null_options.h"

enum {
    RH_NULL_TEXT_MAX = 1024 * 1024,
    RH_NULL_OUT_HIGH = 64 * 1024, /* a session stops answering when out holds as much */
    /* A row may come on top of it. */
    RH_NULL_OUT_MAX = RH_NULL_OUT_HIGH + 2 * RH_NULL_ROW_BYTES_MAX,
    RH_NULL_KEY_MAX = 32,
    RH_NULL_OBJECTS_MAX = 100000, /* named prepared statements, or portals, of a session */
};

enum rh_null_turn {
    RH_NULL_READS,   /* it takes more bytes */
    RH_NULL_WRITES,  /* it has more to say: write what is in out, then resume */
    RH_NULL_WAITS,   /* resume after delay_ns, or once it is cancelled */
    RH_NULL_CANCELS, /* the client asked for the cancel of another session; nothing will follow */
    RH_NULL_ENDS,    /* write what is in out, then close */
};

enum rh_null_phase { RH_NULL_STARTUP, RH_NULL_COMMANDS, RH_NULL_COPYING, RH_NULL_ENDED };

/* A prepared statement; what its text asked for is known, the text is not kept. */
struct rh_null_prepared {
    struct rh_null_answer answer;
    bool exists;
    uint32_t param_count;
    uint32_t type_count;
    uint32_t *types; /* as Parse gave them; NULL: it gave none */
};

struct rh_null_portal {
    struct rh_null_answer answer;
    bool exists;
    bool is_begun;
    bool is_done;
    uint64_t left;        /* rows not sent yet */
    uint64_t binary_mask; /* of the columns */
};

enum rh_null_stage {
    RH_NULL_IDLE,
    RH_NULL_BEGUN,   /* the answer has not begun; it may have to wait */
    RH_NULL_DUE,     /* it has waited */
    RH_NULL_SENDING, /* rows, or COPY data */
    RH_NULL_TAKING,  /* COPY data */
};

/* The command that runs. */
struct rh_null_work {
    enum rh_null_stage stage;
    struct rh_null_answer answer;
    struct rh_null_portal *portal; /* NULL: of a simple query */
    uint64_t left;                 /* rows of this answer not sent yet */
    uint64_t count;                /* sent, or lines taken */
    bool suspends;                 /* the row limit ends it */
    bool is_cancelled;
};

struct rh_null_counts {
    uint64_t statements; /* commands answered, failed ones included */
    uint64_t errors;
    uint64_t rows;
};

struct rh_null_session {
    const struct rh_null_options *options;
    struct rh_null_counts *counts;
    uint32_t pid;
    uint64_t serial; /* the cancel key comes from it */
    double error_debt;
    bool is_refused; /* set by the caller: the login is answered with 53300 */

    enum rh_null_phase phase;
    struct rh_pg_scan scan;
    char status;   /* 'I', 'T', 'E' */
    bool skipping; /* to the next Sync */

    /* A simple query: the commands that are still to be answered. */
    bool in_query;
    bool is_empty; /* no command was found yet */
    struct rh_sql_commands commands;
    struct rh_buf rest; /* their text, once the query had to stop */

    struct rh_null_work work;
    int64_t delay_ns; /* RH_NULL_WAITS */

    struct rh_null_prepared unnamed_prepared;
    struct rh_null_portal unnamed_portal;
    struct rh_map prepared; /* hash of the name -> struct rh_null_prepared */
    struct rh_map portals;  /* -> struct rh_null_portal */

    /* COPY from the client: the message under way. */
    uint8_t copy_head[5];
    uint8_t copy_head_len;
    uint32_t copy_left;

    /* RH_NULL_CANCELS */
    uint32_t cancel_pid;
    uint32_t cancel_key_len; /* above RH_NULL_KEY_MAX: no key of ours */
    char cancel_key[RH_NULL_KEY_MAX];
};

/* options and counts stay as long as the session. */
void rh_null_session_init(struct rh_null_session *s, const struct rh_null_options *options,
                          struct rh_null_counts *counts, uint32_t pid, uint64_t serial);
void rh_null_session_release(struct rh_null_session *s);

/*
 * Take bytes of the client and append the answers to out, whose maximum is RH_NULL_OUT_MAX and
 * which the caller empties between the calls.  *used is less than n if it returns anything but
 * RH_NULL_READS: the rest is to be given again once it reads.
 */
enum rh_null_turn rh_null_session_take(struct rh_null_session *s, const char *data, size_t n,
                                       size_t *used, struct rh_buf *out);
/* Go on after RH_NULL_WRITES or RH_NULL_WAITS. */
enum rh_null_turn rh_null_session_resume(struct rh_null_session *s, struct rh_buf *out);
/* The command that runs fails with 57014 when the session is resumed; false: none runs. */
bool rh_null_session_cancel(struct rh_null_session *s);
/* Whether a CancelRequest with this key means this session. */
bool rh_null_session_has_key(const struct rh_null_session *s, struct rh_span key);

#endif
