#include "replay/session.h"

#include <assert.h>
#include <stdio.h>

#include "common/alloc.h"
#include "common/clock.h"
#include "common/log.h"
#include "replay/connector.h"
#include "replay/session_parts.h"
#include "replay/step_play.h"

int64_t rh_replay_session_wall_ns(const struct rh_replay_session *s, int64_t mono_ns)
{
    return rh_time_add(mono_ns, s->worker->engine->wall_offset_ns);
}

/* Nobody else has anything of the session: it can go. */
static void bury_if_free(struct rh_replay_session *s)
{
    if (!s->is_asked && !s->connect && !s->again.posted && !atomic_load(&s->order_wait.is_posted)) {
        rh_worker_bury(s->worker, s);
    }
}

static void report_ready(struct rh_replay_session *s)
{
    if (s->is_reported) {
        return;
    }
    s->is_reported = true;
    rh_opener_ready(&s->worker->engine->opener, s->planned);
}

void rh_replay_session_disconnect(struct rh_replay_session *s, enum rh_parting how)
{
    rh_replay_session_drop_cancel(s);
    rh_timer_cancel(s->worker->loop, &s->timer);
    if (s->steps) {
        rh_timer_cancel(s->worker->loop, &s->steps->timer);
    }
    if (how != RH_PARTING_LOST) {
        rh_round_flush(&s->worker->round);
    }
    if (!s->conn) {
        return;
    }
    atomic_fetch_sub_explicit(&s->worker->progress.sessions_open, 1, memory_order_relaxed);
    rh_loop_unwatch(s->worker->loop, &s->watch);
    rh_round_drop(&s->worker->round, s);
    switch (how) {
    case RH_PARTING_TERMINATE:
        rh_conn_close(s->conn);
        break;
    case RH_PARTING_RESET:
        rh_conn_reset(s->conn);
        break;
    case RH_PARTING_SILENT:
    case RH_PARTING_LOST:
        rh_conn_abort(s->conn);
        break;
    }
    s->conn = NULL;
}

/* A session that came to its end parts as its client did in production. */
static enum rh_parting parting_of(const struct rh_replay_session *s, enum rh_reason rest)
{
    uint32_t flags = s->planned->session->flags;
    if (rest == RH_REASON_NONE && (flags & RH_SESSION_RESET)) {
        return RH_PARTING_RESET;
    }
    if (rest == RH_REASON_NONE && (flags & RH_SESSION_NO_TERMINATE)) {
        return RH_PARTING_SILENT;
    }
    bool is_busy = s->state == RH_REPLAY_BUSY || rest == RH_REASON_SESSION_LOST;
    return is_busy ? RH_PARTING_LOST : RH_PARTING_TERMINATE;
}

/* The words of the captured CLOSE. */
static const char *parting_text(const struct rh_replay_session *s, enum rh_parting how)
{
    return !s->conn                   ? NULL
           : how == RH_PARTING_RESET  ? "connection reset"
           : how == RH_PARTING_SILENT ? "closed without Terminate"
                                      : NULL;
}

void rh_replay_session_end(struct rh_replay_session *s, enum rh_reason rest, const char *how)
{
    if (s->state == RH_REPLAY_ENDED) {
        return;
    }
    int64_t now_ns = rh_clock_mono_ns();
    enum rh_parting parting = parting_of(s, rest);
    how = how ? how : parting_text(s, parting);
    if (s->state == RH_REPLAY_BUSY && s->purpose == RH_PURPOSE_RECORD) {
        rh_replay_session_lose_record(s, now_ns);
    }
    rh_replay_session_disconnect(s, parting);
    rh_replay_session_leave_order(s);
    rh_reconnector_drop(&s->worker->reconnector, &s->reconnect);
    s->state = RH_REPLAY_ENDED;

    s->planned->rest = rh_replay_session_has_rest(s) ? rest : RH_REASON_NONE;
    s->planned->rest_ordinal = s->last_ordinal + 1;
    rh_replay_session_drop_batches(s);
    if (s->planned->rest == RH_REASON_NONE) {
        rh_replay_session_log(s, RH_KIND_CLOSE, how);
    } else {
        /* A session's CLOSE is its last record: rh_unsent_write() writes it behind the rest. */
        s->planned->closed_wall_ns = rh_replay_session_wall_ns(s, now_ns);
        s->planned->closed_how = rh_strdup(how);
    }
    report_ready(s);
    bury_if_free(s);
}

