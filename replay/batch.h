/*
 * replay/batch.h
 *
 * A few records of one session on their way: the feeder fills a batch, the session's worker writes
 * the outcomes into it, the recorder writes it to the run and gives it back to the pool.  A
 * statement is not copied on the way.
 */
#ifndef RH_REPLAY_BATCH_H
#define RH_REPLAY_BATCH_H

#include <pthread.h>
#include <stdbool.h>

#include "common/arena.h"
#include "common/loop.h"
#include "formats/record.h"
#include "formats/session_state.h"

struct rh_feed;
struct rh_plan_session;

/* A session that has little to do holds small batches. */
enum { RH_BATCH_SMALL = 4, RH_BATCH_LARGE = 32, RH_BATCH_BYTES = 16 * 1024 };

struct rh_batch {
    struct rh_task task;             /* brings it to the worker */
    struct rh_batch *next;           /* in the pool or in the recorder's queue */
    struct rh_feed *feed;            /* who asked for it */
    struct rh_plan_session *planned; /* whose records */
    struct rh_record *records;
    int cap;
    int count;
    int pos;                        /* the worker's: first record without its outcome */
    bool last;                      /* the session has no records behind these */
    bool failed;                    /* what is behind these cannot be read */
    struct rh_arena arena;          /* what the records point to */
    bool is_state;                  /* the answer to a question for a state: no records */
    struct rh_session_state *state; /* with it, or with a restored session's first batch: what to
                                       restore; the session frees it */
};

/* Thread-safe. */
struct rh_batch_pool {
    pthread_mutex_t lock;
    struct rh_batch *small;
    struct rh_batch *large;
    uint64_t out_count; /* batches that are not in the pool */
    uint64_t allocated_count;
};

void rh_batch_pool_init(struct rh_batch_pool *pool);
/* All batches must be back. */
void rh_batch_pool_release(struct rh_batch_pool *pool);
/* An empty batch with room for RH_BATCH_SMALL or RH_BATCH_LARGE records. */
struct rh_batch *rh_batch_get(struct rh_batch_pool *pool, int cap);
/* Gives back a batch; NULL is allowed. */
void rh_batch_put(struct rh_batch_pool *pool, struct rh_batch *batch);

#endif
