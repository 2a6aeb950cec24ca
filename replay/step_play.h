/*
 * replay/step_play.h
 *
 * Plays the records of a session that was captured from the wire: every message as it was sent
 * there, in its order, as soon as what was answered before it there is answered here (step_gate.h).
 * Several records may be under way at once.  In its worker's thread.
 *
 * Records behind the batch's `pos` have three parts: those under way or passed over, whose end is
 * awaited in order; the one at the cursor, of which a part may be sent; and what is behind it.
 */
#ifndef RH_REPLAY_STEP_PLAY_H
#define RH_REPLAY_STEP_PLAY_H

#include <stdbool.h>
#include <stdint.h>

#include "common/loop.h"
#include "formats/pg_wire.h"
#include "replay/batch.h"
#include "replay/step_gate.h"

struct rh_replay_session;

/* A record that is sent, or a part of it is. */
struct rh_step_flight {
    struct rh_step_flight *next;
    struct rh_record *record;
    uint64_t first_serial; /* of its messages in the tracker */
    uint64_t end_serial;   /* behind the last one so far */
    int64_t sent_ns;       /* monotonic */
    int64_t captured_ns;   /* its start in the trace */
    bool all_sent;
    bool has_copy;          /* COPY data belongs to it */
    bool production_failed; /* known to have failed in the capture */
    bool production_canceled;
    bool was_cancelled; /* a CancelRequest went out while it ran */
    bool settled;       /* its execution has its answer */
    bool not_run;       /* skipped by the server after an error */
    bool lost;
    bool copy_failed;      /* the server asked for COPY data that were not captured */
    uint32_t copies_begun; /* how often it asked for them, and how often they were ended */
    uint32_t copies_ended;
    bool unmade; /* one of its messages could not be made */
    char tag[RH_PG_WIRE_TAG_MAX];
};

struct rh_step_play {
    struct rh_replay_session *session;
    struct rh_pg_wire wire; /* the tracker of answers, in wall time */
    struct rh_step_gate gate;

    struct rh_step_flight *first; /* under way, in order */
    struct rh_step_flight *last;
    struct rh_step_flight *unused;

    /* The cursor.  Without a batch it is at the session's current record. */
    struct rh_batch *batch;
    int index;
    bool has_begun; /* a part of that record is sent */
    uint32_t step;  /* its next step */
    /* A record whose COPY data are behind it and go first, with its next step. */
    struct rh_step_flight *resume;
    uint32_t resume_step;

    bool in_series;  /* messages without their Sync */
    bool is_blocked; /* the cursor's record waits for answers */
    bool is_fresh;   /* on this connection, which is not the session's first, or did not begin with
                        it, nothing was parsed under the empty name */
    bool is_strange; /* an answer came that answers nothing */
    bool is_closing; /* all is sent, and what was not to be flushed is */
    uint32_t fatal;  /* SQLSTATE of a FATAL message, RH_SQLSTATE_UNKNOWN: none */
    bool has_fatal;
    uint64_t done_ordinal; /* of the record that ended last */
    bool done_failed;      /* ... which had failed in the capture */
    int64_t cancel_due_ns; /* of the cancel at the cursor; INT64_MAX: not yet known */
    uint32_t cancel_tries; /* for what is under way */
    struct rh_timer timer; /* for the cancel */
};

struct rh_step_play *rh_step_play_new(struct rh_replay_session *s);
void rh_step_play_free(struct rh_step_play *p);

/* Send what can be sent now. */
void rh_step_play_go(struct rh_step_play *p);
/* Take an event of the scanner.  False: the connection is gone. */
bool rh_step_play_take(struct rh_step_play *p, const struct rh_pg_event *ev, int64_t now_ns);
/* The connection is gone, or will be: what is under way gets no answer any more. */
void rh_step_play_lose(struct rh_step_play *p, int64_t now_ns);
/* A connection is new; nothing is under way.  is_whole: the session begins with it. */
void rh_step_play_restart(struct rh_step_play *p, bool is_whole);
/* Cancel what runs, as the replay is stopped. */
void rh_step_play_cancel(struct rh_step_play *p);

#endif
