#include <assert.h>
#include <string.h>

#include "common/alloc.h"
#include "common/clock.h"
#include "common/sql_effect.h"
#include "formats/pg_frontend.h"
#include "formats/pg_write.h"
#include "replay/session_parts.h"
#include "replay/step_play.h"

/* What of a record's flags is about production's outcome and not about the statement. */
enum {
    OUTCOME_FLAGS = RH_FLAG_COMMIT_NOT_TIMED | RH_FLAG_ERROR_ONLY | RH_FLAG_START_ESTIMATED |
                    RH_FLAG_CANCELED | RH_FLAG_STATEMENT_TIMEOUT | RH_FLAG_SKIPPED
};

int64_t rh_replay_session_planned_ns(const struct rh_replay_session *s, const struct rh_record *r)
{
    return rh_time_add(s->worker->begin_ns, r->run.planned_ns);
}

int64_t rh_replay_session_due_ns(const struct rh_replay_session *s, const struct rh_record *r)
{
    return s->worker->engine->plan->speed_is_max ? s->ready_ns : rh_replay_session_planned_ns(s, r);
}

/* Production's outcome gives way to the replay's. */
static void clear_outcome(struct rh_record *r)
{
    r->flags &= ~(uint32_t) OUTCOME_FLAGS;
    rh_outcome_clear(&r->outcome);
}

void rh_replay_session_stamp_passed(struct rh_replay_session *s, struct rh_record *r)
{
    int64_t at_ns = rh_replay_session_due_ns(s, r);
    r->run.planned_ns = r->start_ns = rh_replay_session_wall_ns(s, at_ns);
    clear_outcome(r);
}

/* A record that is not sent. */
static void pass(struct rh_replay_session *s, struct rh_record *r)
{
    rh_replay_session_stamp_passed(s, r);
    if (s->in_pipeline && (r->txn & RH_TXN_ENDS)) {
        s->owes_sync = true;
    }
    rh_replay_session_advance(s, r);
}

static void refuse(struct rh_replay_session *s, struct rh_record *r, enum rh_fate fate,
                   enum rh_reason reason)
{
    r->run.fate = fate;
    r->run.reason = reason;
    pass(s, r);
}

/* Begin an exchange of worker->out. */
static int send_exchange(struct rh_replay_session *s, enum rh_replay_purpose purpose,
                         enum rh_exchange_end end)
{
    s->purpose = purpose;
    if (purpose != RH_PURPOSE_RESTORE) {
        s->state = RH_REPLAY_BUSY;
    }
    rh_exchange_begin(&s->exchange, end);
    return rh_replay_session_send(s);
}

static void send_sync(struct rh_replay_session *s)
{
    struct rh_error err;
    rh_buf_clear(&s->worker->out);
    if (rh_pg_write_sync(&s->worker->out, &err) != 0) {
        return;
    }
    s->owes_sync = s->in_pipeline = false;
    s->request = (struct rh_request){.end = RH_EXCHANGE_READY, .extended = true};
    send_exchange(s, RH_PURPOSE_SYNC, RH_EXCHANGE_READY);
}

/* A log shows the PREPARE of an SQL EXECUTE, but perhaps not when it was run.  True: it was sent.
 */
static bool send_prepare(struct rh_replay_session *s, const struct rh_record *r)
{
    struct rh_worker *w = s->worker;
    struct rh_error err;
    if (!(r->flags & RH_FLAG_SQL_EXECUTE) || !r->prepare_text.data ||
        s->prepare_ordinal == r->ordinal) {
        return false;
    }
    rh_buf_clear(&w->text);
    if (!rh_prepared_name(r->prepare_text, &w->text) ||
        rh_prepared_has(&s->prepared, rh_buf_span(&w->text))) {
        return false;
    }
    rh_buf_clear(&w->out);
    if (rh_pg_write_query(&w->out, r->prepare_text, &err) != 0) {
        return false;
    }
    s->prepare_ordinal = r->ordinal;
    s->request = (struct rh_request){.end = RH_EXCHANGE_READY};
    w->tally.prepares_sent++;
    send_exchange(s, RH_PURPOSE_PREPARE, RH_EXCHANGE_READY);
    return true;
}

/* Whether it can stand in a pipeline, before its Sync. */
static bool is_extended(const struct rh_record *r)
{
    return r->kind == RH_KIND_EXECUTE || r->kind == RH_KIND_FETCH || r->kind == RH_KIND_PROTOCOL;
}

