#include "diff/index_map.h"

#include <string.h>

#include "common/alloc.h"

void rh_index_map_init(struct rh_index_map *m)
{
    *m = (struct rh_index_map){0};
}

void rh_index_map_release(struct rh_index_map *m)
{
    rh_free(m->cells);
    rh_index_map_init(m);
}

void rh_index_map_clear(struct rh_index_map *m)
{
    if (m->cells) {
        memset(m->cells, 0, m->cap * sizeof *m->cells);
    }
    m->count = 0;
}

/* The cell of the key, or the free one where it would go. */
static struct rh_index_cell *find_cell(const struct rh_index_map *m, uint64_t key)
{
    uint64_t h = (key ^ key >> 32) * UINT64_C(0x9e3779b97f4a7c15);
    size_t i = (size_t) (h ^ h >> 32) & (m->cap - 1);
    while (m->cells[i].used && m->cells[i].key != key) {
        i = (i + 1) & (m->cap - 1);
    }
    return &m->cells[i];
}

static void grow(struct rh_index_map *m)
{
    struct rh_index_map larger = {.cap = m->cap ? m->cap * 2 : 64, .count = m->count};
    larger.cells = rh_calloc(larger.cap, sizeof *larger.cells);
    for (size_t i = 0; i < m->cap; i++) {
        if (m->cells[i].used) {
            *find_cell(&larger, m->cells[i].key) = m->cells[i];
        }
    }
    rh_free(m->cells);
    *m = larger;
}

uint32_t rh_index_map_get(const struct rh_index_map *m, uint64_t key)
{
    return m->count ? find_cell(m, key)->index : 0;
}

void rh_index_map_put(struct rh_index_map *m, uint64_t key, uint32_t index)
{
    if (m->count >= m->cap / 4 * 3) {
        grow(m);
    }
    struct rh_index_cell *cell = find_cell(m, key);
    m->count += !cell->used;
    *cell = (struct rh_index_cell){.key = key, .index = index, .used = 1};
}
