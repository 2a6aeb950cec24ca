/*
 * replay/feeder.h
 *
 * The thread that reads the trace.  Sessions ask for their next records when they need them; each
 * has a cursor of its own, so one that is blocked has no claim on anything but its batches.
 * Requests are served in the order of the trace's time, which keeps the block cache's hits high.
 */
#ifndef RH_REPLAY_FEEDER_H
#define RH_REPLAY_FEEDER_H

#include <stdbool.h>
#include <stdint.h>

#include "common/error.h"
#include "common/loop.h"
#include "formats/trace_index.h"
#include "replay/batch.h"
#include "replay/plan.h"

struct rh_feeder;

/* One session's place in the trace.  Between ask and delivery it is the feeder's. */
struct rh_feed {
    struct rh_plan_session *planned;
    struct rh_loop *loop;      /* where the batch is delivered */
    rh_task_callback *deliver; /* task->ctx is the struct rh_batch; its feed is this one */
    void *ctx;                 /* the asker's */
    enum rh_batch_size want;   /* of the next batch */
    uint64_t state_before;     /* not 0: no records are wanted, but what the session has made of
                                  itself before this ordinal; 0 again once delivered */
    struct rh_session_cursor cursor;
    int64_t place_ns; /* start of the last record read */
    int64_t ended_ns; /* when the last record read had ended in the capture; before: its opening */
    bool has_begun;
};

struct rh_feeder_options {
    uint64_t cache_bytes;
    int64_t span_ns; /* trace time that one batch may cover */
    /* Reading failed: called once, in the feeder's thread; from then on batches are empty and
     * failed. */
    void (*fail)(void *ctx, const struct rh_error *err);
    void *ctx;
};

int rh_feeder_new(struct rh_feeder **out, const struct rh_plan *plan, struct rh_batch_pool *pool,
                  const struct rh_feeder_options *options, struct rh_error *err);
/* Ends the thread; batches not delivered are given back.  Nobody asks any more. */
void rh_feeder_free(struct rh_feeder *feeder);

void rh_feed_init(struct rh_feed *feed, struct rh_plan_session *planned);
/* Have the next records delivered; one request a feed at a time.  From any thread. */
void rh_feeder_ask(struct rh_feeder *feeder, struct rh_feed *feed);
/* Blocks decoded so far, and those found damaged then, with their records. */
struct rh_feeder_counts {
    uint64_t decoded_blocks;
    uint32_t damaged_blocks;
    uint64_t damaged_records;
};
struct rh_feeder_counts rh_feeder_count(struct rh_feeder *feeder);

#endif
