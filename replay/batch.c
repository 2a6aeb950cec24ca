#include "replay/batch.h"

#include <assert.h>

#include "common/alloc.h"

/* An arena that held one huge statement is not kept at that size. */
enum { ARENA_KEEP_BYTES = 4 * RH_BATCH_BYTES, SMALL_CHUNK_BYTES = 2048 };

static size_t chunk_bytes(int cap)
{
    return cap == RH_BATCH_SMALL ? SMALL_CHUNK_BYTES : RH_BATCH_BYTES / 2;
}

void rh_batch_pool_init(struct rh_batch_pool *pool)
{
    *pool = (struct rh_batch_pool){0};
    pthread_mutex_init(&pool->lock, NULL);
}

static void free_batches(struct rh_batch *batch)
{
    while (batch) {
        struct rh_batch *next = batch->next;
        rh_arena_release(&batch->arena);
        rh_free(batch->records);
        rh_free(batch);
        batch = next;
    }
}

void rh_batch_pool_release(struct rh_batch_pool *pool)
{
    assert(pool->out_count == 0);
    free_batches(pool->small);
    free_batches(pool->large);
    pthread_mutex_destroy(&pool->lock);
}

struct rh_batch *rh_batch_get(struct rh_batch_pool *pool, int cap)
{
    assert(cap == RH_BATCH_SMALL || cap == RH_BATCH_LARGE);
    struct rh_batch **list = cap == RH_BATCH_SMALL ? &pool->small : &pool->large;

    pthread_mutex_lock(&pool->lock);
    struct rh_batch *batch = *list;
    if (batch) {
        *list = batch->next;
    } else {
        pool->allocated_count++;
    }
    pool->out_count++;
    pthread_mutex_unlock(&pool->lock);

    if (!batch) {
        batch = rh_calloc(1, sizeof *batch);
        batch->records = rh_calloc((size_t) cap, sizeof *batch->records);
        batch->cap = cap;
        rh_arena_init(&batch->arena, chunk_bytes(cap));
    }
    batch->next = NULL;
    batch->count = batch->pos = 0;
    batch->last = batch->failed = batch->is_state = false;
    return batch;
}

void rh_batch_put(struct rh_batch_pool *pool, struct rh_batch *batch)
{
    if (!batch) {
        return;
    }
    if (batch->state) {
        rh_session_state_release(batch->state);
        rh_free(batch->state);
        batch->state = NULL;
    }
    if (batch->arena.used_bytes > ARENA_KEEP_BYTES) {
        rh_arena_release(&batch->arena);
        rh_arena_init(&batch->arena, chunk_bytes(batch->cap));
    } else {
        rh_arena_clear(&batch->arena);
    }
    batch->feed = NULL;
    batch->planned = NULL;

    struct rh_batch **list = batch->cap == RH_BATCH_SMALL ? &pool->small : &pool->large;
    pthread_mutex_lock(&pool->lock);
    batch->next = *list;
    *list = batch;
    assert(pool->out_count > 0);
    pool->out_count--;
    pthread_mutex_unlock(&pool->lock);
}
