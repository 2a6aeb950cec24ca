#include "replay/feeder.h"

#include <assert.h>
#include <pthread.h>
#include <string.h>

#include "common/alloc.h"
#include "common/clock.h"
#include "replay/plan_window.h"

/* A cancelled statement of unknown start is not taken to have run longer: idleness before it is
 * likelier then, and it would hold its locks all the time. */
#define ESTIMATE_MAX_NS (60 * RH_NS_PER_SEC)
/* One of which nothing tells how long it can have run. */
#define ESTIMATE_UNKNOWN_NS RH_NS_PER_SEC

struct rh_feeder {
    const struct rh_plan *plan;
    struct rh_batch_pool *pool;
    struct rh_feeder_options options;
    struct rh_block_cache *cache;
    pthread_t thread;
    bool has_failed;

    pthread_mutex_t lock; /* guards what follows */
    pthread_cond_t asked;
    struct rh_feed **heap; /* requests, the earliest place on top */
    size_t heap_count;
    size_t heap_cap;
    bool is_waiting;
    bool is_stopping;
    struct rh_feeder_counts counts;
};

static void heap_put(struct rh_feeder *f, struct rh_feed *feed)
{
    RH_GROW(f->heap, f->heap_count, f->heap_cap); /* NOLINT(bugprone-sizeof-expression) */
    size_t i = f->heap_count++;
    while (i > 0 && f->heap[(i - 1) / 2]->place_ns > feed->place_ns) {
        f->heap[i] = f->heap[(i - 1) / 2];
        i = (i - 1) / 2;
    }
    f->heap[i] = feed;
}

static struct rh_feed *heap_take(struct rh_feeder *f)
{
    struct rh_feed *top = f->heap[0], *moved = f->heap[--f->heap_count];
    size_t i = 0;
    for (size_t child = 1; child < f->heap_count; child = 2 * i + 1) {
        if (child + 1 < f->heap_count && f->heap[child + 1]->place_ns < f->heap[child]->place_ns) {
            child++;
        }
        if (moved->place_ns <= f->heap[child]->place_ns) {
            break;
        }
        f->heap[i] = f->heap[child];
        i = child;
    }
    f->heap[i] = moved;
    return top;
}

/* A part of a capture may begin within a transaction of the session, which was too long for the
 * part before. */
static int find_first(struct rh_feeder *f, struct rh_feed *feed, struct rh_batch *batch,
                      struct rh_error *err)
{
    struct rh_session_cursor ahead = feed->cursor;
    struct rh_plan_seen seen = {0};
    int count;
    do {
        rh_arena_clear(&batch->arena);
        count = rh_session_cursor_read(&ahead, f->cache, batch->records, batch->cap, RH_BATCH_BYTES,
                                       &batch->arena, err);
        for (int i = 0; i < count; i++) {
            if (rh_kind_has_ordinal(batch->records[i].kind)) {
                rh_plan_seen_add(&seen, &batch->records[i]);
            }
        }
    } while (count > 0 && !seen.is_settled);
    rh_arena_clear(&batch->arena);
    feed->planned->first_ordinal = seen.start_ordinal;
    return count < 0 ? -1 : 0;
}

/* To the first record of the window, or of the whole trace. */
static int seek(struct rh_feeder *f, struct rh_feed *feed, struct rh_batch *batch,
                struct rh_error *err)
{
    if (f->plan->from_ns != INT64_MIN) {
        return rh_session_cursor_seek(&feed->cursor, f->cache, f->plan->from_ns, batch->state, err);
    }
    if (rh_session_cursor_seek_ordinal(&feed->cursor, f->cache, 1, batch->state, err) != 0) {
        return -1;
    }
    return find_first(f, feed, batch, err);
}

/* What the session had made of itself when its first record to be sent comes. */
static int restore(struct rh_feeder *f, struct rh_feed *feed, struct rh_batch *batch,
                   struct rh_error *err)
{
    batch->state = rh_malloc(sizeof *batch->state);
    rh_session_state_init(batch->state);
    if (seek(f, feed, batch, err) != 0) {
        return -1;
    }

