/*
 * common/map.h
 *
 * Hash maps by open addressing: from 64-bit keys to pointers, and from byte strings to dense ids.
 */
#ifndef RH_COMMON_MAP_H
#define RH_COMMON_MAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/arena.h"
#include "common/span.h"

struct rh_map_cell {
    uint64_t key;
    void *value; /* NULL: empty */
};

struct rh_map {
    struct rh_map_cell *cells;
    size_t cap; /* a power of two, or 0 */
    size_t count;
};

void rh_map_init(struct rh_map *m);
void rh_map_release(struct rh_map *m);
void *rh_map_get(const struct rh_map *m, uint64_t key);
/* value must not be NULL; an old value is replaced. */
void rh_map_put(struct rh_map *m, uint64_t key, void *value);
/* The removed value or NULL. */
void *rh_map_remove(struct rh_map *m, uint64_t key);
/* Walk: start with *pos = 0; NULL at the end.  No change of the map meanwhile, except removal of the cell
 * just given is NOT allowed either. */
void *rh_map_next(const struct rh_map *m, size_t *pos, uint64_t *key);

/* Byte strings to 0, 1, 2, ... in order of first sight. */
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
void rh_intern_clear(struct rh_intern *t);
/* The id of s; *fresh (may be NULL) says whether it is new.  At most 2^31 items. */
uint32_t rh_intern_put(struct rh_intern *t, struct rh_span s, bool *fresh);
/* With XXH3_64bits of s known to the caller. */
uint32_t rh_intern_put_hashed(struct rh_intern *t, struct rh_span s, uint64_t hash, bool *fresh);
/* The id of s, or -1. */
int64_t rh_intern_find(const struct rh_intern *t, struct rh_span s);

#endif
