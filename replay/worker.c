#include "replay/worker.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

#include "common/alloc.h"
#include "common/clock.h"
#include "common/log.h"
#include "formats/pg_write.h"
#include "replay/session.h"

/* How long a statement may go on after a stop was asked for, and again after it was cancelled. */
#define STOP_PATIENCE_NS RH_NS_PER_SEC

static void for_each_session(struct rh_worker *w, void (*act)(struct rh_replay_session *s))
{
    struct rh_replay_session *next;
    for (struct rh_replay_session *s = w->sessions; s; s = next) {
        next = s->next;
        act(s);
    }
}

static void run_open(struct rh_task *task)
{
    struct rh_plan_session *ps = task->ctx;
    rh_replay_session_new(ps->worker, ps);
}

static void run_begin(struct rh_task *task)
{
    struct rh_worker *w = task->ctx;
    w->begin_ns = atomic_load(&w->engine->begin_ns);
    for_each_session(w, rh_replay_session_step);
}

static void run_stop(struct rh_task *task)
{
    struct rh_worker *w = task->ctx;
    w->is_stopping = true;
    for_each_session(w, rh_replay_session_stop);
    rh_timer_arm(w->loop, &w->stop_timer, rh_clock_mono_ns() + STOP_PATIENCE_NS);
}

static void fire_stop(struct rh_timer *timer, int64_t now_ns)
{
    struct rh_worker *w = timer->ctx;
    if (w->stop_stage++ == 0) {
        for_each_session(w, rh_replay_session_cancel);
        rh_timer_arm(w->loop, &w->stop_timer, now_ns + STOP_PATIENCE_NS);
    } else {
        for_each_session(w, rh_replay_session_abort);
    }
}

static void run_reap(struct rh_task *task)
{
    struct rh_worker *w = task->ctx;
    while (w->dead) {
        struct rh_replay_session *s = w->dead;
        w->dead = s->next;
        struct rh_plan_session *ps = s->planned;
        rh_replay_session_free(s);
        rh_opener_closed(&w->engine->opener, ps);
    }
}

int rh_worker_init(struct rh_worker *w, struct rh_engine *engine, uint32_t number,
                   struct rh_error *err)
{
    *w = (struct rh_worker){
        .engine = engine,
        .number = number,
        .begin_task = {.run = run_begin, .ctx = w},
        .stop_task = {.run = run_stop, .ctx = w},
        .reap_task = {.run = run_reap, .ctx = w},
        .stop_timer = {.fire = fire_stop, .ctx = w},
    };
    rh_buf_init(&w->text, RH_PG_LARGE_MAX);
    rh_buf_init(&w->out, (size_t) RH_PG_LARGE_MAX + RH_WORKER_INPUT_BYTES);
    w->input = rh_malloc(RH_WORKER_INPUT_BYTES);
    rh_tally_init(&w->tally);
    return rh_loop_new(&w->loop, err);
}

static void run_round(void *ctx)
{
    rh_round_run(ctx);
}

static void *run(void *arg)
{
    struct rh_worker *w = arg;
    struct rh_error err;
    char name[16];
    rh_round_init(&w->round, rh_ring_new());
    rh_loop_on_turn(w->loop, run_round, &w->round);
    snprintf(name, sizeof name, "worker %u", w->number % 100);
    pthread_setname_np(pthread_self(), name);
    if (rh_loop_run(w->loop, &err) != 0) {
        rh_engine_fail(w->engine, &err);
    }
    rh_round_release(&w->round);
    return NULL;
}

int rh_worker_start(struct rh_worker *w, struct rh_error *err)
{
    rh_reconnector_init(&w->reconnector, w->loop, w->engine->options->reconnect_timeout_ns);
    int rc = pthread_create(&w->thread, NULL, run, w);
    if (rc != 0) {
        return rh_error_set(err, RH_ERR_LIMIT, "cannot make a thread: %s", strerror(rc));
    }
    w->has_thread = true;
    return 0;
}

void rh_worker_join(struct rh_worker *w)
{
    if (!w->has_thread) {
        return;
    }
    rh_loop_stop(w->loop);
    pthread_join(w->thread, NULL);
    w->has_thread = false;
}

void rh_worker_release(struct rh_worker *w)
{
    assert(!w->sessions && !w->dead);
    if (w->loop) {
        rh_loop_free(w->loop);
    }
    rh_buf_release(&w->text);
    rh_buf_release(&w->out);
    rh_free(w->input);
    rh_tally_release(&w->tally);
}

void rh_worker_open(struct rh_worker *w, struct rh_plan_session *ps)
{
    ps->worker = w;
    ps->open_task = (struct rh_task){.run = run_open, .ctx = ps};
    rh_loop_post(w->loop, &ps->open_task);
}

void rh_worker_begin(struct rh_worker *w)
{
    rh_loop_post(w->loop, &w->begin_task);
}

void rh_worker_stop(struct rh_worker *w)
{
    rh_loop_post(w->loop, &w->stop_task);
}

void rh_worker_trim(struct rh_worker *w)
{
    if (w->text.cap > RH_WORKER_KEEP_BYTES) {
        rh_buf_release(&w->text);
    }
    if (w->out.cap > RH_WORKER_KEEP_BYTES) {
        rh_buf_release(&w->out);
    }
}

void rh_worker_bury(struct rh_worker *w, struct rh_replay_session *s)
{
    if (s->prev) {
        s->prev->next = s->next;
    } else {
        w->sessions = s->next;
    }
    if (s->next) {
        s->next->prev = s->prev;
    }
    if (!w->dead) {
        rh_loop_post(w->loop, &w->reap_task);
    }
    s->next = w->dead;
    w->dead = s;
}