/* Whether r belongs to a pipeline that goes on behind it: then there is no Sync after it. */
static bool opens_pipeline(const struct rh_replay_session *s, const struct rh_record *r)
{
    if (!is_extended(r) || (r->txn & (RH_TXN_ENDS | RH_TXN_BLOCK))) {
        return false;
    }
    return s->in_pipeline || (r->txn & RH_TXN_BEGINS);
}

static void count_production(struct rh_replay_session *s, const struct rh_record *r)
{
    if (!rh_kind_is_statement(r->kind) || r->outcome.sqlstate == RH_SQLSTATE_UNKNOWN) {
        return;
    }
    s->worker->tally.production_known++;
    s->worker->tally.production_failed += r->outcome.sqlstate != 0;
}

/*
 * What the record had to wait for, as it had in production: the answer before it.  A connection
 * that came late, or a slot that was waited for, is no such thing: that is lag.
 */
static int64_t earliest_ns(const struct rh_replay_session *s)
{
    const struct rh_worker *w = s->worker;
    bool counts = s->has_answered || w->engine->plan->speed_is_max;
    return counts && s->ready_ns > w->begin_ns ? s->ready_ns : w->begin_ns;
}

static void count_late_session(struct rh_replay_session *s, int64_t late_ns)
{
    struct rh_tally *t = &s->worker->tally;
    if (s->has_answered || late_ns < RH_LATE_SESSION_NS) {
        return;
    }
    t->sessions_late++;
    if (late_ns > t->latest_session_ns) {
        t->latest_session_ns = late_ns;
    }
}

/* Fill in when the record was due and went out. */
static void stamp_sent(struct rh_replay_session *s, struct rh_record *r, int64_t now_ns)
{
    struct rh_worker_progress *progress = &s->worker->progress;
    int64_t due_ns = rh_replay_session_planned_ns(s, r);
    int64_t ready_ns = earliest_ns(s);
    if (s->worker->engine->plan->speed_is_max) {
        due_ns = ready_ns;
    }
    r->run.planned_ns = rh_replay_session_wall_ns(s, due_ns);
    if (ready_ns > due_ns) {
        r->run.ready_ns = rh_replay_session_wall_ns(s, ready_ns);
        due_ns = ready_ns;
    }
    r->run.wait_ns = s->order_waited_ns < now_ns - due_ns ? s->order_waited_ns : now_ns - due_ns;
    r->run.wait_ns = r->run.wait_ns > 0 ? r->run.wait_ns : 0;
    s->order_waited_ns = 0;
    due_ns += r->run.wait_ns;
    count_late_session(s, now_ns - due_ns);
    r->start_ns = r->run.sent_ns = rh_replay_session_wall_ns(s, now_ns);
    atomic_store_explicit(&progress->lag_ns, now_ns - due_ns, memory_order_relaxed);
    if (rh_kind_is_statement(r->kind)) {
        atomic_fetch_add_explicit(&progress->statements_sent, 1, memory_order_relaxed);
    }
}

void rh_replay_session_stamp(struct rh_replay_session *s, struct rh_record *r, int64_t now_ns)
{
    count_production(s, r);
    clear_outcome(r);
    stamp_sent(s, r, now_ns);
}

static void send_record(struct rh_replay_session *s, struct rh_record *r)
{
    struct rh_worker *w = s->worker;
    struct rh_error err;
    bool with_sync = !opens_pipeline(s, r);
    rh_buf_clear(&w->out);
    if (rh_request_build(&s->request, r, with_sync, &s->prepared, &s->batch->arena, &w->text,
                         &w->out, &err) != 0) {
        /* Only bytes that no client can have sent end here. */
        refuse(s, r, RH_FATE_SKIPPED, RH_REASON_DAMAGED);
        return;
    }
    if (s->request.parses) {
        rh_prepared_forget(&s->prepared, r->statement_name);
    }
    s->concerns_prepared = rh_prepared_concerns(rh_buf_span(&w->text));
    count_production(s, r);

    int64_t now_ns = rh_clock_mono_ns();
    rh_replay_session_plan_cancel(s, r, now_ns);
    clear_outcome(r);
    stamp_sent(s, r, now_ns);
    s->in_pipeline = !with_sync;
    s->has_sent = true;
    send_exchange(s, RH_PURPOSE_RECORD, s->request.end);
}

