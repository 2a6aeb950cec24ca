#include "replay/engine.h"

#include <assert.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "common/alloc.h"
#include "common/clock.h"
#include "common/stop.h"
#include "replay/show_progress.h"
#include "replay/worker.h"

/* A batch covers at most this much of the replay's time, so that outcomes are recorded soon. */
#define BATCH_SPAN_NS RH_NS_PER_SEC

enum { WAKE_EVERY_MS = 250 };

static void wake(struct rh_engine *e)
{
    uint64_t one = 1;
    ssize_t rc = write(e->wake_fd, &one, sizeof one);
    (void) rc; /* it fails only when the counter is full, and then it is readable */
}

void rh_engine_fail(void *engine, const struct rh_error *err)
{
    struct rh_engine *e = engine;
    pthread_mutex_lock(&e->lock);
    if (!e->has_failed) {
        e->has_failed = true;
        e->error = *err;
    }
    pthread_mutex_unlock(&e->lock);
    wake(e);
}

/* A rh_feeder_options.fail.  Sessions that hear of the stop before their batch know the reason. */
static void fail_reading(void *engine, const struct rh_error *err)
{
    struct rh_engine *e = engine;
    atomic_store(&e->is_unreadable, true);
    rh_engine_fail(e, err);
}

void rh_engine_identify(void *engine, struct rh_session *session)
{
    rh_replay_options_identify(((struct rh_engine *) engine)->options, session);
}

static void open_session(void *ctx, struct rh_plan_session *ps)
{
    struct rh_engine *e = ctx;
    rh_worker_open(&e->workers[(ps->session->number + ps->copy) % e->worker_count], ps);
}

/* Whoever waits for a connection holds up nobody: the slot may be that of one who waits for it. */
static void count_as_ended(void *ctx, const struct rh_plan_session *ps)
{
    struct rh_engine *e = ctx;
    const struct rh_order_session *own =
        &e->order->plan.sessions[ps - e->plan->sessions - (ptrdiff_t) ps->copy];
    for (uint32_t i = 0; i < own->count; i++) {
        rh_order_end(e->order, ps->copy, &own->txns[i]);
    }
}

static void begin(void *ctx, int64_t begin_ns)
{
    struct rh_engine *e = ctx;
    atomic_store(&e->begin_ns, begin_ns);
    for (uint32_t i = 0; i < e->worker_count; i++) {
        rh_worker_begin(&e->workers[i]);
    }
}

static void finish(void *ctx)
{
    struct rh_engine *e = ctx;
    atomic_store(&e->is_finished, true);
    wake(e);
}

static int init_recorder(struct rh_engine *e, const struct rh_engine_setup *setup,
                         struct rh_error *err)
{
    const struct rh_recorder_options options = {
        .path = setup->run_path,
        .header = setup->run_header,
        .identify = rh_engine_identify,
        .fail = rh_engine_fail,
        .ctx = e,
    };
    return rh_recorder_new(&e->recorder, &e->pool, &options, err);
}

static int init_feeder(struct rh_engine *e, struct rh_error *err)
{
    double span_ns = (double) BATCH_SPAN_NS * e->options->speed.factor;
    const struct rh_feeder_options options = {
        .cache_bytes = e->options->read_ahead_bytes,
        .span_ns = e->plan->speed_is_max || span_ns > 9e18 ? INT64_MAX : (int64_t) span_ns,
        .fail = fail_reading,
        .ctx = e,
    };
    return rh_feeder_new(&e->feeder, e->plan, &e->pool, &options, err);
}

static int init_workers(struct rh_engine *e, struct rh_error *err)
{
    uint32_t count = rh_replay_options_jobs(e->options, e->plan->peak_count);
    e->workers = rh_calloc(count, sizeof *e->workers);
    for (uint32_t i = 0; i < count; i++) {
        e->worker_count = i + 1;
        if (rh_worker_init(&e->workers[i], e, i, err) != 0) {
            return -1;
        }
    }
    return 0;
}

