#include "replay/batch.h"

#include <assert.h>

#include "common/alloc.h"

/* An arena that held one huge statement is not kept at that size. */
enum { ARENA_KEEP_BYTES = 4 * RH_BATCH_BYTES };

/* The cursor reads at most 128 records at once. */
static const struct {
    int cap;
    size_t chunk_bytes;
} sizes[RH_BATCH_SIZES] = {
    [RH_BATCH_SMALL] = {4, 1024},
    [RH_BATCH_LARGE] = {32, RH_BATCH_BYTES / 2},
    [RH_BATCH_HUGE] = {128, RH_BATCH_BYTES},
};

static uint64_t bytes_of(enum rh_batch_size size)
{
    return sizeof(struct rh_batch) + (uint64_t) sizes[size].cap * sizeof(struct rh_record) +
           sizes[size].chunk_bytes;
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
    for (int i = 0; i < RH_BATCH_SIZES; i++) {
        free_batches(pool->free[i]);
    }
    pthread_mutex_destroy(&pool->lock);
}

enum rh_batch_size rh_batch_pool_fit(struct rh_batch_pool *pool, enum rh_batch_size wanted)
{
    pthread_mutex_lock(&pool->lock);
    uint64_t out_bytes = pool->out_bytes;
    pthread_mutex_unlock(&pool->lock);
    if (out_bytes > RH_BATCH_POOL_BYTES) {
        return RH_BATCH_SMALL;
    }
    bool huge_is_allowed = out_bytes <= RH_BATCH_POOL_BYTES / 2;
    return wanted == RH_BATCH_HUGE && !huge_is_allowed ? RH_BATCH_LARGE : wanted;
}

struct rh_batch *rh_batch_get(struct rh_batch_pool *pool, enum rh_batch_size size)
{
    pthread_mutex_lock(&pool->lock);
    struct rh_batch *batch = pool->free[size];
    if (batch) {
        pool->free[size] = batch->next;
    } else {
        pool->allocated_count++;
    }
    pool->out_count++;
    pool->out_bytes += bytes_of(size);
    pthread_mutex_unlock(&pool->lock);

    if (!batch) {
        batch = rh_calloc(1, sizeof *batch);
        batch->size = size;
        batch->cap = sizes[size].cap;
        batch->records = rh_calloc((size_t) batch->cap, sizeof *batch->records);
        rh_arena_init(&batch->arena, sizes[size].chunk_bytes);
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
        rh_arena_init(&batch->arena, sizes[batch->size].chunk_bytes);
    } else {
        rh_arena_clear(&batch->arena);
    }
    batch->feed = NULL;
    batch->planned = NULL;

    pthread_mutex_lock(&pool->lock);
    batch->next = pool->free[batch->size];
    pool->free[batch->size] = batch;
    assert(pool->out_count > 0);
    pool->out_count--;
    pool->out_bytes -= bytes_of(batch->size);
    pthread_mutex_unlock(&pool->lock);
}
