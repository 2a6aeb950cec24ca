#include "common/map.h"

#include <assert.h>
#include <string.h>

#include "common/alloc.h"

/* Keys are often small consecutive numbers or packed fields: spread them over all bits. */
static uint64_t key_hash(uint64_t key)
{
    key ^= key >> 32;
    key *= UINT64_C(0xd6e8feb86659fd93);
    key ^= key >> 32;
    return key;
}

void rh_map_init(struct rh_map *m)
{
    *m = (struct rh_map){0};
}

void rh_map_release(struct rh_map *m)
{
    rh_free(m->cells);
    rh_map_init(m);
}

/* The cell of key, or the empty one where it belongs. */
static size_t map_find(const struct rh_map *m, uint64_t key)
{
    size_t mask = m->cap - 1;
    size_t i = (size_t) key_hash(key) & mask;
    while (m->cells[i].value && m->cells[i].key != key) {
        i = (i + 1) & mask;
    }
    return i;
}

void *rh_map_get(const struct rh_map *m, uint64_t key)
{
    return m->cap ? m->cells[map_find(m, key)].value : NULL;
}

static void map_grow(struct rh_map *m)
{
    struct rh_map old = *m;
    m->cap = old.cap ? old.cap * 2 : 16;
    m->cells = rh_calloc(m->cap, sizeof *m->cells);
    for (size_t i = 0; i < old.cap; i++) {
        if (old.cells[i].value) {
            m->cells[map_find(m, old.cells[i].key)] = old.cells[i];
        }
    }
    rh_free(old.cells);
}

void rh_map_put(struct rh_map *m, uint64_t key, void *value)
{
    assert(value);
    if (m->count >= m->cap / 2) {
        map_grow(m);
    }
    struct rh_map_cell *cell = &m->cells[map_find(m, key)];
    if (!cell->value) {
        m->count++;
    }
    *cell = (struct rh_map_cell){key, value};
}

/* Close the hole by moving back what had probed past it, so that no tombstones pile up. */
static void map_close_hole(struct rh_map *m, size_t hole)
{
    size_t mask = m->cap - 1;
    for (size_t i = (hole + 1) & mask; m->cells[i].value; i = (i + 1) & mask) {
        size_t home = (size_t) key_hash(m->cells[i].key) & mask;
        if (((i - home) & mask) >= ((i - hole) & mask)) {
            m->cells[hole] = m->cells[i];
            hole = i;
        }
    }
    m->cells[hole].value = NULL;
}

void *rh_map_remove(struct rh_map *m, uint64_t key)
{
    if (!m->cap) {
        return NULL;
    }
    size_t i = map_find(m, key);
    void *value = m->cells[i].value;
    if (value) {
        map_close_hole(m, i);
        m->count--;
    }
    return value;
}

void *rh_map_next(const struct rh_map *m, size_t *pos, uint64_t *key)
{
    while (*pos < m->cap) {
        const struct rh_map_cell *cell = &m->cells[(*pos)++];
        if (cell->value) {
            if (key) {
                *key = cell->key;
            }
            return cell->value;
        }
    }
    return NULL;
}
