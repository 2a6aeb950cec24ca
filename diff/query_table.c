#include "diff/query_table.h"

#include <string.h>

#include "common/alloc.h"

static struct rh_query *add_item(struct rh_query_table *t)
{
    RH_GROW(t->items, t->count, t->cap);
    struct rh_query *q = &t->items[t->count++];
    memset(q, 0, sizeof *q);
    rh_hist_init(&q->side[RH_BASE].service);
    rh_hist_init(&q->side[RH_CANDIDATE].service);
    t->bytes += sizeof *q + sizeof(struct rh_index_cell) * 2;
    return q;
}

void rh_query_table_init(struct rh_query_table *t, uint32_t count_max, uint64_t bytes_max)
{
    *t = (struct rh_query_table){
        .count_max = count_max ? count_max : RH_QUERY_COUNT_DEFAULT,
        .bytes_max = bytes_max,
        .room = {.bytes_max = bytes_max / 2},
    };
    rh_index_map_init(&t->by_fingerprint);
    add_item(t); /* RH_QUERY_OTHER */
}

void rh_query_table_release(struct rh_query_table *t)
{
    for (uint32_t i = 0; i < t->count; i++) {
        rh_hist_release(&t->items[i].side[RH_BASE].service);
        rh_hist_release(&t->items[i].side[RH_CANDIDATE].service);
        rh_pair_stat_release(&t->items[i].times, &t->room);
        rh_free((char *) t->items[i].sql.data);
    }
    rh_free(t->items);
    rh_index_map_release(&t->by_fingerprint);
    *t = (struct rh_query_table){0};
}

int64_t rh_query_table_find(const struct rh_query_table *t, uint64_t fingerprint)
{
    uint32_t index = rh_index_map_get(&t->by_fingerprint, fingerprint);
    return index ? (int64_t) index : -1;
}

/* No more than max bytes, and no torn UTF-8 character at the end. */
static struct rh_span cut_text(struct rh_span text, size_t max)
{
    if (text.len <= max) {
        return text;
    }
    while (max > 0 && ((unsigned char) text.data[max] & 0xc0) == 0x80) {
        max--;
    }
    return rh_span(text.data, max);
}

uint32_t rh_query_table_add(struct rh_query_table *t, uint64_t fingerprint, struct rh_span sql)
{
    if (t->count > t->count_max || t->bytes >= t->bytes_max) {
        t->refused++;
        return RH_QUERY_OTHER;
    }
    struct rh_span kept = cut_text(sql, RH_QUERY_SQL_MAX);
    struct rh_query *q = add_item(t);
    q->fingerprint = fingerprint;
    q->sql = rh_span(rh_memdup(kept.data, kept.len), kept.len);
    q->sql_cut = kept.len < sql.len;
    t->bytes += kept.len;
    uint32_t index = t->count - 1;
    rh_index_map_put(&t->by_fingerprint, fingerprint, index);
    return index;
}

static void note_example(struct rh_query *q, enum rh_side side, const struct rh_statement_ref *ref)
{
    if (!q->has_example || (side == RH_BASE && q->example_side == RH_CANDIDATE) ||
        (side == q->example_side && rh_statement_ref_before(ref, &q->example))) {
        q->has_example = true;
        q->example = *ref;
        q->example_side = side;
    }
}

void rh_query_table_observe(struct rh_query_table *t, uint32_t query, enum rh_side side,
                            const struct rh_observation *o, bool comparable)
{
    struct rh_query *q = &t->items[query];
    struct rh_query_side *s = &q->side[side];

    note_example(q, side, &o->ref);
    if (side == RH_BASE && q->first.ordinal == 0) {
        q->first = o->ref;
    }
    if (o->status == RH_OBSERVED_MISSING) {
        s->missing++;
        return;
    }
    s->calls++;
    s->errors += o->status == RH_OBSERVED_ERROR;
    s->unknown += o->status == RH_OBSERVED_UNKNOWN;
    s->commit_not_timed += o->commit_not_timed;
    if (o->status != RH_OBSERVED_OK || o->service_ns < 0) {
        return;
    }
    uint32_t cells_before = s->service.cell_count;
    rh_hist_add(&s->service, o->service_ns);
    t->bytes += (s->service.cell_count - cells_before) * sizeof *s->service.cells;
    if (comparable) {
        s->comparable_count++;
        s->comparable_ns += (uint64_t) o->service_ns;
    }
}

static bool identity_before(const struct rh_slowed_pair *a, const struct rh_slowed_pair *b)
{
    if (a->part != b->part) {
        return a->part < b->part;
    }
    if (a->session != b->session) {
        return a->session < b->session;
    }
    return a->copy != b->copy ? a->copy < b->copy : a->ordinal < b->ordinal;
}

void rh_slowed_pair_take(struct rh_slowed_pair *slowed, const struct rh_slowed_pair *pair)
{
    if (pair->candidate_ns <= pair->base_ns) {
        return;
    }
    uint64_t most = slowed->candidate_ns - slowed->base_ns;
    uint64_t by = pair->candidate_ns - pair->base_ns;
    if (slowed->ordinal == 0 || by > most || (by == most && identity_before(pair, slowed))) {
        *slowed = *pair;
    }
}

void rh_query_table_clear_pairs(struct rh_query_table *t)
{
    for (uint32_t i = 0; i < t->count; i++) {
        t->items[i].pairs = (struct rh_query_pairs){0};
        t->items[i].slowed = (struct rh_slowed_pair){0};
        rh_pair_stat_release(&t->items[i].times, &t->room);
    }
}