/* The request was sent while the statement before it ran; else it has nothing to do. */
static void pass_cancel(struct rh_replay_session *s, struct rh_record *r)
{
    if (r->run.fate != RH_FATE_DONE) {
        refuse(s, r, RH_FATE_SKIPPED, RH_REASON_CANCEL_NOT_NEEDED);
        return;
    }
    r->start_ns = r->run.sent_ns;
    clear_outcome(r);
    rh_replay_session_advance(s, r);
}

const struct rh_record *rh_replay_session_pass_over(struct rh_replay_session *s)
{
    struct rh_record *r;
    while ((r = rh_replay_session_current(s))) {
        if (!rh_kind_has_ordinal(r->kind)) {
            s->batch->pos++;
        } else if (r->kind == RH_KIND_CANCEL && r->run.fate <= RH_FATE_DONE) {
            pass_cancel(s, r);
        } else if (r->run.fate != RH_FATE_NONE) {
            pass(s, r);
        } else if (s->in_transaction && !(r->txn & RH_TXN_BEGINS)) {
            refuse(s, r, RH_FATE_NOT_SENT, RH_REASON_TRANSACTION_LOST);
        } else {
            return r;
        }
    }
    return NULL;
}

void rh_replay_session_drain(struct rh_replay_session *s)
{
    const struct rh_plan *plan = s->worker->engine->plan;
    const struct rh_plan_session *ps = s->planned;
    if (s->in_pipeline) {
        send_sync(s);
        return;
    }
    int64_t at_ns = INT64_MIN;
    s->state = RH_REPLAY_DRAINED;
    if (!plan->speed_is_max && !ps->close_early) {
        int64_t close_ns = ps->close_ns == RH_TIME_UNKNOWN ? plan->end_ns : ps->close_ns;
        at_ns = rh_time_add(s->worker->begin_ns, rh_time_map_offset_ns(&plan->map, close_ns));
    }
    if (at_ns <= rh_clock_mono_ns()) {
        rh_replay_session_end(s, RH_REASON_NONE, NULL);
    } else {
        rh_timer_arm(s->worker->loop, &s->timer, at_ns);
    }
}

/* Records of a pipeline behind its error: the server would skip them, up to Sync. */
static bool is_skipped_by_server(struct rh_replay_session *s, const struct rh_record *r)
{
    if (s->skips_rest && (!is_extended(r) || (r->txn & (RH_TXN_BEGINS | RH_TXN_BLOCK)))) {
        s->skips_rest = false;
    }
    return s->skips_rest;
}

/* Do what is to be done for r.  False: it waits for its time. */
static bool play(struct rh_replay_session *s, struct rh_record *r)
{
    if (!rh_kind_has_ordinal(r->kind)) {
        s->batch->pos++; /* COPY data: there is none in a run */
        return true;
    }
    if (r->kind == RH_KIND_CANCEL && r->run.fate <= RH_FATE_DONE) {
        pass_cancel(s, r);
        return true;
    }
    if (r->run.fate != RH_FATE_NONE) {
        pass(s, r);
        return true;
    }
    if (is_skipped_by_server(s, r)) {
        s->skips_rest = !(r->txn & RH_TXN_ENDS);
        refuse(s, r, RH_FATE_NOT_SENT, RH_REASON_PROTOCOL);
        return true;
    }
    bool must_end = !is_extended(r) || (r->txn & (RH_TXN_BEGINS | RH_TXN_BLOCK));
    if (s->in_pipeline && must_end) {
        send_sync(s);
        return true;
    }
    if (!s->worker->engine->plan->speed_is_max &&
        rh_replay_session_planned_ns(s, r) > rh_clock_mono_ns()) {
        rh_timer_arm(s->worker->loop, &s->timer, rh_replay_session_planned_ns(s, r));
        return false;
    }
    if (s->worker->engine->order && !rh_replay_session_may_begin(s, r)) {
        return false;
    }
    if (!send_prepare(s, r)) {
        send_record(s, r);
    }
    return true;
}

/* One step of an idle session.  False: it waits. */
static bool go_on(struct rh_replay_session *s)
{
    if (s->worker->is_stopping) {
        rh_replay_session_stop(s);
        return false;
    }
    if (s->cancel.is_active) {
        return false; /* it may hit whatever is sent now */
    }
    if (s->owes_sync) {
        send_sync(s);
        return true;
    }
    struct rh_record *r = rh_replay_session_current(s);
    if (r) {
        return play(s, r);
    }
    if (s->is_exhausted) {
        rh_replay_session_drain(s);
    } else if (rh_replay_session_is_cut_off(s)) {
        rh_replay_session_end(s, RH_REASON_DAMAGED, "the trace cannot be read any further");
    }
    return false;
}

