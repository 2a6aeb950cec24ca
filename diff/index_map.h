/*
 * diff/index_map.h
 *
 * Hash map from 64-bit keys to indexes above 0.
 */
#ifndef RH_DIFF_INDEX_MAP_H
#define RH_DIFF_INDEX_MAP_H

#include <stddef.h>
#include <stdint.h>

struct rh_index_cell {
    uint64_t key;
    uint32_t index;
    uint32_t used;
};

struct rh_index_map {
    struct rh_index_cell *cells;
    size_t cap; /* a power of two, or 0 */
    size_t count;
};

void rh_index_map_init(struct rh_index_map *m);
void rh_index_map_release(struct rh_index_map *m);
/* Forget all; the memory is kept. */
void rh_index_map_clear(struct rh_index_map *m);
/* 0 when the key is not there, or was put with 0. */
uint32_t rh_index_map_get(const struct rh_index_map *m, uint64_t key);
/* Replaces an old index. */
void rh_index_map_put(struct rh_index_map *m, uint64_t key, uint32_t index);

#endif
