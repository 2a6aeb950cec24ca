#include <assert.h>

#include "common/clock.h"
#include "replay/session_parts.h"

/* A session that needs less time a record than this gets larger batches, since each batch costs two
 * changes of threads. */
#define LARGE_BELOW_NS (60 * RH_NS_PER_MS)
#define HUGE_BELOW_NS (10 * RH_NS_PER_MS)

static enum rh_batch_size size_of_next(const struct rh_replay_session *s, int64_t now_ns)
{
    if (s->asked_ns == 0 || s->received_count == 0) {
        return RH_BATCH_SMALL;
    }
    int64_t record_ns = (now_ns - s->asked_ns) / s->received_count;
    return record_ns < HUGE_BELOW_NS    ? RH_BATCH_HUGE
           : record_ns < LARGE_BELOW_NS ? RH_BATCH_LARGE
                                        : RH_BATCH_SMALL;
}

void rh_replay_session_ask(struct rh_replay_session *s, int64_t now_ns)
{
    struct rh_engine *engine = s->worker->engine;
    s->feed.want = size_of_next(s, now_ns);
    s->asked_ns = now_ns;
    s->is_asked = true;
    rh_feeder_ask(engine->feeder, &s->feed);
}

void rh_replay_session_ask_state(struct rh_replay_session *s)
{
    if (s->is_asked) {
        return;
    }
    s->is_asked = true;
    s->feed.want = RH_BATCH_SMALL;
    s->feed.state_before = s->restore_before;
    rh_feeder_ask(s->worker->engine->feeder, &s->feed);
}

void rh_replay_session_ask_ahead(struct rh_replay_session *s)
{
    const struct rh_batch *newest = s->ahead ? s->ahead_last : s->batch;
    if (!s->is_asked && !(newest && newest->last)) {
        rh_replay_session_ask(s, rh_clock_mono_ns());
    }
}

static void hand_in(struct rh_replay_session *s)
{
    struct rh_batch *batch = s->batch;
    s->batch = NULL;
    if (!batch) {
        return;
    }
    batch->count = batch->pos;
    if (batch->count > 0) {
        rh_recorder_put(s->worker->engine->recorder, batch);
    } else {
        rh_batch_put(&s->worker->engine->pool, batch);
    }
}

static struct rh_batch *take_ahead(struct rh_replay_session *s)
{
    struct rh_batch *batch = s->ahead;
    s->ahead = batch->next;
    batch->next = NULL;
    return batch;
}

void rh_replay_session_next_batch(struct rh_replay_session *s)
{
    hand_in(s);
    s->batch = s->ahead ? take_ahead(s) : NULL;
}

void rh_replay_session_drop_ahead(struct rh_replay_session *s, struct rh_batch *batch)
{
    struct rh_batch *before = NULL;
    struct rh_batch *at = s->ahead;
    while (at && at != batch) {
        before = at;
        at = at->next;
    }
    if (!at) {
        return;
    }
    if (before) {
        before->next = batch->next;
    } else {
        s->ahead = batch->next;
    }
    s->ahead_last = s->ahead_last == batch ? before : s->ahead_last;
    rh_batch_put(&s->worker->engine->pool, batch);
}

void rh_replay_session_hand_in_done(struct rh_replay_session *s)
{
    struct rh_batch *done = s->batch;
    if (!done || done->pos == 0) {
        return;
    }
    struct rh_batch *rest = rh_batch_get(&s->worker->engine->pool, done->size);
    for (int i = done->pos; i < done->count; i++) {
        rh_record_copy(&rest->records[rest->count++], &done->records[i], &rest->arena);
    }
    rest->feed = done->feed;
    rest->planned = done->planned;
    rest->last = done->last;
    hand_in(s);
    s->batch = rest;
}

/* A log needs one batch ahead. */
static void ask_ahead(struct rh_replay_session *s)
{
    if (!s->ahead) {
        rh_replay_session_ask_ahead(s);
    }
}

struct rh_record *rh_replay_session_current(struct rh_replay_session *s)
{
    while (!s->is_exhausted) {
        struct rh_batch *batch = s->batch;
        if (batch && batch->pos < batch->count) {
            if (batch->count - batch->pos <= batch->cap / 2) {
                ask_ahead(s);
            }
            return &batch->records[batch->pos];
        }
        if (batch) {
            s->is_exhausted = batch->last;
            hand_in(s);
            continue;
        }
        if (!s->ahead) {
            if (!s->is_asked) {
                rh_replay_session_ask(s, rh_clock_mono_ns());
            }
            return NULL;
        }
        if (s->ahead->failed) {
            return NULL;
        }
        s->batch = take_ahead(s);
    }
    return NULL;
}

bool rh_replay_session_is_cut_off(const struct rh_replay_session *s)
{
    return !s->batch && s->ahead && s->ahead->failed;
}

struct rh_record *rh_replay_session_peek(struct rh_replay_session *s)
{
    if (s->batch && s->batch->pos + 1 < s->batch->count) {
        return &s->batch->records[s->batch->pos + 1];
    }
    if (s->ahead && s->ahead->count > 0) {
        return &s->ahead->records[0];
    }
    return NULL;
}

bool rh_replay_session_has_rest(const struct rh_replay_session *s)
{
    if (s->is_exhausted) {
        return false;
    }
    bool batch_is_done = s->batch && s->batch->last && s->batch->pos == s->batch->count;
    return !batch_is_done;
}

void rh_replay_session_advance(struct rh_replay_session *s, struct rh_record *r)
{
    struct rh_worker_progress *progress = &s->worker->progress;
    assert(r == &s->batch->records[s->batch->pos]);
    if (rh_tally_add(&s->worker->tally, r)) {
        atomic_fetch_add_explicit(&progress->statements_failed, 1, memory_order_relaxed);
    }
    if (rh_kind_is_statement(r->kind)) {
        atomic_fetch_add_explicit(&progress->records_done, 1, memory_order_relaxed);
    }
    if (r->txn & RH_TXN_ENDS) {
        s->in_transaction = false;
    } else if (r->txn & (RH_TXN_BEGINS | RH_TXN_BLOCK)) {
        s->in_transaction = true;
    }
    s->last_ordinal = r->ordinal;
    if (s->worker->engine->order) {
        rh_replay_session_end_txns(s, r->ordinal);
    }
    s->batch->pos++;
}

void rh_replay_session_drop_batches(struct rh_replay_session *s)
{
    hand_in(s);
    while (s->ahead) {
        rh_batch_put(&s->worker->engine->pool, take_ahead(s));
    }
}

void rh_replay_session_log(struct rh_replay_session *s, enum rh_kind kind, const char *how)
{
    struct rh_engine *engine = s->worker->engine;
    struct rh_batch *batch = rh_batch_get(&engine->pool, RH_BATCH_SMALL);
    struct rh_record *r = &batch->records[0];
    rh_record_init(r);
    r->kind = kind;
    r->session = s->planned->session->number;
    r->copy = s->planned->copy;
    r->start_ns = rh_replay_session_wall_ns(s, rh_clock_mono_ns());
    r->detail = rh_arena_copy(&batch->arena, rh_span_cstr(how));
    batch->planned = s->planned;
    batch->count = 1;
    rh_recorder_put(engine->recorder, batch);
}
