#include "replay/recorder.h"

#include <assert.h>
#include <pthread.h>
#include <string.h>
#include <time.h>

#include "common/alloc.h"
#include "common/clock.h"
#include "replay/plan.h"

#define FLUSH_NS (2 * RH_NS_PER_SEC)
/* Once woken, wait for more to come: a wake-up a batch would cost the workers a system call and the
 * machine a change of threads each time. */
#define GATHER_NS (20 * RH_NS_PER_MS)

struct rh_recorder {
    struct rh_batch_pool *pool;
    struct rh_recorder_options options;
    struct rh_trace_writer *writer;
    pthread_t thread;
    bool is_drained;
    bool has_failed;
    struct rh_error error;
    bool is_dirty; /* something was written since the last flush */
    int64_t flushed_ns;

    pthread_mutex_t lock; /* guards what follows */
    pthread_cond_t filled;
    struct rh_batch *first;
    struct rh_batch *last;
    uint32_t count;
    bool is_ending;
};

static void fail(struct rh_recorder *rec, const struct rh_error *err)
{
    if (rec->has_failed) {
        return;
    }
    rec->has_failed = true;
    rec->error = *err;
    rec->options.fail(rec->options.ctx, err);
}

/* Make the session known to the file: as it is replayed, with what is known of it by now.  What the
 * worker notes about it was written before the batch was handed in, so it may be read here. */
static int put_session(struct rh_recorder *rec, struct rh_plan_session *ps, int64_t closed_ns,
                       struct rh_error *err)
{
    struct rh_session session = *ps->session;
    rec->options.identify(rec->options.ctx, &session);
    session.copy = ps->copy;
    session.client = RH_SPAN_NONE;
    session.backend_pid = ps->backend_pid;
    session.flags = 0;
    /* Until the session has ended `rest` is its worker's. */
    if (closed_ns != RH_TIME_UNKNOWN && ps->rest == RH_REASON_CONNECT_FAILED) {
        session.flags = RH_SESSION_LOGIN_FAILED;
    }
    session.opened_ns = ps->opened_wall_ns;
    session.closed_ns = closed_ns;
    ps->is_recorded = true;
    return rh_trace_writer_put_session(rec->writer, &session, err);
}

static int write_record(struct rh_recorder *rec, struct rh_plan_session *ps,
                        const struct rh_record *r, struct rh_error *err)
{
    if (r->kind == RH_KIND_COPY_DATA) {
        return 0;
    }
    int64_t closed_ns = r->kind == RH_KIND_CLOSE ? r->start_ns : RH_TIME_UNKNOWN;
    if ((!ps->is_recorded || r->kind == RH_KIND_CLOSE) &&
        put_session(rec, ps, closed_ns, err) != 0) {
        return -1;
    }
    if (rh_trace_writer_add(rec->writer, r, err) != 0) {
        return -1;
    }
    if (r->kind == RH_KIND_CLOSE && ps->rest == RH_REASON_NONE) {
        rh_trace_writer_end_copy(rec->writer, r->session, r->copy);
    }
    return 0;
}

static void write_batch(struct rh_recorder *rec, struct rh_batch *batch)
{
    struct rh_error err;
    for (int i = 0; i < batch->count && !rec->has_failed; i++) {
        if (write_record(rec, batch->planned, &batch->records[i], &err) != 0) {
            fail(rec, &err);
        }
        rec->is_dirty = true;
    }
    rh_batch_put(rec->pool, batch);
}

static void flush_if_due(struct rh_recorder *rec)
{
    struct rh_error err;
    int64_t now_ns = rh_clock_mono_ns();
    if (now_ns - rec->flushed_ns < FLUSH_NS) {
        return;
    }
    rec->flushed_ns = now_ns;
    if (rec->is_dirty && !rec->has_failed && rh_trace_writer_flush(rec->writer, &err) != 0) {
        fail(rec, &err);
    }
    rec->is_dirty = false;
}

/* Wait for batches, no longer than to the next flush.  With the lock held. */
static void wait_for_batches(struct rh_recorder *rec)
{
    int64_t until_ns = rec->flushed_ns + FLUSH_NS;
    struct timespec until = {until_ns / RH_NS_PER_SEC, until_ns % RH_NS_PER_SEC};
    if (rec->is_dirty) {
        pthread_cond_timedwait(&rec->filled, &rec->lock, &until);
    } else {
        pthread_cond_wait(&rec->filled, &rec->lock);
    }
}

