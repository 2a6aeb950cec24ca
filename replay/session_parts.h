/*
 * replay/session_parts.h
 *
 * What the source files of a session share among themselves: session.c opens and ends it,
 * session_feed.c has its records, session_io.c its bytes, session_cancel.c its cancel requests,
 * session_play.c decides, session_order.c has it wait for others, session_lost.c brings it back;
 * step_play.h plays what was captured from the wire.
 */
#ifndef RH_REPLAY_SESSION_PARTS_H
#define RH_REPLAY_SESSION_PARTS_H

#include "replay/session.h"
#include "replay/worker.h"

/* How a session leaves its connection. */
enum rh_parting {
    RH_PARTING_TERMINATE, /* says Terminate, as far as nothing half sent is before it */
    RH_PARTING_SILENT,    /* what is put together goes out, then it closes without a word */
    RH_PARTING_RESET,     /* the same by a reset */
    RH_PARTING_LOST,      /* nothing matters any more */
};

/* session.c: the connection is usable; clock or records may still be missing. */
void rh_replay_session_ready(struct rh_replay_session *s, int64_t now_ns);
/* End with a reason for what was not sent (NONE: all was), and say how in the run.  A record that
 * was sent and not answered is lost. */
void rh_replay_session_end(struct rh_replay_session *s, enum rh_reason rest, const char *how);
/* Leave the connection, if there is one. */
void rh_replay_session_disconnect(struct rh_replay_session *s, enum rh_parting how);
void rh_replay_session_drop_state(struct rh_replay_session *s);
/* Have a connection made. */
void rh_replay_session_connect(struct rh_replay_session *s);
int64_t rh_replay_session_wall_ns(const struct rh_replay_session *s, int64_t mono_ns);

/* session_lost.c */
void rh_replay_session_init_reconnect(struct rh_replay_session *s);
/* The connection broke.  s->conn is NULL afterwards, and the session has ended or is LOST. */
void rh_replay_session_lose(struct rh_replay_session *s, const char *how);
/* While LOST: pass over what is not sent, as far as it is here; then wait, or connect. */
void rh_replay_session_recover(struct rh_replay_session *s);
/* The time of its next record comes near. */
void rh_replay_session_queue(struct rh_replay_session *s);
/* A connect failed that may be tried again: true if it will be. */
bool rh_replay_session_retry(struct rh_replay_session *s, const struct rh_connect_request *request);
/* A session that was lost is refused now. */
void rh_replay_session_give_up(struct rh_replay_session *s, const char *why);
/* It has a connection again. */
void rh_replay_session_reopened(struct rh_replay_session *s);

/* session_feed.c */
void rh_replay_session_ask(struct rh_replay_session *s, int64_t now_ns);
/* The next record, or NULL: the feeder owes it, or is_exhausted. */
struct rh_record *rh_replay_session_current(struct rh_replay_session *s);
/* There is none, since the trace cannot be read behind the one before. */
bool rh_replay_session_is_cut_off(const struct rh_replay_session *s);
/* The record behind it, if it is here already. */
struct rh_record *rh_replay_session_peek(struct rh_replay_session *s);
/* Whether there are, or may be, records that are not done. */
bool rh_replay_session_has_rest(const struct rh_replay_session *s);
/* The current record has its outcome and its fate. */
void rh_replay_session_advance(struct rh_replay_session *s, struct rh_record *r);
/* Ask what the session has made of itself before s->restore_before, unless the feeder owes
 * something else. */
void rh_replay_session_ask_state(struct rh_replay_session *s);
/* Have more delivered, unless that is asked for or there is no more. */
void rh_replay_session_ask_ahead(struct rh_replay_session *s);
/* All of the current batch is done: the one behind it, if it is here, becomes the current one. */
void rh_replay_session_next_batch(struct rh_replay_session *s);
/* Give back one of those ahead. */
void rh_replay_session_drop_ahead(struct rh_replay_session *s, struct rh_batch *batch);
/* What of the current batch is done is recorded before what is logged next. */
void rh_replay_session_hand_in_done(struct rh_replay_session *s);
/* Hand in what is done and give back the rest. */
void rh_replay_session_drop_batches(struct rh_replay_session *s);
/* An OPEN or CLOSE record of this moment; with `how` an OPEN is a re-opening. */
void rh_replay_session_log(struct rh_replay_session *s, enum rh_kind kind, const char *how);

/* session_io.c */
int rh_replay_session_watch(struct rh_replay_session *s, struct rh_error *err);
/* Send worker->out as a new exchange (or as a part of the one under way).  -1: the connection is
 * gone. */
int rh_replay_session_send(struct rh_replay_session *s);
/* Its descriptor is ready: read, and go on. */
void rh_replay_session_read(struct rh_replay_session *s);
/* The same with what the round read: result as of rh_conn_received(), RH_ROUND_INPUT_BYTES at
 * most. */
void rh_replay_session_received(struct rh_replay_session *s, const char *data, ssize_t result,
                                int64_t now_ns);
/* The round sent its bytes: result as of rh_conn_sent(). */
void rh_replay_session_sent(struct rh_replay_session *s, struct rh_span bytes, ssize_t result);

/* session_cancel.c: the record goes out now; arm the timer for its cancel, if it has one. */
void rh_replay_session_plan_cancel(struct rh_replay_session *s, const struct rh_record *r,
                                   int64_t sent_ns);
/* A batch came: the record behind the one that runs may be its cancel. */
void rh_replay_session_replan_cancel(struct rh_replay_session *s);
/* The session ends, and leaves a request that is under way. */
void rh_replay_session_drop_cancel(struct rh_replay_session *s);

/* session_order.c: whether the transaction of r, which is due, may begin.  False: it waits for its
 * turn, and the timer is set for when it has waited enough. */
bool rh_replay_session_may_begin(struct rh_replay_session *s, const struct rh_record *r);
/* Records up to this one are done: transactions that ended with them have ended. */
void rh_replay_session_end_txns(struct rh_replay_session *s, uint64_t ordinal);
/* The session ends: it waits no more, and what it has not begun will never be. */
void rh_replay_session_leave_order(struct rh_replay_session *s);

/* session_play.c: the exchange under way has ended. */
void rh_replay_session_finish_exchange(struct rh_replay_session *s, int64_t now_ns);
/* Go to the record behind the transaction that was lost; NULL as of rh_replay_session_current(). */
const struct rh_record *rh_replay_session_pass_over(struct rh_replay_session *s);
/* When r was planned; monotonic, and the clock has started. */
int64_t rh_replay_session_planned_ns(const struct rh_replay_session *s, const struct rh_record *r);
/* r goes out now: production's outcome gives way to the replay's. */
void rh_replay_session_stamp(struct rh_replay_session *s, struct rh_record *r, int64_t now_ns);
/* r has its fate, and is not sent. */
void rh_replay_session_stamp_passed(struct rh_replay_session *s, struct rh_record *r);
/* All records are done: end when it is time. */
void rh_replay_session_drain(struct rh_replay_session *s);
/* When r is due; monotonic, and the clock has started. */
int64_t rh_replay_session_due_ns(const struct rh_replay_session *s, const struct rh_record *r);
/* Restore the next item of the state, or become ready. */
void rh_replay_session_restore(struct rh_replay_session *s, int64_t now_ns);
/* The current record will not get an answer. */
void rh_replay_session_lose_record(struct rh_replay_session *s, int64_t now_ns);
void rh_replay_session_fire(struct rh_timer *timer, int64_t now_ns);

#endif