void rh_replay_session_drop_state(struct rh_replay_session *s)
{
    if (s->state_to_restore) {
        rh_session_state_release(s->state_to_restore);
        rh_free(s->state_to_restore);
        s->state_to_restore = NULL;
    }
}

void rh_replay_session_ready(struct rh_replay_session *s, int64_t now_ns)
{
    rh_replay_session_drop_state(s);
    s->state = RH_REPLAY_IDLE;
    s->ready_ns = now_ns;
    report_ready(s);
    rh_replay_session_step(s);
}

/* A trace that cannot be read stops the replay too. */
static void end_stopped(struct rh_replay_session *s)
{
    if (atomic_load(&s->worker->engine->is_unreadable)) {
        rh_replay_session_end(s, RH_REASON_DAMAGED, "the trace cannot be read any further");
    } else {
        rh_replay_session_end(s, RH_REASON_STOPPED, "the replay was stopped");
    }
}

static void end_turn(struct rh_replay_session *s, enum rh_reconnect_end end)
{
    if (s->reconnect.is_running) {
        rh_reconnector_end(&s->worker->reconnector, &s->reconnect, end);
    }
}

static void refused(struct rh_replay_session *s, const struct rh_connect_request *request)
{
    if (request->error.code == RH_ERR_STOPPED) {
        end_turn(s, RH_RECONNECT_LEFT);
        end_stopped(s);
    } else if (!rh_replay_session_retry(s, request)) {
        end_turn(s, RH_RECONNECT_ANSWERED);
        rh_replay_session_give_up(s, request->error.text);
    }
}

static void connected(struct rh_replay_session *s, struct rh_conn *conn)
{
    struct rh_error err;
    s->conn = conn;
    atomic_fetch_add_explicit(&s->worker->progress.sessions_open, 1, memory_order_relaxed);
    if (s->is_reopening) {
        rh_replay_session_reopened(s);
    } else {
        s->planned->backend_pid = rh_conn_backend_pid(conn);
        s->planned->opened_wall_ns = rh_replay_session_wall_ns(s, rh_clock_mono_ns());
        s->worker->tally.sessions_opened++;
        rh_replay_session_log(s, RH_KIND_OPEN, NULL);
    }
    s->state = RH_REPLAY_RESTORING;
    if (rh_replay_session_watch(s, &err) != 0) {
        rh_replay_session_lose(s, err.text);
    } else {
        rh_replay_session_restore(s, rh_clock_mono_ns());
    }
}

static void connect_done(struct rh_connect_request *request)
{
    struct rh_replay_session *s = request->ctx;
    s->connect = NULL;
    if (s->state == RH_REPLAY_ENDED) {
        end_turn(s, RH_RECONNECT_LEFT);
        if (request->conn) {
            rh_conn_close(request->conn);
        }
        bury_if_free(s);
    } else if (!request->conn) {
        refused(s, request);
    } else {
        end_turn(s, RH_RECONNECT_ANSWERED);
        connected(s, request->conn);
    }
    rh_free(request);
}

void rh_replay_session_connect(struct rh_replay_session *s)
{
    s->state = RH_REPLAY_CONNECTING;
    struct rh_engine *engine = s->worker->engine;
    struct rh_session session = *s->planned->session;
    rh_engine_identify(engine, &session);
    s->connect = rh_calloc(1, sizeof *s->connect);
    *s->connect = (struct rh_connect_request){
        .user = session.user,
        .database = session.database,
        .application = session.application,
        .startup = session.startup,
        .startup_count = session.startup_count,
        .slim = true,
        .loop = s->worker->loop,
        .done = connect_done,
        .ctx = s,
    };
    rh_connector_put(engine->connector, s->connect);
}

