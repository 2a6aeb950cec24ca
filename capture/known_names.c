/* capture/known_names.c */
#include "capture/known_names.h"

#include <string.h>

#include "common/alloc.h"
#include "common/hash.h"

void rh_known_names_init(struct rh_known_names *k)
{
    memset(k, 0, sizeof *k);
}

void rh_known_names_release(struct rh_known_names *k)
{
    rh_free(k->cells);
    memset(k, 0, sizeof *k);
}

void rh_known_names_clear(struct rh_known_names *k)
{
    if (k->count > 0) {
        memset(k->cells, 0, k->cap * sizeof *k->cells);
        k->count = 0;
    }
}

static uint64_t name_hash(struct rh_span name)
{
    uint64_t hash = rh_hash(name);
    return hash ? hash : 1;
}

/* The name's cell, or the free one where it would go. */
static struct rh_known_name *find(const struct rh_known_names *k, uint64_t hash)
{
    uint32_t at = (uint32_t) hash & (k->cap - 1);
    while (k->cells[at].name_hash != 0 && k->cells[at].name_hash != hash) {
        at = (at + 1) & (k->cap - 1);
    }
    return &k->cells[at];
}

bool rh_known_names_has(const struct rh_known_names *k, struct rh_span name)
{
    return k->count > 0 && find(k, name_hash(name))->name_hash != 0;
}

static void grow(struct rh_known_names *k)
{
    struct rh_known_names old = *k;
    k->cap = old.cap ? old.cap * 2 : 8;
    k->cells = rh_calloc(k->cap, sizeof *k->cells);
    for (uint32_t i = 0; i < old.cap; i++) {
        if (old.cells[i].name_hash != 0) {
            *find(k, old.cells[i].name_hash) = old.cells[i];
        }
    }
    rh_free(old.cells);
}

bool rh_known_names_put(struct rh_known_names *k, struct rh_span name, struct rh_span text)
{
    if (k->count == RH_KNOWN_NAMES_MAX) {
        rh_known_names_clear(k);
    }
    if (k->count * 2 >= k->cap) {
        grow(k);
    }
    uint64_t hash = name_hash(name), text_hash = rh_hash(text);
    struct rh_known_name *cell = find(k, hash);
    bool fresh = cell->name_hash == 0 || cell->text_hash != text_hash;
    k->count += cell->name_hash == 0;
    *cell = (struct rh_known_name){hash, text_hash};
    return fresh;
}

void rh_known_names_cut(const struct rh_known_names *k, struct rh_span label, struct rh_span *name,
                        struct rh_span *portal)
{
    *name = label;
    *portal = RH_SPAN_NONE;
    const char *end = label.data + label.len, *first = NULL;
    const char *slash = label.len ? memchr(label.data, '/', label.len) : NULL;
    if (!slash || rh_known_names_has(k, label)) {
        return;
    }
    first = slash;
    while (slash && !rh_known_names_has(k, rh_span(label.data, (size_t) (slash - label.data)))) {
        slash = slash + 1 < end ? memchr(slash + 1, '/', (size_t) (end - slash - 1)) : NULL;
    }
    if (!slash) {
        slash = first;
    }
    *name = rh_span(label.data, (size_t) (slash - label.data));
    *portal = rh_span(slash + 1, (size_t) (end - slash - 1));
}
