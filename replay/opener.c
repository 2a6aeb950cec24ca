#include "replay/opener.h"

#include "common/alloc.h"
#include "common/clock.h"

static void pump(struct rh_opener *o);

static void run_task(struct rh_task *task)
{
    struct rh_opener *o = task->ctx;
    pthread_mutex_lock(&o->lock);
    o->is_posted = false;
    pthread_mutex_unlock(&o->lock);
    pump(o);
}

static void fire(struct rh_timer *timer, int64_t now_ns)
{
    (void) now_ns;
    pump(timer->ctx);
}

/* With the lock held. */
static void post(struct rh_opener *o)
{
    if (o->is_posted) {
        return;
    }
    o->is_posted = true;
    rh_loop_post(o->loop, &o->task);
}

void rh_opener_init(struct rh_opener *o, struct rh_plan *plan, uint32_t limit, struct rh_loop *loop,
                    const struct rh_opener_calls *calls)
{
    *o = (struct rh_opener){
        .plan = plan,
        .calls = *calls,
        .loop = loop,
        .limit = limit,
        .timer = {.fire = fire, .ctx = o},
        .task = {.run = run_task, .ctx = o},
    };
    o->closed = rh_calloc(plan->close_count + 1, sizeof *o->closed);
    pthread_mutex_init(&o->lock, NULL);
}

void rh_opener_release(struct rh_opener *o)
{
    rh_free(o->closed);
    o->closed = NULL;
    pthread_mutex_destroy(&o->lock);
}

void rh_opener_start(struct rh_opener *o)
{
    pthread_mutex_lock(&o->lock);
    post(o);
    pthread_mutex_unlock(&o->lock);
}

void rh_opener_ready(struct rh_opener *o, struct rh_plan_session *ps)
{
    if (!ps->is_initial) {
        return;
    }
    pthread_mutex_lock(&o->lock);
    if (o->unready_count > 0 && --o->unready_count == 0) {
        post(o);
    }
    pthread_mutex_unlock(&o->lock);
}

void rh_opener_closed(struct rh_opener *o, struct rh_plan_session *ps)
{
    pthread_mutex_lock(&o->lock);
    o->closed_count++;
    if (ps->close_rank != UINT32_MAX) {
        o->closed[ps->close_rank] = true;
    }
    while (o->closed_prefix < o->plan->close_count && o->closed[o->closed_prefix]) {
        o->closed_prefix++;
    }
    post(o);
    pthread_mutex_unlock(&o->lock);
}

void rh_opener_stop(struct rh_opener *o)
{
    pthread_mutex_lock(&o->lock);
    o->is_stopping = true;
    post(o);
    pthread_mutex_unlock(&o->lock);
}

/* Whether the time of a session has come; arms the timer when only that is missing. */
static bool is_due(struct rh_opener *o, const struct rh_plan_session *ps, uint32_t closed_prefix)
{
    if (!o->has_begun) {
        return ps->is_initial;
    }
    if (o->plan->speed_is_max) {
        return closed_prefix >= ps->closed_before;
    }
    int64_t due_ns = rh_time_add(o->begin_ns, rh_time_map_offset_ns(&o->plan->map, ps->open_ns));
    if (due_ns <= rh_clock_mono_ns()) {
        return true;
    }
    rh_timer_arm(o->loop, &o->timer, due_ns);
    return false;
}

/* Tell of all that would be open if there were slots. */
static void tell_waiting(struct rh_opener *o, uint32_t closed_prefix)
{
    if (o->told < o->next) {
        o->told = o->next;
    }
    while (o->calls.wait && o->told < o->plan->session_count) {
        const struct rh_plan_session *ps = &o->plan->sessions[o->told];
        if (!ps->unsent && !is_due(o, ps, closed_prefix)) {
            break;
        }
        if (!ps->unsent) {
            o->calls.wait(o->calls.ctx, ps);
        }
        o->told++;
    }
}

/* Whether the next session may open now. */
static bool may_open(struct rh_opener *o, const struct rh_plan_session *ps, uint32_t closed_count,
                     uint32_t closed_prefix)
{
    if (o->started_count - closed_count >= o->limit) {
        tell_waiting(o, closed_prefix);
        return false;
    }
    return is_due(o, ps, closed_prefix);
}

static void open_next(struct rh_opener *o, struct rh_plan_session *ps)
{
    o->next++;
    o->started_count++;
    if (!o->has_begun) {
        pthread_mutex_lock(&o->lock);
        o->unready_count++;
        pthread_mutex_unlock(&o->lock);
    }
    o->calls.open(o->calls.ctx, ps);
}

static void begin(struct rh_opener *o)
{
    o->has_begun = true;
    o->begin_ns = rh_clock_mono_ns();
    o->calls.begin(o->calls.ctx, o->begin_ns);
}

static void pump(struct rh_opener *o)
{
    const struct rh_plan *plan = o->plan;
    bool may_go_on = true;
    while (may_go_on && !o->has_finished) {
        pthread_mutex_lock(&o->lock);
        uint32_t closed_count = o->closed_count, closed_prefix = o->closed_prefix;
        uint32_t unready_count = o->unready_count;
        bool stopping = o->is_stopping;
        pthread_mutex_unlock(&o->lock);

        while (o->next < plan->session_count && plan->sessions[o->next].unsent) {
            o->next++;
        }
        bool none_left = stopping || o->next == plan->session_count;
        struct rh_plan_session *ps = none_left ? NULL : &o->plan->sessions[o->next];
        if (ps && may_open(o, ps, closed_count, closed_prefix)) {
            open_next(o, ps);
        } else if (!o->has_begun && !stopping && unready_count == 0) {
            begin(o);
        } else {
            may_go_on = false;
            if (none_left && closed_count == o->started_count) {
                o->has_finished = true;
                rh_timer_cancel(o->loop, &o->timer);
                o->calls.finish(o->calls.ctx);
            }
        }
    }
}