/* What a re-opened session had asked for. */
static void take_state(struct rh_replay_session *s, struct rh_batch *batch)
{
    rh_replay_session_drop_state(s);
    s->state_to_restore = batch->state;
    batch->state = NULL;
    rh_batch_put(&s->worker->engine->pool, batch);
    s->has_state = true;
    if (s->state == RH_REPLAY_RESTORING && !s->exchange.is_active) {
        rh_replay_session_restore(s, rh_clock_mono_ns());
    }
}

static void deliver(struct rh_task *task)
{
    struct rh_batch *batch = task->ctx;
    struct rh_replay_session *s = batch->feed->ctx;
    s->is_asked = false;
    if (s->state == RH_REPLAY_ENDED) {
        rh_batch_put(&s->worker->engine->pool, batch);
        bury_if_free(s);
        return;
    }
    if (batch->is_state) {
        take_state(s, batch);
        return;
    }
    if (batch->state) {
        rh_replay_session_drop_state(s);
        s->state_to_restore = batch->state;
        batch->state = NULL;
    }
    if (s->ahead) {
        s->ahead_last->next = batch;
    } else {
        s->ahead = batch;
    }
    s->ahead_last = batch;
    s->received_count = batch->count;
    if (s->state == RH_REPLAY_RESTORING && !s->exchange.is_active) {
        rh_replay_session_restore(s, rh_clock_mono_ns());
    } else {
        if (!s->steps) {
            rh_replay_session_replan_cancel(s);
        }
        rh_replay_session_step(s);
    }
}

static void run_again(struct rh_task *task)
{
    struct rh_replay_session *s = task->ctx;
    if (s->state == RH_REPLAY_ENDED) {
        bury_if_free(s);
    } else if (s->conn) {
        s->watch.ready(&s->watch, RH_LOOP_READ);
    }
}

static void run_turn(struct rh_task *task)
{
    struct rh_replay_session *s = task->ctx;
    atomic_store(&s->order_wait.is_posted, false);
    if (s->state == RH_REPLAY_ENDED) {
        bury_if_free(s);
    } else {
        rh_replay_session_step(s);
    }
}

void rh_replay_session_new(struct rh_worker *w, struct rh_plan_session *ps)
{
    struct rh_replay_session *s = rh_calloc(1, sizeof *s);
    s->worker = w;
    s->planned = ps;
    s->next = w->sessions;
    if (s->next) {
        s->next->prev = s;
    }
    w->sessions = s;
    s->state = RH_REPLAY_CONNECTING;
    s->timer = (struct rh_timer){.fire = rh_replay_session_fire, .ctx = s};
    s->again = (struct rh_task){.run = run_again, .ctx = s};
    s->order_wait = (struct rh_order_wait){.loop = w->loop, .task = {.run = run_turn, .ctx = s}};
    rh_pg_scan_init(&s->scan, RH_PG_BACKEND, RH_PG_BODY_MAX);
    rh_prepared_init(&s->prepared);
    rh_replay_session_init_reconnect(s);
    rh_feed_init(&s->feed, ps);
    if (w->engine->plan->has_steps) {
        s->steps = rh_step_play_new(s);
    }
    s->feed.loop = w->loop;
    s->feed.deliver = deliver;
    s->feed.ctx = s;
    if (w->is_stopping) {
        end_stopped(s);
        return;
    }
    rh_replay_session_ask(s, rh_clock_mono_ns());
    rh_replay_session_connect(s);
}

void rh_replay_session_free(struct rh_replay_session *s)
{
    assert(s->state == RH_REPLAY_ENDED && !s->batch && !s->ahead && !s->conn && !s->connect);
    rh_replay_session_drop_state(s);
    rh_pg_scan_release(&s->scan);
    rh_prepared_release(&s->prepared);
    rh_step_play_free(s->steps);
    rh_free(s->lost_how);
    rh_free(s->refused_how);
    rh_free(s);
}

void rh_replay_session_stop(struct rh_replay_session *s)
{
    if (s->state != RH_REPLAY_BUSY) {
        end_stopped(s);
    }
}

void rh_replay_session_abort(struct rh_replay_session *s)
{
    end_stopped(s);
}
