#include "formats/block_cache.h"

#include "common/alloc.h"
#include "common/map.h"

struct entry {
    struct rh_trace_block block;
    struct entry *newer;
    struct entry *older;
};

struct rh_block_cache {
    const struct rh_trace_index *index;
    const struct rh_trace_file *file;
    struct rh_block_loader loader;
    struct rh_map entries; /* by block */
    struct entry *newest;
    struct entry *oldest;
    struct entry *spare; /* its memory is used again */
    uint32_t count;
    uint64_t bytes;
    uint64_t max_bytes;
    uint64_t decodes;
    uint8_t *bad; /* by block */
    uint32_t damaged;
    uint64_t damaged_records;
};

enum { BLOCKS_MIN = 2 };

struct rh_block_cache *rh_block_cache_new(const struct rh_trace_index *index, uint64_t max_bytes)
{
    struct rh_block_cache *c = rh_calloc(1, sizeof *c);
    c->index = index;
    c->file = rh_trace_index_file(index);
    c->max_bytes = max_bytes;
    rh_block_loader_init(&c->loader);
    rh_map_init(&c->entries);
    c->bad = rh_calloc(rh_trace_file_block_count(c->file), 1);
    return c;
}

static void free_entry(struct entry *e)
{
    rh_trace_block_release(&e->block);
    rh_free(e);
}

void rh_block_cache_free(struct rh_block_cache *c)
{
    if (!c) {
        return;
    }
    while (c->newest) {
        struct entry *e = c->newest;
        c->newest = e->older;
        free_entry(e);
    }
    if (c->spare) {
        free_entry(c->spare);
    }
    rh_map_release(&c->entries);
    rh_block_loader_release(&c->loader);
    rh_free(c->bad);
    rh_free(c);
}

uint64_t rh_block_cache_decodes(const struct rh_block_cache *c)
{
    return c->decodes;
}

uint32_t rh_block_cache_damaged(const struct rh_block_cache *c, uint64_t *records)
{
    if (records) {
        *records = c->damaged_records;
    }
    return c->damaged;
}

const struct rh_trace_index *rh_block_cache_index(const struct rh_block_cache *c)
{
    return c->index;
}

static void unlink_entry(struct rh_block_cache *c, struct entry *e)
{
    *(e->newer ? &e->newer->older : &c->newest) = e->older;
    *(e->older ? &e->older->newer : &c->oldest) = e->newer;
}

static void link_newest(struct rh_block_cache *c, struct entry *e)
{
    e->newer = NULL;
    e->older = c->newest;
    *(c->newest ? &c->newest->newer : &c->oldest) = e;
    c->newest = e;
}

static void keep_spare(struct rh_block_cache *c, struct entry *e)
{
    if (c->spare) {
        free_entry(e);
    } else {
        c->spare = e;
    }
}

/* Until what is kept and one more block fit. */
static void give_up_oldest(struct rh_block_cache *c)
{
    while (c->count >= BLOCKS_MIN && c->bytes > c->max_bytes) {
        struct entry *e = c->oldest;
        unlink_entry(c, e);
        rh_map_remove(&c->entries, e->block.index);
        c->count--;
        c->bytes -= e->block.arena.used_bytes;
        keep_spare(c, e);
    }
}

static struct entry *take_entry(struct rh_block_cache *c)
{
    struct entry *e = c->spare;
    c->spare = NULL;
    if (!e) {
        e = rh_calloc(1, sizeof *e);
        rh_trace_block_init(&e->block);
    }
    return e;
}

const struct rh_trace_block *rh_block_cache_get(struct rh_block_cache *c, uint32_t index,
                                                int *result, struct rh_error *err)
{
    *result = 1;
    struct entry *e = rh_map_get(&c->entries, index);
    if (e) {
        if (e != c->newest) {
            unlink_entry(c, e);
            link_newest(c, e);
        }
        return &e->block;
    }
    *result = 0;
    if (c->bad[index]) {
        return NULL;
    }
    give_up_oldest(c);
    e = take_entry(c);
    *result = rh_trace_block_load(&e->block, &c->loader, c->file, index, true, err);
    c->decodes++;
    if (*result != 1) {
        keep_spare(c, e);
        if (*result == 0) {
            c->bad[index] = 1;
            c->damaged++;
            c->damaged_records += rh_trace_file_block(c->file, index)->record_count;
        }
        return NULL;
    }
    rh_map_put(&c->entries, index, e);
    link_newest(c, e);
    c->count++;
    c->bytes += e->block.arena.used_bytes;
    return &e->block;
}