    /* The cursor is a plain value: a copy walks over the records that are not sent. */
    struct rh_session_cursor ahead = feed->cursor;
    while (ahead.next_ordinal < feed->planned->first_ordinal) {
        int count = rh_session_cursor_read(&ahead, f->cache, batch->records, batch->cap,
                                           RH_BATCH_BYTES, &batch->arena, err);
        if (count < 0) {
            return -1;
        }
        if (count == 0) {
            break;
        }
        for (int i = 0; i < count; i++) {
            const struct rh_record *r = &batch->records[i];
            bool failed = r->outcome.sqlstate != 0 && r->outcome.sqlstate != RH_SQLSTATE_UNKNOWN;
            if (r->ordinal < feed->planned->first_ordinal && !failed && !r->hold) {
                rh_session_state_apply(batch->state, r);
            }
        }
        rh_arena_clear(&batch->arena);
    }
    return 0;
}

/* The cursor of the records stays where it is. */
static int read_state(struct rh_feeder *f, struct rh_feed *feed, struct rh_batch *batch,
                      struct rh_error *err)
{
    struct rh_session_cursor cursor;
    batch->state = rh_malloc(sizeof *batch->state);
    rh_session_state_init(batch->state);
    rh_session_cursor_init(&cursor, feed->planned->trace_index);
    return rh_session_cursor_seek_ordinal(&cursor, f->cache, feed->state_before, batch->state, err);
}

/* How many of the records just read belong into this batch: none from --to on, and none too far
 * ahead in time, so that a batch does not stay unfinished for long. */
static int cut_batch(const struct rh_feeder *f, const struct rh_batch *batch, bool *past_end)
{
    *past_end = false;
    for (int i = 0; i < batch->count; i++) {
        const struct rh_record *r = &batch->records[i];
        if (r->start_ns >= f->plan->to_ns) {
            *past_end = true;
            return i;
        }
        if (i > 0 && rh_kind_has_ordinal(r->kind) &&
            rh_time_sub(r->start_ns, batch->records[0].start_ns) > f->options.span_ns) {
            return i;
        }
    }
    return batch->count;
}

/*
 * Of a statement that a log knows only from its ERROR the start is unknown: the record has the
 * stamp of its end.  It can have begun when the record before it had ended, not earlier.  One that
 * was cancelled begins then, so that it is there to be cancelled at its time; whatever else failed
 * may as well begin at its end.
 */
static void estimate_start(const struct rh_feeder *f, struct rh_feed *feed, struct rh_record *r)
{
    const uint32_t cancelled_late = RH_FLAG_START_ESTIMATED | RH_FLAG_CANCELED;
    int64_t end_ns = r->outcome.done_ns == RH_TIME_UNKNOWN ? r->start_ns : r->outcome.done_ns;
    if ((r->flags & cancelled_late) == cancelled_late) {
        bool is_known = feed->ended_ns != RH_TIME_UNKNOWN;
        int64_t earliest_ns = rh_time_sub(end_ns, is_known ? ESTIMATE_MAX_NS : ESTIMATE_UNKNOWN_NS);
        int64_t from_ns = feed->ended_ns > earliest_ns ? feed->ended_ns : earliest_ns;
        if (from_ns < r->start_ns) {
            r->start_ns = from_ns;
            r->run.planned_ns = rh_time_map_offset_ns(&f->plan->map, from_ns);
        }
        r->outcome.done_ns = end_ns;
    }
    if (rh_kind_has_ordinal(r->kind) && end_ns > feed->ended_ns) {
        feed->ended_ns = end_ns;
    }
}

static int fill(struct rh_feeder *f, struct rh_feed *feed, struct rh_batch *batch,
                struct rh_error *err)
{
    if (batch->is_state) {
        return read_state(f, feed, batch, err);
    }
    if (!feed->has_begun) {
        feed->has_begun = true;
        if (feed->planned->restore && restore(f, feed, batch, err) != 0) {
            return -1;
        }
    }
    batch->count = rh_session_cursor_read(&feed->cursor, f->cache, batch->records, batch->cap,
                                          RH_BATCH_BYTES, &batch->arena, err);
    if (batch->count < 0) {
        return -1;
    }
    bool past_end;
    int keep = cut_batch(f, batch, &past_end);
    batch->last = past_end || batch->count == 0;
    if (keep < batch->count) {
        feed->cursor.next_ordinal = batch->records[keep].ordinal;
        batch->count = keep;
    }
    for (int i = 0; i < keep; i++) {
        feed->place_ns = batch->records[i].start_ns;
        rh_plan_judge(f->plan, feed->planned, &batch->records[i]);
        estimate_start(f, feed, &batch->records[i]);
    }
    return 0;
}

