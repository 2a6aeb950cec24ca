/*
 * common/map.h
 *
 * Hash map by open addressing from 64-bit keys to pointers.  The map owns neither.
 */
#ifndef RH_COMMON_MAP_H
#define RH_COMMON_MAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/intern.h"

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
/* Walk: start with *pos = 0; NULL at the end; key may be NULL.  The map must not be changed during
 * a walk, not even by removal of what was just given: a removal moves other cells. */
void *rh_map_next(const struct rh_map *m, size_t *pos, uint64_t *key);

#endif
