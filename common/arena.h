/*
 * common/arena.h
 *
 * Memory that is given back all at once.  Clearing keeps the chunks, so a loop that fills and
 * clears an arena stops allocating after its first rounds.
 */
#ifndef RH_COMMON_ARENA_H
#define RH_COMMON_ARENA_H

#include <stddef.h>

#include "common/span.h"

struct rh_arena_chunk;

struct rh_arena {
    struct rh_arena_chunk *first;
    struct rh_arena_chunk *current;
    size_t chunk_bytes;
    size_t used_bytes; /* handed out since the last clear */
};

/* Chunks of chunk_bytes are taken as needed; a larger piece gets a chunk of its own. */
void rh_arena_init(struct rh_arena *a, size_t chunk_bytes);
void rh_arena_release(struct rh_arena *a);
void rh_arena_clear(struct rh_arena *a);

/* Aligned for any type, not zeroed, valid until clear or release.  The caller has checked n. */
void *rh_arena_alloc(struct rh_arena *a, size_t n)
    __attribute__((returns_nonnull, warn_unused_result));
/* A copy of s, terminated by a NUL that len does not count; no value stays no value. */
struct rh_span rh_arena_copy(struct rh_arena *a, struct rh_span s);

#endif
