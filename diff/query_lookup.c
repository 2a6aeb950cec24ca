#include "diff/query_lookup.h"

#include <string.h>

#include "common/alloc.h"
#include "common/fingerprint.h"
#include "common/hash.h"
#include "formats/record_query.h"

enum {
    TEXT_MAX = 1 << 30,
    TEMPLATES_PER_BLOCK_MAX = 1 << 20, /* larger numbers are looked up by hash */
    HASHES_MAX = 1 << 16,              /* texts that never come again must not fill the memory */
};

void rh_query_lookup_init(struct rh_query_lookup *l, struct rh_query_table *table)
{
    memset(l, 0, sizeof *l);
    l->table = table;
    rh_index_map_init(&l->by_hash);
    rh_buf_init(&l->text, TEXT_MAX);
    rh_buf_init(&l->normal, TEXT_MAX);
}

void rh_query_lookup_release(struct rh_query_lookup *l)
{
    for (int i = 0; i < RH_LOOKUP_BLOCKS; i++) {
        rh_free(l->blocks[i].queries);
    }
    rh_index_map_release(&l->by_hash);
    rh_buf_release(&l->text);
    rh_buf_release(&l->normal);
}

static struct rh_lookup_block *choose_block(struct rh_query_lookup *l, uint64_t serial)
{
    struct rh_lookup_block *oldest = &l->blocks[0];
    l->clock++;
    for (int i = 0; i < RH_LOOKUP_BLOCKS; i++) {
        struct rh_lookup_block *b = &l->blocks[i];
        if (b->last_used && b->serial == serial) {
            b->last_used = l->clock;
            return b;
        }
        if (b->last_used < oldest->last_used) {
            oldest = b;
        }
    }
    if (oldest->queries) {
        memset(oldest->queries, 0, oldest->cap * sizeof *oldest->queries);
    }
    oldest->serial = serial;
    oldest->last_used = l->clock;
    return oldest;
}

static uint32_t *template_slot(struct rh_query_lookup *l, uint64_t serial, uint32_t template_id)
{
    if (!l->current || l->current->serial != serial) {
        l->current = choose_block(l, serial);
    }
    struct rh_lookup_block *b = l->current;
    if (template_id >= TEMPLATES_PER_BLOCK_MAX) {
        return NULL;
    }
    if (template_id >= b->cap) {
        uint32_t cap = b->cap ? b->cap : 256;
        while (cap <= template_id) {
            cap *= 2;
        }
        b->queries = rh_realloc(b->queries, cap, sizeof *b->queries);
        memset(b->queries + b->cap, 0, (cap - b->cap) * sizeof *b->queries);
        b->cap = cap;
    }
    return &b->queries[template_id];
}

static uint32_t find(struct rh_query_lookup *l, enum rh_query_text kind, struct rh_span text)
{
    uint64_t fingerprint = rh_query_fingerprint(kind, text, &l->normal);
    int64_t known = rh_query_table_find(l->table, fingerprint);
    if (known >= 0) {
        return (uint32_t) known;
    }
    if (kind == RH_QUERY_NAMED) {
        return rh_query_table_add(l->table, fingerprint, text);
    }
    rh_buf_clear(&l->normal);
    rh_fingerprint_normalise(text, kind == RH_QUERY_TEMPLATE, &l->normal);
    return rh_query_table_add(l->table, fingerprint, rh_buf_span(&l->normal));
}

static uint32_t find_by_template(struct rh_query_lookup *l, struct rh_span tmpl)
{
    uint64_t hash = rh_hash(tmpl);
    uint32_t known = rh_index_map_get(&l->by_hash, hash);
    if (known) {
        return known - 1;
    }
    uint32_t query = find(l, RH_QUERY_TEMPLATE, tmpl);
    if (l->by_hash.count >= HASHES_MAX) {
        rh_index_map_clear(&l->by_hash);
    }
    rh_index_map_put(&l->by_hash, hash, query + 1);
    return query;
}

uint32_t rh_query_lookup_find(struct rh_query_lookup *l, const struct rh_record *r,
                              uint64_t block_serial)
{
    struct rh_span text;
    enum rh_query_text kind = rh_record_query(r, &l->text, &text);
    if (kind != RH_QUERY_TEMPLATE) {
        return find(l, kind, text);
    }
    uint32_t *slot = template_slot(l, block_serial, r->template_id);
    if (slot && *slot) {
        return *slot - 1;
    }
    uint32_t query = find_by_template(l, text);
    if (slot) {
        *slot = query + 1;
    }
    return query;
}
