/*
 * replay/session.h
 *
 * One session of the workload, played on a connection of its own.  Everything runs in its worker's
 * thread.
 *
 *   CONNECTING -> RESTORING -> IDLE <-> BUSY        IDLE -> DRAINED -> ENDED
 *
 * A connection that is lost is made again behind the transaction that it was lost in:
 *
 *   RESTORING, IDLE, BUSY -> LOST -> QUEUED -> CONNECTING -> RESTORING
 *
 * and from anywhere to ENDED, when the connection is refused or lost for good or the replay is
 * stopped.
 */
#ifndef RH_REPLAY_SESSION_H
#define RH_REPLAY_SESSION_H

#include <stdbool.h>
#include <stdint.h>

#include "common/loop.h"
#include "formats/pg_scan.h"
#include "replay/batch.h"
#include "replay/cancel.h"
#include "replay/conn.h"
#include "replay/exchange.h"
#include "replay/feeder.h"
#include "replay/order.h"
#include "replay/prepared.h"
#include "replay/reconnector.h"
#include "replay/request.h"

struct rh_worker;
struct rh_connect_request;
struct rh_step_play;

enum rh_replay_state {
    RH_REPLAY_CONNECTING,
    RH_REPLAY_RESTORING, /* connected; settings and prepared statements of before --from, or of the
                            connection that was lost, are made */
    RH_REPLAY_IDLE,      /* the next record waits for its time, or for the feeder */
    RH_REPLAY_BUSY,      /* an exchange is under way */
    RH_REPLAY_DRAINED,   /* all records are done; waits for its time to close */
    RH_REPLAY_LOST,      /* no connection: the rest of its transaction is passed over, and the time
                            comes near for what is behind it */
    RH_REPLAY_QUEUED,    /* waits for its turn to connect once more */
    RH_REPLAY_ENDED,     /* waits for what others still have of it */
};

/* What the exchange under way is for. */
enum rh_replay_purpose {
    RH_PURPOSE_RECORD,  /* the current record */
    RH_PURPOSE_PREPARE, /* the PREPARE of the current record */
    RH_PURPOSE_SYNC,    /* the end of a pipeline whose last record is not sent */
    RH_PURPOSE_RESTORE, /* item restored_count of the state */
};

struct rh_replay_session {
    struct rh_worker *worker;
    struct rh_plan_session *planned;
    struct rh_replay_session *prev; /* in the worker's list */
    struct rh_replay_session *next;

    enum rh_replay_state state;
    enum rh_replay_purpose purpose;
    bool is_asked;          /* the feeder owes a batch */
    bool is_exhausted;      /* the current batch, or the one that was, is the last */
    bool is_reported;       /* the opener knows that it is ready, or will never be */
    bool in_pipeline;       /* an implicit transaction is open, without its Sync */
    bool owes_sync;         /* ... and is to be ended before anything else is sent */
    bool skips_rest;        /* an error ended the pipeline: its other records are not sent */
    bool was_cancelled;     /* a CancelRequest went out for the current record */
    bool concerns_prepared; /* the current text may change what is prepared */
    bool in_transaction;    /* by the marks of the last record that is done */
    bool is_reopening;      /* it had a connection before: its state is to be restored */
    bool has_sent;          /* a record, on this connection */
    bool reads_much;        /* large answers come: it reads for itself, not with the round */
    bool has_state;         /* the state to restore is here */

    struct rh_conn *conn;
    struct rh_connect_request *connect; /* while connecting */
    struct rh_reconnect reconnect;
    char *lost_how;    /* how its last connection ended */
    char *refused_how; /* why the last try to make one failed */
    uint32_t reopened_count;
    struct rh_watch watch;
    struct rh_timer timer; /* IDLE: next record; BUSY: cancel; DRAINED: close */
    struct rh_task again;  /* there is more to read than one turn allows */
    struct rh_pg_scan scan;
    struct rh_exchange exchange;
    struct rh_request request;
    struct rh_prepared prepared;
    struct rh_step_play *steps; /* of a capture from the wire: plays its records; else NULL */

    struct rh_cancel cancel; /* while it is active nothing is sent: it may hit anything */
    uint32_t cancel_tries;   /* for the current exchange */
    int64_t cancel_due_ns;   /* INT64_MAX: the current record has none */
    int64_t sent_ns;         /* monotonic: the current record was sent */
    int64_t captured_ns;     /* its start in the trace */

    struct rh_feed feed;
    int64_t asked_ns;
    int received_count; /* records of the batch that came last */
    struct rh_batch *batch;
    struct rh_batch *ahead; /* those behind it, in order; of a log one at most */
    struct rh_batch *ahead_last;
    struct rh_session_state *state_to_restore;
    uint32_t restored_count;
    uint64_t restore_before; /* the ordinal, of a re-opening */

    uint32_t txns_begun; /* by --order, of its transactions: those that wait for nobody any more */
    uint32_t txns_ended;
    struct rh_order_wait order_wait;
    int64_t order_since_ns;  /* monotonic: it waits for its turn; 0: it does not */
    int64_t order_waited_ns; /* by the current record */

    int64_t ready_ns;         /* monotonic: the last answer ended, or it connected */
    bool has_answered;        /* ... and it was an answer */
    uint64_t last_ordinal;    /* of the records that are done */
    uint64_t prepare_ordinal; /* the record for which PREPARE was sent last */
};

/* Make it and begin to connect. */
void rh_replay_session_new(struct rh_worker *w, struct rh_plan_session *ps);
void rh_replay_session_free(struct rh_replay_session *s);

/* Go on as far as possible without waiting: skip what is not sent, send what is due, or set the
 * timer. */
void rh_replay_session_step(struct rh_replay_session *s);

/* A stop was asked for: end, unless a statement runs. */
void rh_replay_session_stop(struct rh_replay_session *s);
/* Cancel what runs. */
void rh_replay_session_cancel(struct rh_replay_session *s);
/* Leave what runs. */
void rh_replay_session_abort(struct rh_replay_session *s);

#endif
