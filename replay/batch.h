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

/* A session that has little to do holds small batches; one that is busy does not wake the feeder
 * for every few statements. */
enum rh_batch_size { RH_BATCH_SMALL, RH_BATCH_LARGE, RH_BATCH_HUGE, RH_BATCH_SIZES };

enum { RH_BATCH_BYTES = 16 * 1024 };

/* Beyond this much memory in use for batches there are only small ones, beyond half of it no huge
 * ones. */
enum { RH_BATCH_POOL_BYTES = 32 * 1024 * 1024 };

struct rh_batch {
    struct rh_task task;             /* brings it to the worker */
    struct rh_batch *next;           /* in the pool or in the recorder's queue */
    struct rh_feed *feed;            /* who asked for it */
    struct rh_plan_session *planned; /* whose records */
    struct rh_record *records;
    enum rh_batch_size size;
    int cap; /* of records */
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
    struct rh_batch *free[RH_BATCH_SIZES];
    uint64_t out_count; /* batches that are not in the pool */
    uint64_t out_bytes; /* about what they take */
    uint64_t allocated_count;
};

void rh_batch_pool_init(struct rh_batch_pool *pool);
/* All batches must be back. */
void rh_batch_pool_release(struct rh_batch_pool *pool);
/* The size to take where `wanted` would do: a smaller one while much memory is in use. */
enum rh_batch_size rh_batch_pool_fit(struct rh_batch_pool *pool, enum rh_batch_size wanted);
/* An empty batch. */
struct rh_batch *rh_batch_get(struct rh_batch_pool *pool, enum rh_batch_size size);
/* Gives back a batch; NULL is allowed. */
void rh_batch_put(struct rh_batch_pool *pool, struct rh_batch *batch);

#endif
