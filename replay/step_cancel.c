#include "common/clock.h"
#include "replay/step_parts.h"

#define TIMEOUT_NS (10 * RH_NS_PER_SEC)
/* As in session_cancel.c. */
#define RETRY_FIRST_NS (20 * RH_NS_PER_MS)
#define RETRY_MAX_NS RH_NS_PER_SEC
enum { AT_ONCE_MAX = 16 };

static int64_t scaled(const struct rh_step_play *p, int64_t after_ns)
{
    const struct rh_plan *plan = p->session->worker->engine->plan;
    int64_t ns = plan->speed_is_max ? after_ns : rh_time_map_scale_ns(&plan->map, after_ns);
    return ns > 0 ? ns : 0;
}

/* A request may come before its statement does, and then does nothing: where production's was
 * cancelled, it is sent again while that runs. */
static bool wants_retry(const struct rh_step_play *p)
{
    for (const struct rh_step_flight *f = p->first; f; f = f->next) {
        if (f->was_cancelled && f->production_canceled) {
            return true;
        }
    }
    return false;
}

static void cancel_done(struct rh_cancel *cancel, enum rh_cancel_end end)
{
    struct rh_step_play *p = cancel->ctx;
    struct rh_replay_session *s = p->session;
    int64_t now_ns = rh_clock_mono_ns();
    s->worker->cancel_count--;
    s->worker->tally.cancels_failed += end != RH_CANCEL_TAKEN;
    if (wants_retry(p)) {
        int64_t wait_ns = RETRY_FIRST_NS;
        for (uint32_t i = 1; i < p->cancel_tries && wait_ns < RETRY_MAX_NS; i++) {
            wait_ns *= 2;
        }
        rh_timer_arm(s->worker->loop, &p->timer,
                     now_ns + (wait_ns < RETRY_MAX_NS ? wait_ns : RETRY_MAX_NS));
    }
    rh_step_play_go(p);
}

/* False: too many are under way; the timer is set. */
static bool start(struct rh_step_play *p, int64_t now_ns)
{
    struct rh_replay_session *s = p->session;
    struct rh_worker *w = s->worker;
    if (w->cancel_count >= AT_ONCE_MAX) {
        rh_timer_arm(w->loop, &p->timer, now_ns + RETRY_FIRST_NS);
        return false;
    }
    for (struct rh_step_flight *f = p->first; f; f = f->next) {
        f->was_cancelled = true;
    }
    w->cancel_count++;
    w->tally.cancels_sent += p->cancel_tries++ == 0;
    rh_cancel_start(&s->cancel, w->loop, s->conn, TIMEOUT_NS, cancel_done, p);
    return true;
}

static void pass(struct rh_step_play *p, struct rh_record *r)
{
    rh_step_move_on(p);
    rh_replay_session_stamp_passed(p->session, r);
    rh_step_settle(p);
}

enum rh_step_turn rh_step_send_cancel(struct rh_step_play *p, struct rh_record *r)
{
    struct rh_replay_session *s = p->session;
    int64_t now_ns = rh_clock_mono_ns();
    if (!p->first) {
        r->run.fate = RH_FATE_SKIPPED;
        r->run.reason = RH_REASON_CANCEL_NOT_NEEDED;
        pass(p, r);
        return RH_STEP_GOES_ON;
    }
    if (p->cancel_due_ns == INT64_MAX) {
        int64_t after_ns = rh_time_sub(r->start_ns, p->last->captured_ns);
        p->cancel_due_ns = rh_time_add(p->last->sent_ns, scaled(p, after_ns));
    }
    if (p->cancel_due_ns > now_ns) {
        rh_timer_arm(s->worker->loop, &p->timer, p->cancel_due_ns);
        return RH_STEP_WAITS;
    }
    /* What it is to cancel must have been sent. */
    if (!rh_step_flush(p) || !start(p, now_ns)) {
        return RH_STEP_WAITS;
    }
    r->run.fate = RH_FATE_DONE;
    r->run.planned_ns = rh_replay_session_wall_ns(s, p->cancel_due_ns);
    r->start_ns = r->run.sent_ns = rh_replay_session_wall_ns(s, now_ns);
    rh_outcome_clear(&r->outcome);
    rh_step_move_on(p);
    rh_step_settle(p);
    return RH_STEP_GOES_ON;
}

void rh_step_fire_cancel(struct rh_timer *timer, int64_t now_ns)
{
    struct rh_step_play *p = timer->ctx;
    struct rh_replay_session *s = p->session;
    if (s->conn && !s->cancel.is_active && (wants_retry(p) || s->worker->is_stopping)) {
        if (p->first) {
            start(p, now_ns);
        }
        return;
    }
    rh_step_play_go(p);
}

void rh_step_play_cancel(struct rh_step_play *p)
{
    if (p->first && !p->session->cancel.is_active) {
        start(p, rh_clock_mono_ns());
    }
}