/* With the lock held. */
static void gather(struct rh_recorder *rec)
{
    if (rec->is_ending) {
        return;
    }
    pthread_mutex_unlock(&rec->lock);
    nanosleep(&(struct timespec){.tv_nsec = GATHER_NS}, NULL);
    pthread_mutex_lock(&rec->lock);
}

static void *run(void *arg)
{
    struct rh_recorder *rec = arg;
    pthread_setname_np(pthread_self(), "recorder");
    pthread_mutex_lock(&rec->lock);
    while (rec->first || !rec->is_ending) {
        if (!rec->first) {
            wait_for_batches(rec);
            gather(rec);
        }
        struct rh_batch *batch = rec->first;
        bool too_many = rec->count > RH_RECORDER_BATCHES_MAX;
        rec->first = rec->last = NULL;
        rec->count = 0;
        pthread_mutex_unlock(&rec->lock);
        if (too_many) {
            struct rh_error err;
            rh_error_set(&err, RH_ERR_LIMIT, "%s: the disk does not keep up with the replay",
                         rec->options.path);
            fail(rec, &err);
        }
        while (batch) {
            struct rh_batch *next = batch->next;
            write_batch(rec, batch);
            batch = next;
        }
        flush_if_due(rec);
        pthread_mutex_lock(&rec->lock);
    }
    pthread_mutex_unlock(&rec->lock);
    return NULL;
}

int rh_recorder_new(struct rh_recorder **out, struct rh_batch_pool *pool,
                    const struct rh_recorder_options *options, struct rh_error *err)
{
    struct rh_recorder *rec = rh_calloc(1, sizeof *rec);
    rec->pool = pool;
    rec->options = *options;
    rec->flushed_ns = rh_clock_mono_ns();
    *out = NULL;
    if (rh_trace_writer_open(&rec->writer, options->path, options->header, NULL, err) != 0) {
        rh_free(rec);
        return -1;
    }
    pthread_mutex_init(&rec->lock, NULL);
    pthread_condattr_t attributes;
    pthread_condattr_init(&attributes);
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    pthread_cond_init(&rec->filled, &attributes);
    pthread_condattr_destroy(&attributes);
    int rc = pthread_create(&rec->thread, NULL, run, rec);
    if (rc != 0) {
        rec->is_drained = true;
        rh_recorder_discard(rec);
        return rh_error_set(err, RH_ERR_LIMIT, "cannot make a thread: %s", strerror(rc));
    }
    *out = rec;
    return 0;
}

void rh_recorder_put(struct rh_recorder *rec, struct rh_batch *batch)
{
    batch->next = NULL;
    pthread_mutex_lock(&rec->lock);
    if (rec->last) {
        rec->last->next = batch;
    } else {
        rec->first = batch;
    }
    rec->last = batch;
    bool is_first = ++rec->count == 1;
    pthread_mutex_unlock(&rec->lock);
    if (is_first) {
        pthread_cond_signal(&rec->filled);
    }
}

void rh_recorder_drain(struct rh_recorder *rec)
{
    if (rec->is_drained) {
        return;
    }
    pthread_mutex_lock(&rec->lock);
    rec->is_ending = true;
    pthread_cond_signal(&rec->filled);
    pthread_mutex_unlock(&rec->lock);
    pthread_join(rec->thread, NULL);
    rec->is_drained = true;
}

int rh_recorder_write(struct rh_recorder *rec, struct rh_plan_session *planned,
                      const struct rh_record *r, struct rh_error *err)
{
    assert(rec->is_drained);
    return write_record(rec, planned, r, err);
}

bool rh_recorder_failed(const struct rh_recorder *rec, struct rh_error *err)
{
    assert(rec->is_drained);
    if (rec->has_failed) {
        *err = rec->error;
    }
    return rec->has_failed;
}

void rh_recorder_note(struct rh_recorder *rec, const char *name, struct rh_span value)
{
    assert(rec->is_drained);
    rh_trace_writer_note(rec->writer, name, value);
}

static void release(struct rh_recorder *rec)
{
    pthread_mutex_destroy(&rec->lock);
    pthread_cond_destroy(&rec->filled);
    rh_free(rec);
}

int rh_recorder_finish(struct rh_recorder *rec, bool stopped_early, struct rh_error *err)
{
    assert(rec->is_drained);
    int rc = rh_trace_writer_finish(rec->writer, stopped_early, err);
    release(rec);
    return rc;
}

void rh_recorder_discard(struct rh_recorder *rec)
{
    assert(rec->is_drained);
    rh_trace_writer_discard(rec->writer);
    release(rec);
}
