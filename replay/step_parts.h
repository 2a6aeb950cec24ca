/*
 * replay/step_parts.h
 *
 * What the source files of step_play.h share among themselves: step_play.c moves the cursor,
 * step_send.c sends, step_copy.c sends COPY data, step_answer.c takes answers and ends records,
 * step_cancel.c sends cancel requests.
 */
#ifndef RH_REPLAY_STEP_PARTS_H
#define RH_REPLAY_STEP_PARTS_H

#include "replay/session_parts.h"
#include "replay/step_message.h"
#include "replay/step_play.h"

/* How the cursor's record went on. */
enum rh_step_turn {
    RH_STEP_GOES_ON,
    RH_STEP_WAITS, /* for an answer, its time, the feeder, the socket or the cancel */
    RH_STEP_AT_END,
};

/* Messages sent whose answers have not ended. */
static inline uint32_t rh_step_outstanding(const struct rh_step_play *p)
{
    return rh_pg_wire_queue_awaits(&p->wire.queue);
}

/* step_play.c */
/* The record at the cursor; NULL: the feeder owes it, or *at_end. */
struct rh_record *rh_step_cursor(struct rh_step_play *p, bool *at_end);
/* The record behind it, as above. */
struct rh_record *rh_step_peek(struct rh_step_play *p, bool *at_end);
void rh_step_move_on(struct rh_step_play *p);

/* step_send.c */
/* Send the record at the cursor, as far as it may be sent now. */
enum rh_step_turn rh_step_send_record(struct rh_step_play *p, struct rh_record *r);
/* Send r's steps from *step on, for f (NULL: for no record), up to COPY data. */
enum rh_step_turn rh_step_send_steps(struct rh_step_play *p, struct rh_step_flight *f,
                                     struct rh_record *r, uint32_t *step);
/* A record that is not sent; of an open series its Sync is. */
void rh_step_pass_record(struct rh_step_play *p, struct rh_record *r);
/* What is put together goes out.  False: the connection is gone. */
bool rh_step_flush(struct rh_step_play *p);
/* A message is in worker->out: have its answer tracked. */
void rh_step_ask(struct rh_step_play *p, struct rh_step_flight *f, char type);

/* step_copy.c */
/* COPY data at the cursor, and the steps behind it. */
enum rh_step_turn rh_step_send_copy(struct rh_step_play *p, struct rh_record *r);
/* The server waits for COPY data, and none is at hand: find them, or say CopyFail (*answered). */
enum rh_step_turn rh_step_answer_copy(struct rh_step_play *p, bool *answered);
static inline bool rh_step_wants_copy(const struct rh_step_play *p)
{
    const struct rh_step_flight *f = p->first;
    return p->wire.copying && f && f->copies_begun > f->copies_ended &&
           (!f->has_copy || f->all_sent);
}

/* step_answer.c */
void rh_step_event(void *context, const struct rh_pg_wire_event *ev);
struct rh_step_flight *rh_step_flight_new(struct rh_step_play *p, struct rh_record *r);
/* End what is answered, in order. */
void rh_step_settle(struct rh_step_play *p);

/* step_cancel.c */
/* The cancel request at the cursor. */
enum rh_step_turn rh_step_send_cancel(struct rh_step_play *p, struct rh_record *r);
void rh_step_fire_cancel(struct rh_timer *timer, int64_t now_ns);

#endif
