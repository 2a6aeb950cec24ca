/* --order txn: a session's transactions wait for others' at their beginning. */
#include <inttypes.h>

#include "common/clock.h"
#include "common/log.h"
#include "common/noun.h"
#include "replay/session_parts.h"

/* More waits that are given up are counted only, unless -v asks for all. */
enum { TOLD_MAX = 10 };

/* What the plan's order has of the session. */
static const struct rh_order_session *own_order(const struct rh_replay_session *s)
{
    const struct rh_engine *engine = s->worker->engine;
    ptrdiff_t place = s->planned - engine->plan->sessions;
    return &engine->order->plan.sessions[place - (ptrdiff_t) s->planned->copy];
}

static void tell_broken(struct rh_replay_session *s, const struct rh_record *r,
                        const struct rh_order_txn *txn)
{
    struct rh_engine *engine = s->worker->engine;
    const struct rh_order_txn *which;
    uint32_t session = 0;
    uint32_t count = rh_order_break(engine->order, s->planned->copy, txn, &session, &which);
    s->worker->tally.orders_broken++;
    if (!which ||
        (atomic_fetch_add(&engine->orders_told, 1) >= TOLD_MAX && !engine->options->verbose)) {
        return;
    }
    rh_log(RH_LOG_WARNING,
           "session %" PRIu32 ", statement %" PRIu64 " has waited %.3g s for %" PRIu32
           " transaction%s to end and goes on without (--order-timeout); the first of them begins "
           "with statement %" PRIu32 " of session %" PRIu32,
           s->planned->session->number, r->ordinal,
           (double) engine->options->order_timeout_ns / 1e9, count, rh_plural(count), which->first,
           engine->plan->sessions[session].session->number);
}

static void begin_txn(struct rh_replay_session *s, uint32_t place, int64_t now_ns)
{
    s->order_waited_ns = s->order_since_ns ? now_ns - s->order_since_ns : 0;
    s->order_since_ns = 0;
    s->txns_begun = place + 1;
}

/* The transaction that r begins, or NULL: it has begun, or there is none.  In a pipeline it may be
 * one behind those that have not ended yet. */
static const struct rh_order_txn *beginning_of(const struct rh_replay_session *s,
                                               const struct rh_record *r)
{
    const struct rh_order_session *own = own_order(s);
    uint32_t place = s->txns_begun;
    while (place < own->count && own->txns[place].last < r->ordinal) {
        place++;
    }
    return place < own->count && r->ordinal >= own->txns[place].first ? &own->txns[place] : NULL;
}

bool rh_replay_session_may_begin(struct rh_replay_session *s, const struct rh_record *r)
{
    struct rh_engine *engine = s->worker->engine;
    const struct rh_order_txn *txn = beginning_of(s, r);
    if (!txn) {
        return true;
    }
    uint32_t place = (uint32_t) (txn - own_order(s)->txns);
    int64_t now_ns = rh_clock_mono_ns();
    if (rh_order_begin(engine->order, s->planned->copy, txn, &s->order_wait)) {
        begin_txn(s, place, now_ns);
        return true;
    }
    s->order_since_ns = s->order_since_ns ? s->order_since_ns : now_ns;
    int64_t until_ns = rh_time_add(s->order_since_ns, engine->options->order_timeout_ns);
    if (now_ns < until_ns) {
        rh_timer_arm(s->worker->loop, &s->timer, until_ns);
        return false;
    }
    rh_order_leave(engine->order, s->planned->copy, &s->order_wait);
    tell_broken(s, r, txn);
    begin_txn(s, place, now_ns);
    return true;
}

void rh_replay_session_end_txns(struct rh_replay_session *s, uint64_t ordinal)
{
    const struct rh_order_session *own = own_order(s);
    while (s->txns_ended < own->count && own->txns[s->txns_ended].last <= ordinal) {
        rh_order_end(s->worker->engine->order, s->planned->copy, &own->txns[s->txns_ended++]);
    }
}

void rh_replay_session_leave_order(struct rh_replay_session *s)
{
    if (s->worker->engine->order) {
        rh_order_leave(s->worker->engine->order, s->planned->copy, &s->order_wait);
        rh_replay_session_end_txns(s, UINT64_MAX);
    }
}