void rh_replay_session_step(struct rh_replay_session *s)
{
    /* A batch may come between the time a statement was due and the timer for it.  Left armed, that
     * timer would find the session busy and pass for the cancel of what was just sent. */
    if (s->state == RH_REPLAY_IDLE) {
        rh_timer_cancel(s->worker->loop, &s->timer);
    }
    if (s->state == RH_REPLAY_LOST) {
        rh_replay_session_recover(s);
        return;
    }
    if (s->steps) {
        rh_step_play_go(s->steps);
        return;
    }
    bool goes_on = s->worker->begin_ns != 0;
    while (goes_on && s->state == RH_REPLAY_IDLE) {
        goes_on = go_on(s);
    }
}

void rh_replay_session_fire(struct rh_timer *timer, int64_t now_ns)
{
    struct rh_replay_session *s = timer->ctx;
    (void) now_ns;
    switch (s->state) {
    case RH_REPLAY_IDLE:
        rh_replay_session_step(s);
        break;
    case RH_REPLAY_BUSY:
        if (s->steps) {
            rh_step_play_go(s->steps);
        } else {
            rh_replay_session_cancel(s);
        }
        break;
    case RH_REPLAY_DRAINED:
        rh_replay_session_end(s, RH_REASON_NONE, NULL);
        break;
    case RH_REPLAY_LOST:
        rh_replay_session_queue(s);
        break;
    default:
        break;
    }
}

static bool says_unknown_statement(const struct rh_exchange *x)
{
    return x->outcome.sqlstate == rh_sqlstate_pack(RH_SPAN_LITERAL("26000"));
}

/* The PREPARE of the current record was answered. */
static void learn_prepare(struct rh_replay_session *s)
{
    const struct rh_record *r = rh_replay_session_current(s);
    if (s->exchange.outcome.sqlstate != 0) {
        s->worker->tally.setups_failed++;
        return;
    }
    rh_buf_clear(&s->worker->text);
    if (rh_prepared_name(r->prepare_text, &s->worker->text)) {
        rh_prepared_put(&s->prepared, rh_buf_span(&s->worker->text),
                        rh_prepared_text_hash(r->prepare_text));
    }
}

/* What the answer to a record means for what is prepared. */
static void learn(struct rh_replay_session *s, const struct rh_record *r)
{
    const struct rh_exchange *x = &s->exchange;
    struct rh_buf *text = &s->worker->text;
    rh_buf_clear(text);
    if (s->request.parses && x->parse_done) {
        rh_prepared_put(&s->prepared, r->statement_name, s->request.text_hash);
    }
    if (says_unknown_statement(x) && r->statement_name.len > 0) {
        rh_prepared_forget(&s->prepared, r->statement_name);
    } else if (says_unknown_statement(x) && rh_prepared_name(r->prepare_text, text)) {
        rh_prepared_forget(&s->prepared, rh_buf_span(text));
    } else if (s->concerns_prepared && x->outcome.sqlstate == 0 && rh_record_text(r, text) == 0) {
        rh_prepared_apply(&s->prepared, rh_buf_span(text));
    }
}

static void finish_record(struct rh_replay_session *s, int64_t now_ns)
{
    struct rh_record *r = rh_replay_session_current(s);
    const struct rh_exchange *x = &s->exchange;
    assert(r && r->run.sent_ns != RH_TIME_UNKNOWN);
    learn(s, r);
    r->outcome = x->outcome;
    r->outcome.tag = rh_arena_copy(&s->batch->arena, x->outcome.tag);
    r->outcome.done_ns = rh_replay_session_wall_ns(s, now_ns);
    if (x->outcome.first_ns != RH_TIME_UNKNOWN) {
        r->outcome.first_ns = rh_replay_session_wall_ns(s, x->outcome.first_ns);
    }
    r->run.fate = RH_FATE_DONE;
    if (x->copy_failed) {
        r->run.fate = RH_FATE_SKIPPED;
        r->run.reason = RH_REASON_NO_COPY_DATA;
    } else if (s->was_cancelled &&
               x->outcome.sqlstate == rh_sqlstate_pack(RH_SPAN_LITERAL("57014"))) {
        r->flags |= RH_FLAG_CANCELED;
    }
    if (x->needs_sync) {
        s->owes_sync = true;
        s->skips_rest = true;
    }
    rh_replay_session_advance(s, r);
}

