#include "common/intern.h"

#include <assert.h>
#include <string.h>

#include "common/alloc.h"
#include "common/hash.h"

enum { INTERN_CHUNK_BYTES = 64 * 1024 };

void rh_intern_init(struct rh_intern *t)
{
    *t = (struct rh_intern){0};
    rh_arena_init(&t->arena, INTERN_CHUNK_BYTES);
}

void rh_intern_release(struct rh_intern *t)
{
    rh_arena_release(&t->arena);
    rh_free(t->items);
    rh_free(t->hashes);
    rh_free(t->slots);
    rh_intern_init(t);
}

void rh_intern_clear(struct rh_intern *t)
{
    rh_arena_clear(&t->arena);
    if (t->slots) {
        memset(t->slots, 0, t->slot_cap * sizeof *t->slots);
    }
    t->count = 0;
    t->bytes = 0;
}

/* The slot that holds s, or the empty one where it belongs. */
static size_t intern_slot(const struct rh_intern *t, struct rh_span s, uint64_t hash)
{
    size_t mask = t->slot_cap - 1;
    size_t i = (size_t) hash & mask;
    while (t->slots[i]) {
        uint32_t id = t->slots[i] - 1;
        if (t->hashes[id] == hash && t->items[id].len == s.len &&
            (s.len == 0 || memcmp(t->items[id].data, s.data, s.len) == 0)) {
            return i;
        }
        i = (i + 1) & mask;
    }
    return i;
}

static void intern_grow_slots(struct rh_intern *t)
{
    rh_free(t->slots);
    t->slot_cap = t->slot_cap ? t->slot_cap * 2 : 64;
    t->slots = rh_calloc(t->slot_cap, sizeof *t->slots);
    size_t mask = t->slot_cap - 1;
    for (uint32_t id = 0; id < t->count; id++) {
        size_t i = (size_t) t->hashes[id] & mask;
        while (t->slots[i]) {
            i = (i + 1) & mask;
        }
        t->slots[i] = id + 1;
    }
}

static void intern_grow_items(struct rh_intern *t)
{
    t->cap = t->cap ? t->cap * 2 : 32;
    t->items = rh_realloc(t->items, t->cap, sizeof *t->items);
    t->hashes = rh_realloc(t->hashes, t->cap, sizeof *t->hashes);
}

uint32_t rh_intern_put_hashed(struct rh_intern *t, struct rh_span s, uint64_t hash, bool *fresh)
{
    if (t->count >= t->slot_cap / 2) {
        intern_grow_slots(t);
    }
    size_t slot = intern_slot(t, s, hash);
    if (fresh) {
        *fresh = t->slots[slot] == 0;
    }
    if (t->slots[slot]) {
        return t->slots[slot] - 1;
    }
    assert(t->count < UINT32_C(1) << 31);
    if (t->count == t->cap) {
        intern_grow_items(t);
    }
    uint32_t id = t->count++;
    t->items[id] = rh_arena_copy(&t->arena, s.data ? s : RH_SPAN_LITERAL(""));
    t->hashes[id] = hash;
    t->slots[slot] = id + 1;
    t->bytes += s.len;
    return id;
}

uint32_t rh_intern_put(struct rh_intern *t, struct rh_span s, bool *fresh)
{
    return rh_intern_put_hashed(t, s, rh_hash(s), fresh);
}

int64_t rh_intern_find(const struct rh_intern *t, struct rh_span s)
{
    if (!t->slot_cap) {
        return -1;
    }
    size_t slot = intern_slot(t, s, rh_hash(s));
    return t->slots[slot] ? (int64_t) t->slots[slot] - 1 : -1;
}
