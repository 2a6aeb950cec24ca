#include "replay/step_play.h"

#include <assert.h>

#include "common/alloc.h"
#include "common/clock.h"
#include "formats/pg_write.h"
#include "replay/step_parts.h"

enum {
    /* Put together before it is sent, and sent before the socket has taken it. */
    OUT_BYTES = 64 * 1024,
    PENDING_BYTES = 1024 * 1024,
    /* A server's buffer holds some 1,600 of the shortest answers; with more than that unanswered it
     * has sent some, whether it was asked to or not. */
    OUTSTANDING_MAX = 16 * 1024,
};

/* ------------------------------------------------------------------------------------------------
 * The cursor
 */

static struct rh_batch *batch_behind(const struct rh_replay_session *s, const struct rh_batch *b)
{
    return b == s->batch ? s->ahead : b->next;
}

/* A COPY may be larger than memory: a batch that held nothing but its data is done with. */
static void drop_copied(struct rh_replay_session *s, struct rh_batch *batch)
{
    if (batch == s->batch) {
        return;
    }
    for (int i = 0; i < batch->count; i++) {
        if (batch->records[i].kind != RH_KIND_COPY_DATA) {
            return;
        }
    }
    rh_replay_session_drop_ahead(s, batch);
}

struct rh_record *rh_step_cursor(struct rh_step_play *p, bool *at_end)
{
    struct rh_replay_session *s = p->session;
    *at_end = false;
    if (!p->batch) {
        if (!rh_replay_session_current(s)) {
            *at_end = s->is_exhausted;
            return NULL;
        }
        p->batch = s->batch;
        p->index = s->batch->pos;
    }
    while (p->index == p->batch->count) {
        struct rh_batch *left = p->batch;
        struct rh_batch *next = batch_behind(s, left);
        if (left->last) {
            *at_end = true;
            return NULL;
        }
        if (!next || next->failed) {
            rh_replay_session_ask_ahead(s);
            return NULL;
        }
        p->batch = next;
        p->index = 0;
        drop_copied(s, left);
        rh_step_settle(p);
    }
    if (p->batch->count - p->index <= p->batch->cap / 2 && !batch_behind(s, p->batch)) {
        rh_replay_session_ask_ahead(s);
    }
    return &p->batch->records[p->index];
}

struct rh_record *rh_step_peek(struct rh_step_play *p, bool *at_end)
{
    struct rh_replay_session *s = p->session;
    assert(p->batch && p->index < p->batch->count);
    *at_end = false;
    if (p->index + 1 < p->batch->count) {
        return &p->batch->records[p->index + 1];
    }
    struct rh_batch *next = batch_behind(s, p->batch);
    *at_end = p->batch->last || (next && next->last && next->count == 0);
    if (next && next->count > 0) {
        return &next->records[0];
    }
    rh_replay_session_ask_ahead(s);
    return NULL;
}

void rh_step_move_on(struct rh_step_play *p)
{
    p->index++;
    p->has_begun = p->is_blocked = false;
    p->step = 0;
    p->cancel_due_ns = INT64_MAX;
}

/* ------------------------------------------------------------------------------------------------
 * Going on
 */

static enum rh_step_turn go_on_behind_copy(struct rh_step_play *p)
{
    struct rh_step_flight *f = p->resume;
    enum rh_step_turn turn = rh_step_send_steps(p, f, f->record, &p->resume_step);
    if (turn == RH_STEP_GOES_ON) {
        f->all_sent = true;
        p->resume = NULL;
        rh_step_settle(p);
    }
    return turn;
}

static bool is_copy_of(const struct rh_record *r, const struct rh_step_flight *f)
{
    return r && r->kind == RH_KIND_COPY_DATA && r->ordinal == f->record->ordinal;
}

static bool must_wait(const struct rh_step_play *p)
{
    const struct rh_replay_session *s = p->session;
    return s->cancel.is_active /* it may hit whatever is sent now */ ||
           rh_conn_pending(s->conn) > PENDING_BYTES || rh_step_outstanding(p) > OUTSTANDING_MAX;
}

static enum rh_step_turn play_one(struct rh_step_play *p)
{
    bool at_end;
    if (must_wait(p) || (p->session->worker->out.len > OUT_BYTES && !rh_step_flush(p))) {
        return RH_STEP_WAITS;
    }
    if (rh_step_wants_copy(p)) {
        bool answered = false;
        enum rh_step_turn turn = rh_step_answer_copy(p, &answered);
        if (answered || turn == RH_STEP_WAITS) {
            return turn;
        }
    }
    struct rh_record *r = rh_step_cursor(p, &at_end);
    if (p->resume && (r || at_end) && !is_copy_of(r, p->resume)) {
        return go_on_behind_copy(p);
    }
    if (!r) {
        return at_end ? RH_STEP_AT_END : RH_STEP_WAITS;
    }
    if (r->kind == RH_KIND_COPY_DATA) {
        return rh_step_send_copy(p, r);
    }
    if (!rh_kind_has_ordinal(r->kind)) {
        rh_step_move_on(p);
        return RH_STEP_GOES_ON;
    }
    if (r->run.fate != RH_FATE_NONE) {
        rh_step_pass_record(p, r);
        return RH_STEP_GOES_ON;
    }
    return r->kind == RH_KIND_CANCEL ? rh_step_send_cancel(p, r) : rh_step_send_record(p, r);
}