void rh_replay_session_lose_record(struct rh_replay_session *s, int64_t now_ns)
{
    if (s->steps) {
        rh_step_play_lose(s->steps, now_ns);
        return;
    }
    struct rh_record *r = rh_replay_session_current(s);
    assert(r && r->run.sent_ns != RH_TIME_UNKNOWN);
    r->run.fate = RH_FATE_LOST;
    r->outcome.done_ns = rh_replay_session_wall_ns(s, now_ns);
    if (s->exchange.is_active && s->exchange.outcome.first_ns != RH_TIME_UNKNOWN) {
        r->outcome.first_ns = rh_replay_session_wall_ns(s, s->exchange.outcome.first_ns);
    }
    rh_replay_session_advance(s, r);
}

/* The item of the state that was sent last was answered. */
static void learn_restore(struct rh_replay_session *s)
{
    const struct rh_state_item *item = &s->state_to_restore->items[s->restored_count++];
    if (s->exchange.outcome.sqlstate != 0) {
        s->worker->tally.setups_failed++;
    } else if (item->kind != RH_STATE_SETTING) {
        rh_prepared_put(&s->prepared, item->name, rh_prepared_text_hash(item->text));
    }
}

void rh_replay_session_finish_exchange(struct rh_replay_session *s, int64_t now_ns)
{
    rh_timer_cancel(s->worker->loop, &s->timer);
    switch (s->purpose) {
    case RH_PURPOSE_RECORD:
        finish_record(s, now_ns);
        break;
    case RH_PURPOSE_PREPARE:
        learn_prepare(s);
        break;
    case RH_PURPOSE_SYNC:
        break;
    case RH_PURPOSE_RESTORE:
        learn_restore(s);
        return;
    }
    s->ready_ns = now_ns;
    s->has_answered = true;
    s->state = RH_REPLAY_IDLE;
}

static int write_typed_parse(struct rh_replay_session *s, const struct rh_state_item *item,
                             struct rh_error *err)
{
    struct rh_pg_parse parse = {.types = item->types,
                                .type_count = (uint16_t) (item->types.len / 4)};
    uint32_t *types = rh_calloc((size_t) parse.type_count + 1, sizeof *types);
    for (uint32_t i = 0; i < parse.type_count; i++) {
        types[i] = rh_pg_parse_type(&parse, i);
    }
    int rc =
        rh_pg_write_parse(&s->worker->out, item->name, item->text, types, parse.type_count, err);
    rh_free(types);
    return rc;
}

/* Put the messages that make an item again into worker->out; false if there is nothing to send. */
static bool build_restore(struct rh_replay_session *s, const struct rh_state_item *item)
{
    struct rh_buf *out = &s->worker->out;
    struct rh_error err;
    rh_buf_clear(out);
    s->request = (struct rh_request){.end = RH_EXCHANGE_READY};
    switch (item->kind) {
    case RH_STATE_STATEMENT:
        s->request.extended = true;
        return write_typed_parse(s, item, &err) == 0 && rh_pg_write_sync(out, &err) == 0;
    case RH_STATE_PREPARE:
        return rh_pg_write_query(out, item->text, &err) == 0;
    case RH_STATE_SETTING:
        return !rh_span_is(item->name, "client_encoding") &&
               !(s->worker->engine->plan->read_only && rh_sql_may_write(item->text)) &&
               rh_pg_write_query(out, item->text, &err) == 0;
    }
    return false;
}

/* Whether the state is here, if there is one. */
static bool has_state(struct rh_replay_session *s)
{
    if (!s->is_reopening) {
        return s->ahead || s->batch; /* it comes with the first batch */
    }
    if (!s->has_state) {
        rh_replay_session_ask_state(s);
    }
    return s->has_state;
}

void rh_replay_session_restore(struct rh_replay_session *s, int64_t now_ns)
{
    if (s->planned->restore || s->is_reopening) {
        if (!has_state(s)) {
            return;
        }
        const struct rh_session_state *state = s->state_to_restore;
        while (state && s->restored_count < state->count) {
            if (build_restore(s, &state->items[s->restored_count])) {
                send_exchange(s, RH_PURPOSE_RESTORE, RH_EXCHANGE_READY);
                return;
            }
            s->restored_count++;
        }
    }
    rh_replay_session_ready(s, now_ns);
}
