/*
 * common/intern.h
 *
 * Byte strings to dense numbers 0, 1, 2, ... in order of first sight.
 */
#ifndef RH_COMMON_INTERN_H
#define RH_COMMON_INTERN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/arena.h"
#include "common/span.h"

struct rh_intern {
    struct rh_arena arena;
    struct rh_span *items; /* by id; live until clear */
    uint64_t *hashes;
    uint32_t *slots; /* id + 1, 0 empty */
    size_t slot_cap;
    uint32_t count;
    uint32_t cap;
    size_t bytes; /* of all items */
};

void rh_intern_init(struct rh_intern *t);
void rh_intern_release(struct rh_intern *t);
/* Empty; the memory is kept for the next round. */
void rh_intern_clear(struct rh_intern *t);
/* The id of s (no value counts as the empty string); *fresh (may be NULL) says whether it is new.
 * At most 2^31 items: callers have their own, lower limit. */
uint32_t rh_intern_put(struct rh_intern *t, struct rh_span s, bool *fresh);
/* With rh_hash(s) (common/hash.h) known to the caller. */
uint32_t rh_intern_put_hashed(struct rh_intern *t, struct rh_span s, uint64_t hash, bool *fresh);
/* The id of s, or -1. */
int64_t rh_intern_find(const struct rh_intern *t, struct rh_span s);

#endif
