#include "diff/pair_table.h"

#include <assert.h>
#include <string.h>

#include "common/alloc.h"

enum {
    CAP_MIN = 64,
    YOUNG_CAP = 8192, /* 256 kB, which stay in the processor's second cache */
    YOUNG_FULL = YOUNG_CAP / 4 * 3,
};

#define ORDINAL_MAX ((UINT64_C(1) << RH_TWIN_ORDINAL_BITS) - 1)
#define COPY_MAX ((UINT32_C(1) << RH_TWIN_COPY_BITS) - 1)
#define SERVICE_MASK ((UINT64_C(1) << RH_SERVICE_BITS) - 1)

static_assert(sizeof(struct rh_twin) == 32, "a cell is 32 bytes");

bool rh_twin_make(struct rh_twin *twin, const struct rh_observation *o, enum rh_side side,
                  uint32_t query)
{
    if (o->ref.ordinal > ORDINAL_MAX || o->ref.copy > COPY_MAX) {
        return false;
    }
    memset(twin, 0, sizeof *twin);
    twin->place = o->ref.ordinal | (uint64_t) o->ref.copy << RH_TWIN_ORDINAL_BITS;
    twin->session = o->ref.session;
    twin->query = query;
    twin->service_known = o->service_ns >= 0;
    twin->service_ns = o->service_ns >= 0 ? (uint64_t) o->service_ns & SERVICE_MASK : 0;
    twin->side = side == RH_CANDIDATE;
    twin->status = (unsigned) o->status & 3U;
    twin->commit_not_timed = o->commit_not_timed;
    twin->used = 1;
    if (o->status == RH_OBSERVED_MISSING) {
        twin->code = (uint32_t) o->fate << 8 | (uint32_t) o->reason;
    } else {
        twin->code = o->sqlstate;
    }
    twin->rows = RH_TWIN_ROWS_UNKNOWN;
    if (o->rows >= 0) {
        twin->rows = o->rows < RH_TWIN_ROWS_UNKNOWN ? (uint32_t) o->rows : RH_TWIN_ROWS_UNKNOWN - 1;
    }
    return true;
}

/* The finaliser of a multiplicative hash: each bit of the identity reaches each bit of the result.
 */
uint64_t rh_twin_hash(const struct rh_twin *twin)
{
    uint64_t h = twin->place * UINT64_C(0x9e3779b97f4a7c15) + twin->session;
    h = (h ^ h >> 32) * UINT64_C(0xd6e8feb86659fd93);
    h = (h ^ h >> 32) * UINT64_C(0xd6e8feb86659fd93);
    return h ^ h >> 32;
}

static struct rh_pair_cells cells_new(size_t cap)
{
    return (struct rh_pair_cells){.items = rh_calloc(cap, sizeof(struct rh_twin)), .cap = cap};
}

static void cells_clear(struct rh_pair_cells *cells)
{
    memset(cells->items, 0, cells->cap * sizeof *cells->items);
    cells->count = 0;
}

void rh_pair_table_init(struct rh_pair_table *t, uint64_t max_bytes)
{
    *t = (struct rh_pair_table){
        .young = cells_new(YOUNG_CAP), .old = cells_new(CAP_MIN), .old_cap_max = CAP_MIN};
    /* While it grows, the old half-sized table is there too. */
    uint64_t limit = max_bytes / 3 * 2 / sizeof *t->old.items;
    while (t->old_cap_max <= limit / 2 && t->old_cap_max <= SIZE_MAX / 4 / sizeof *t->old.items) {
        t->old_cap_max *= 2;
    }
}

void rh_pair_table_release(struct rh_pair_table *t)
{
    rh_free(t->young.items);
    rh_free(t->old.items);
    *t = (struct rh_pair_table){0};
}

void rh_pair_table_clear(struct rh_pair_table *t)
{
    cells_clear(&t->young);
    cells_clear(&t->old);
    memset(t->old_of_sessions, 0, sizeof t->old_of_sessions);
    t->count[RH_BASE] = t->count[RH_CANDIDATE] = 0;
}

size_t rh_pair_table_side_limit(const struct rh_pair_table *t)
{
    return t->old_cap_max / 8 * 3; /* both sides together: three quarters of the cells */
}

