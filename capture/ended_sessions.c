/* capture/ended_sessions.c */
#include "capture/ended_sessions.h"

#include <string.h>

enum { CHUNK_BYTES = 64 * 1024 };

/* Most sessions have no hole, so an entry is small. */
struct entry {
    uint64_t last;
    uint64_t forgotten_to;
    uint64_t hole_count;
    struct rh_line_hole holes[];
};

static void generation_init(struct rh_ended_generation *g)
{
    rh_map_init(&g->by_key);
    rh_arena_init(&g->entries, CHUNK_BYTES);
}

static void generation_release(struct rh_ended_generation *g)
{
    rh_map_release(&g->by_key);
    rh_arena_release(&g->entries);
}

void rh_ended_sessions_init(struct rh_ended_sessions *e)
{
    generation_init(&e->young);
    generation_init(&e->old);
    e->max = RH_ENDED_SESSIONS_MAX;
}

void rh_ended_sessions_release(struct rh_ended_sessions *e)
{
    generation_release(&e->young);
    generation_release(&e->old);
}

void rh_ended_sessions_put(struct rh_ended_sessions *e, uint64_t key,
                           const struct rh_seen_lines *seen)
{
    size_t holes = seen->hole_count * sizeof seen->holes[0];
    struct entry *n = rh_arena_alloc(&e->young.entries, sizeof *n + holes);
    n->last = seen->last;
    n->forgotten_to = seen->forgotten_to;
    n->hole_count = seen->hole_count;
    memcpy(n->holes, seen->holes, holes);
    rh_map_put(&e->young.by_key, key, n);
    if (e->young.by_key.count >= e->max / 2 ||
        e->young.entries.used_bytes / sizeof *n >= 2 * e->max) {
        generation_release(&e->old);
        e->old = e->young;
        generation_init(&e->young);
    }
}

bool rh_ended_sessions_get(const struct rh_ended_sessions *e, uint64_t key,
                           struct rh_seen_lines *seen)
{
    const struct entry *n = rh_map_get(&e->young.by_key, key);
    if (!n) {
        n = rh_map_get(&e->old.by_key, key);
    }
    if (!n) {
        return false;
    }
    seen->last = n->last;
    seen->forgotten_to = n->forgotten_to;
    seen->hole_count = (uint32_t) n->hole_count;
    memcpy(seen->holes, n->holes, n->hole_count * sizeof n->holes[0]);
    return true;
}