static void serve(struct rh_feeder *f, struct rh_feed *feed)
{
    struct rh_batch *batch = rh_batch_get(f->pool, rh_batch_pool_fit(f->pool, feed->want));
    struct rh_error err;
    batch->feed = feed;
    batch->planned = feed->planned;
    batch->is_state = feed->state_before != 0;
    if (!f->has_failed && fill(f, feed, batch, &err) != 0) {
        f->has_failed = true;
        f->options.fail(f->options.ctx, &err);
    }
    if (f->has_failed) {
        batch->count = 0;
        batch->failed = true;
    }
    feed->state_before = 0;
    batch->task = (struct rh_task){.run = feed->deliver, .ctx = batch};
    rh_loop_post(feed->loop, &batch->task);
}

static void *run(void *arg)
{
    struct rh_feeder *f = arg;
    pthread_setname_np(pthread_self(), "feeder");
    pthread_mutex_lock(&f->lock);
    while (!f->is_stopping) {
        if (f->heap_count == 0) {
            f->is_waiting = true;
            pthread_cond_wait(&f->asked, &f->lock);
            f->is_waiting = false;
            continue;
        }
        struct rh_feed *feed = heap_take(f);
        pthread_mutex_unlock(&f->lock);
        serve(f, feed);
        struct rh_feeder_counts counts = {.decoded_blocks = rh_block_cache_decodes(f->cache)};
        counts.damaged_blocks = rh_block_cache_damaged(f->cache, &counts.damaged_records);
        pthread_mutex_lock(&f->lock);
        f->counts = counts;
    }
    pthread_mutex_unlock(&f->lock);
    return NULL;
}

int rh_feeder_new(struct rh_feeder **out, const struct rh_plan *plan, struct rh_batch_pool *pool,
                  const struct rh_feeder_options *options, struct rh_error *err)
{
    struct rh_feeder *f = rh_calloc(1, sizeof *f);
    f->plan = plan;
    f->pool = pool;
    f->options = *options;
    f->cache = rh_block_cache_new(plan->index, options->cache_bytes);
    pthread_mutex_init(&f->lock, NULL);
    pthread_cond_init(&f->asked, NULL);
    int rc = pthread_create(&f->thread, NULL, run, f);
    if (rc != 0) {
        rh_block_cache_free(f->cache);
        rh_free(f);
        *out = NULL;
        return rh_error_set(err, RH_ERR_LIMIT, "cannot make a thread: %s", strerror(rc));
    }
    *out = f;
    return 0;
}

void rh_feeder_free(struct rh_feeder *f)
{
    if (!f) {
        return;
    }
    pthread_mutex_lock(&f->lock);
    f->is_stopping = true;
    pthread_cond_signal(&f->asked);
    pthread_mutex_unlock(&f->lock);
    pthread_join(f->thread, NULL);
    rh_block_cache_free(f->cache);
    rh_free(f->heap);
    pthread_mutex_destroy(&f->lock);
    pthread_cond_destroy(&f->asked);
    rh_free(f);
}

void rh_feed_init(struct rh_feed *feed, struct rh_plan_session *planned)
{
    *feed = (struct rh_feed){
        .planned = planned,
        .want = RH_BATCH_SMALL,
        .place_ns = planned->open_ns,
        .ended_ns = planned->session->opened_ns,
    };
    rh_session_cursor_init(&feed->cursor, planned->trace_index);
}

void rh_feeder_ask(struct rh_feeder *f, struct rh_feed *feed)
{
    pthread_mutex_lock(&f->lock);
    heap_put(f, feed);
    bool wake = f->is_waiting;
    f->is_waiting = false; /* one signal is enough */
    pthread_mutex_unlock(&f->lock);
    /* Behind the unlock: the feeder, once awake, would only wait for the lock. */
    if (wake) {
        pthread_cond_signal(&f->asked);
    }
}

struct rh_feeder_counts rh_feeder_count(struct rh_feeder *f)
{
    pthread_mutex_lock(&f->lock);
    struct rh_feeder_counts counts = f->counts;
    pthread_mutex_unlock(&f->lock);
    return counts;
}