static bool is_idle(const struct rh_step_play *p)
{
    return !p->first && rh_step_outstanding(p) == 0;
}

/* The client went away in the middle of its COPY data. */
static bool is_left_in_copy(const struct rh_step_play *p)
{
    const struct rh_step_flight *f = p->first;
    return p->wire.copying && f && f->copies_begun > f->copies_ended && f->all_sent;
}

/* All is sent. */
static void finish(struct rh_step_play *p)
{
    struct rh_replay_session *s = p->session;
    struct rh_error err;
    if (is_idle(p)) {
        p->batch = NULL;
        if (!rh_replay_session_current(s)) {
            rh_replay_session_drain(s);
        }
        return;
    }
    if (is_left_in_copy(p)) {
        rh_replay_session_end(s, RH_REASON_NONE, NULL);
        return;
    }
    /* Production's client left without a Sync: the answers are wanted, a commit is not. */
    if (!rh_step_gate_is_covered(&p->gate) && !p->is_closing &&
        rh_pg_write_flush(&s->worker->out, &err) == 0) {
        p->is_closing = true;
        rh_step_gate_note_extra(&p->gate, 'H');
        rh_step_flush(p);
    }
}

/* The cursor can go no further, and nothing is under way. */
static void end_if_cut_off(struct rh_step_play *p)
{
    struct rh_replay_session *s = p->session;
    struct rh_batch *next = p->batch ? batch_behind(s, p->batch) : s->ahead;
    if (!is_idle(p) || !next || !next->failed || (p->batch && p->index < p->batch->count)) {
        return;
    }
    p->batch = NULL;
    if (!rh_replay_session_current(s) && rh_replay_session_is_cut_off(s)) {
        rh_replay_session_end(s, RH_REASON_DAMAGED, "the trace cannot be read any further");
    }
}

static bool may_play(const struct rh_step_play *p)
{
    const struct rh_replay_session *s = p->session;
    return s->worker->begin_ns != 0 && s->conn &&
           (s->state == RH_REPLAY_IDLE || s->state == RH_REPLAY_BUSY);
}

void rh_step_play_go(struct rh_step_play *p)
{
    struct rh_replay_session *s = p->session;
    enum rh_step_turn turn;
    if (!may_play(p)) {
        return;
    }
    s->state = is_idle(p) ? RH_REPLAY_IDLE : RH_REPLAY_BUSY;
    if (s->worker->is_stopping) {
        rh_replay_session_stop(s);
        return;
    }
    rh_timer_cancel(s->worker->loop, &s->timer);
    rh_buf_clear(&s->worker->out);
    do {
        turn = play_one(p);
    } while (turn == RH_STEP_GOES_ON);
    if (!may_play(p) || !rh_step_flush(p)) {
        return;
    }
    s->purpose = RH_PURPOSE_RECORD;
    s->state = is_idle(p) ? RH_REPLAY_IDLE : RH_REPLAY_BUSY;
    if (turn == RH_STEP_AT_END) {
        finish(p);
    } else {
        end_if_cut_off(p);
    }
}

/* ------------------------------------------------------------------------------------------------
 * Connections
 */

static void begin_tracker(struct rh_step_play *p)
{
    rh_pg_wire_init(&p->wire, true, rh_step_event, p);
}

struct rh_step_play *rh_step_play_new(struct rh_replay_session *s)
{
    struct rh_step_play *p = rh_calloc(1, sizeof *p);
    p->session = s;
    p->timer = (struct rh_timer){.fire = rh_step_fire_cancel, .ctx = p};
    begin_tracker(p);
    rh_step_play_restart(p, !s->planned->restore);
    return p;
}

void rh_step_play_free(struct rh_step_play *p)
{
    if (!p) {
        return;
    }
    assert(!p->first);
    while (p->unused) {
        struct rh_step_flight *f = p->unused;
        p->unused = f->next;
        rh_free(f);
    }
    rh_pg_wire_release(&p->wire);
    rh_free(p);
}

void rh_step_play_restart(struct rh_step_play *p, bool is_whole)
{
    assert(!p->first);
    rh_timer_cancel(p->session->worker->loop, &p->timer);
    rh_pg_wire_release(&p->wire);
    begin_tracker(p);
    rh_step_gate_init(&p->gate);
    p->batch = NULL;
    p->has_begun = p->in_series = p->is_blocked = p->has_fatal = p->is_closing = false;
    p->step = 0;
    p->resume = NULL;
    p->is_fresh = !is_whole;
    p->done_ordinal = 0;
    p->cancel_due_ns = INT64_MAX;
    p->cancel_tries = 0;
}