int rh_engine_init(struct rh_engine *e, const struct rh_engine_setup *setup, struct rh_error *err)
{
    *e = (struct rh_engine){
        .options = setup->options,
        .plan = setup->plan,
        .connector = setup->connector,
        .order = setup->order,
        .wall_offset_ns = rh_clock_wall_ns() - rh_clock_mono_ns(),
        .wake_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK),
    };
    pthread_mutex_init(&e->lock, NULL);
    rh_batch_pool_init(&e->pool);
    if (e->wake_fd < 0) {
        rh_error_set_errno(err, "cannot make an eventfd");
        goto fail;
    }
    if (init_workers(e, err) != 0 || init_feeder(e, err) != 0 ||
        init_recorder(e, setup, err) != 0) {
        goto fail;
    }
    const struct rh_opener_calls calls = {.open = open_session,
                                          .begin = begin,
                                          .finish = finish,
                                          .wait = setup->order ? count_as_ended : NULL,
                                          .ctx = e};
    rh_opener_init(&e->opener, e->plan,
                   setup->max_connections ? setup->max_connections : UINT32_MAX, e->workers[0].loop,
                   &calls);
    rh_connector_on_refusal(e->connector, rh_engine_fail, e);
    return 0;

fail:
    rh_feeder_free(e->feeder);
    for (uint32_t i = 0; i < e->worker_count; i++) {
        rh_worker_release(&e->workers[i]);
    }
    rh_free(e->workers);
    rh_batch_pool_release(&e->pool);
    pthread_mutex_destroy(&e->lock);
    if (e->wake_fd >= 0) {
        close(e->wake_fd);
    }
    return -1;
}

static bool has_failed(struct rh_engine *e)
{
    pthread_mutex_lock(&e->lock);
    bool failed = e->has_failed;
    pthread_mutex_unlock(&e->lock);
    return failed;
}

static void stop(struct rh_engine *e)
{
    rh_opener_stop(&e->opener);
    for (uint32_t i = 0; i < e->worker_count; i++) {
        rh_worker_stop(&e->workers[i]);
    }
    rh_connector_stop(e->connector);
}

/* Wait for the end of all sessions; ask them to end when a stop is asked for or a file fails. */
static void wait_for_end(struct rh_engine *e, struct rh_show_progress *shown)
{
    bool is_stopped = false;
    while (!atomic_load(&e->is_finished)) {
        struct pollfd fds[] = {
            {.fd = e->wake_fd, .events = POLLIN},
            {.fd = is_stopped ? -1 : rh_stop_fd(), .events = POLLIN},
        };
        uint64_t count;
        poll(fds, 2, WAKE_EVERY_MS);
        if (fds[0].revents && read(e->wake_fd, &count, sizeof count) < 0) {
            continue;
        }
        if (!is_stopped && (rh_stop_requested() || has_failed(e))) {
            is_stopped = true;
            stop(e);
        }
        rh_show_progress_update(shown);
    }
    rh_show_progress_end(shown);
}

/* What a stop left unopened is to be recorded too. */
static void note_unopened(struct rh_engine *e)
{
    for (uint32_t i = e->opener.next; i < e->plan->session_count; i++) {
        if (e->plan->sessions[i].unsent == RH_REASON_NONE) {
            e->plan->sessions[i].rest =
                atomic_load(&e->is_unreadable) ? RH_REASON_DAMAGED : RH_REASON_STOPPED;
        }
    }
}

void rh_engine_run(struct rh_engine *e, struct rh_engine_result *result)
{
    struct rh_error err;
    *result = (struct rh_engine_result){0};
    rh_tally_init(&result->tally);
    struct rh_show_progress shown;
    rh_show_progress_init(&shown, e); /* before the workers, whose messages it has to let pass */
    for (uint32_t i = 0; i < e->worker_count; i++) {
        if (rh_worker_start(&e->workers[i], &err) != 0) {
            rh_engine_fail(e, &err);
        }
    }
    if (!has_failed(e)) {
        rh_opener_start(&e->opener);
        wait_for_end(e, &shown);
        int64_t begin_ns = atomic_load(&e->begin_ns);
        result->length_ns = begin_ns ? rh_clock_mono_ns() - begin_ns : 0;
    }
    for (uint32_t i = 0; i < e->worker_count; i++) {
        rh_worker_join(&e->workers[i]);
    }
    rh_recorder_drain(e->recorder);
    note_unopened(e);
    result->read = rh_feeder_count(e->feeder);
    for (uint32_t i = 0; i < e->worker_count; i++) {
        rh_tally_merge(&result->tally, &e->workers[i].tally);
    }
    result->is_stopped = rh_stop_requested();
    result->has_failed = e->has_failed;
    result->error = e->error;
}

void rh_engine_release(struct rh_engine *e)
{
    rh_feeder_free(e->feeder);
    for (uint32_t i = 0; i < e->worker_count; i++) {
        rh_worker_release(&e->workers[i]);
    }
    rh_free(e->workers);
    rh_opener_release(&e->opener);
    rh_batch_pool_release(&e->pool);
    pthread_mutex_destroy(&e->lock);
    close(e->wake_fd);
}