static bool same_identity(const struct rh_twin *a, const struct rh_twin *b)
{
    return a->place == b->place && a->session == b->session;
}

/* The cell of that identity, or the empty one where it would go. */
static size_t find_cell(const struct rh_pair_cells *cells, const struct rh_twin *twin,
                        uint64_t hash)
{
    size_t i = hash & (cells->cap - 1);
    while (cells->items[i].used && !same_identity(&cells->items[i], twin)) {
        i = (i + 1) & (cells->cap - 1);
    }
    return i;
}

/* Close the hole by moving up what would not be found any more. */
static void remove_cell(struct rh_pair_cells *cells, size_t hole)
{
    size_t mask = cells->cap - 1;
    struct rh_twin *items = cells->items;
    for (size_t i = (hole + 1) & mask; items[i].used; i = (i + 1) & mask) {
        size_t home = rh_twin_hash(&items[i]) & mask;
        if (((i - home) & mask) >= ((i - hole) & mask)) {
            items[hole] = items[i];
            hole = i;
        }
    }
    items[hole].used = 0;
    cells->count--;
}

/* It is not there yet, and there is room. */
static void add_cell(struct rh_pair_cells *cells, const struct rh_twin *twin)
{
    cells->items[find_cell(cells, twin, rh_twin_hash(twin))] = *twin;
    cells->count++;
}

static void add_all(struct rh_pair_cells *to, const struct rh_pair_cells *from)
{
    for (size_t i = 0; i < from->cap; i++) {
        if (from->items[i].used) {
            add_cell(to, &from->items[i]);
        }
    }
}

static void grow(struct rh_pair_cells *cells)
{
    struct rh_pair_cells larger = cells_new(cells->cap * 2);
    add_all(&larger, cells);
    rh_free(cells->items);
    *cells = larger;
}

/* How many of the old are of a session of this kind: of most there are none, and then the large
 * table, of which hardly a cell is in a cache, need not be looked at. */
static uint32_t *old_of_session(struct rh_pair_table *t, const struct rh_twin *twin)
{
    return &t->old_of_sessions[twin->session % RH_PAIR_SESSION_KINDS];
}

/* What is young and has still no twin has waited for thousands of others. */
static void make_old(struct rh_pair_table *t)
{
    while (t->old.cap < t->old_cap_max && t->old.count + t->young.count >= t->old.cap / 4 * 3) {
        grow(&t->old);
    }
    for (size_t i = 0; i < t->young.cap; i++) {
        if (t->young.items[i].used) {
            ++*old_of_session(t, &t->young.items[i]);
        }
    }
    add_all(&t->old, &t->young);
    cells_clear(&t->young);
}

enum rh_pair_result rh_pair_table_put(struct rh_pair_table *t, const struct rh_twin *twin,
                                      bool keep, struct rh_twin *other)
{
    uint64_t hash = rh_twin_hash(twin);
    struct rh_pair_cells *in = &t->young;
    size_t i = find_cell(in, twin, hash);
    if (!in->items[i].used && *old_of_session(t, twin) > 0) {
        in = &t->old;
        i = find_cell(in, twin, hash);
    }
    if (in->items[i].used) {
        if (in->items[i].side == twin->side) {
            return RH_PAIR_DUPLICATE;
        }
        *other = in->items[i];
        t->count[other->side]--;
        *old_of_session(t, twin) -= in == &t->old;
        remove_cell(in, i);
        return RH_PAIR_MATCHED;
    }
    if (!keep) {
        return RH_PAIR_NONE;
    }
    if (t->count[twin->side] >= rh_pair_table_side_limit(t)) {
        return RH_PAIR_FULL;
    }
    if (t->young.count == YOUNG_FULL) {
        make_old(t);
    }
    add_cell(&t->young, twin);
    t->count[twin->side]++;
    return RH_PAIR_WAITS;
}

const struct rh_twin *rh_pair_table_next(const struct rh_pair_table *t, size_t *pos)
{
    while (*pos < t->young.cap + t->old.cap) {
        size_t i = (*pos)++;
        const struct rh_twin *cell =
            i < t->young.cap ? &t->young.items[i] : &t->old.items[i - t->young.cap];
        if (cell->used) {
            return cell;
        }
    }
    return NULL;
}
