#include <assert.h>

#include "common/clock.h"
#include "replay/session_parts.h"
#include "replay/step_play.h"

/* A request that the server has not answered by then will hardly come through any more. */
#define TIMEOUT_NS (10 * RH_NS_PER_SEC)

/* A request may come before its statement does, and then does nothing: it is sent again, while the
 * statement runs. */
#define RETRY_FIRST_NS (20 * RH_NS_PER_MS)
#define RETRY_MAX_NS RH_NS_PER_SEC

/* Each costs the server a process: the others of this worker wait. */
enum { AT_ONCE_MAX = 16 };

/* Flat out, an estimate that may count idleness is not waited for. */
#define ESTIMATE_FLAT_OUT_MAX_NS RH_NS_PER_SEC

static struct rh_record *next_cancel(struct rh_replay_session *s)
{
    struct rh_record *next = rh_replay_session_peek(s);
    return next && next->kind == RH_KIND_CANCEL && next->run.fate == RH_FATE_NONE ? next : NULL;
}

static void arm(struct rh_replay_session *s, int64_t after_ns)
{
    const struct rh_plan *plan = s->worker->engine->plan;
    if (!plan->speed_is_max) {
        after_ns = rh_time_map_scale_ns(&plan->map, after_ns);
    }
    s->cancel_due_ns = rh_time_add(s->sent_ns, after_ns > 0 ? after_ns : 0);
    rh_timer_arm(s->worker->loop, &s->timer, s->cancel_due_ns);
}

/*
 * A statement that the user cancelled in production would go on to its end here, so it is cancelled
 * after the time it had; one with a cancel request of its own (from the wire) at that request's
 * time.
 */
void rh_replay_session_plan_cancel(struct rh_replay_session *s, const struct rh_record *r,
                                   int64_t sent_ns)
{
    const struct rh_record *next = next_cancel(s);
    bool has_end = (r->flags & RH_FLAG_CANCELED) && r->outcome.done_ns != RH_TIME_UNKNOWN;
    s->sent_ns = sent_ns;
    s->captured_ns = r->start_ns;
    s->cancel_due_ns = INT64_MAX;
    s->cancel_tries = 0;
    s->was_cancelled = false;
    if (next) {
        arm(s, rh_time_sub(next->start_ns, r->start_ns));
    } else if (has_end) {
        int64_t after_ns = rh_time_sub(r->outcome.done_ns, r->start_ns);
        bool is_vague = (r->flags & RH_FLAG_START_ESTIMATED) &&
                        s->worker->engine->plan->speed_is_max &&
                        after_ns > ESTIMATE_FLAT_OUT_MAX_NS;
        arm(s, is_vague ? ESTIMATE_FLAT_OUT_MAX_NS : after_ns);
    }
}

void rh_replay_session_replan_cancel(struct rh_replay_session *s)
{
    const struct rh_record *next = next_cancel(s);
    if (s->state == RH_REPLAY_BUSY && s->purpose == RH_PURPOSE_RECORD &&
        s->cancel_due_ns == INT64_MAX && next) {
        arm(s, rh_time_sub(next->start_ns, s->captured_ns));
    }
}

/* The request that production sent is sent: its record has its turn behind the statement's. */
static void note_sent(struct rh_replay_session *s, int64_t now_ns)
{
    struct rh_record *next = s->purpose == RH_PURPOSE_RECORD ? next_cancel(s) : NULL;
    s->was_cancelled = true;
    if (s->cancel_tries++ == 0) {
        s->worker->tally.cancels_sent++;
    }
    if (next) {
        int64_t due_ns = s->cancel_due_ns < now_ns ? s->cancel_due_ns : now_ns;
        next->run.fate = RH_FATE_DONE;
        next->run.planned_ns = rh_replay_session_wall_ns(s, due_ns);
        next->run.sent_ns = rh_replay_session_wall_ns(s, now_ns);
    }
}

static void try_again(struct rh_replay_session *s, int64_t now_ns)
{
    int64_t wait_ns = RETRY_FIRST_NS;
    for (uint32_t i = 1; i < s->cancel_tries && wait_ns < RETRY_MAX_NS; i++) {
        wait_ns *= 2;
    }
    rh_timer_arm(s->worker->loop, &s->timer,
                 now_ns + (wait_ns < RETRY_MAX_NS ? wait_ns : RETRY_MAX_NS));
}

static void cancel_done(struct rh_cancel *cancel, enum rh_cancel_end end)
{
    struct rh_replay_session *s = cancel->ctx;
    int64_t now_ns = rh_clock_mono_ns();
    s->worker->cancel_count--;
    s->worker->tally.cancels_failed += end != RH_CANCEL_TAKEN;
    if (s->state == RH_REPLAY_BUSY) {
        try_again(s, now_ns);
    } else if (s->state == RH_REPLAY_IDLE) {
        s->ready_ns = now_ns; /* what comes next could not have been sent before */
        rh_replay_session_step(s);
    }
}

void rh_replay_session_cancel(struct rh_replay_session *s)
{
    struct rh_worker *w = s->worker;
    if (s->steps) {
        rh_step_play_cancel(s->steps);
        return;
    }
    if (s->state != RH_REPLAY_BUSY || s->cancel.is_active) {
        return;
    }
    int64_t now_ns = rh_clock_mono_ns();
    if (w->cancel_count >= AT_ONCE_MAX) {
        rh_timer_arm(w->loop, &s->timer, now_ns + RETRY_FIRST_NS);
        return;
    }
    w->cancel_count++;
    note_sent(s, now_ns);
    rh_cancel_start(&s->cancel, w->loop, s->conn, TIMEOUT_NS, cancel_done, s);
}

void rh_replay_session_drop_cancel(struct rh_replay_session *s)
{
    if (s->cancel.is_active) {
        rh_cancel_stop(&s->cancel);
        s->worker->cancel_count--;
    }
}
