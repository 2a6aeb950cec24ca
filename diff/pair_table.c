#include "diff/pair_table.h"

#include <assert.h>
#include <string.h>

#include "common/alloc.h"

enum { CAP_MIN = 64 };

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

void rh_pair_table_init(struct rh_pair_table *t, uint64_t max_bytes)
{
    *t = (struct rh_pair_table){.cap = CAP_MIN, .cap_max = CAP_MIN};
    /* While it grows, the old half-sized table is there too. */
    uint64_t limit = max_bytes / 3 * 2 / sizeof *t->cells;
    while (t->cap_max <= limit / 2 && t->cap_max <= SIZE_MAX / 4 / sizeof *t->cells) {
        t->cap_max *= 2;
    }
    t->cells = rh_calloc(t->cap, sizeof *t->cells);
}

void rh_pair_table_release(struct rh_pair_table *t)
{
    rh_free(t->cells);
    *t = (struct rh_pair_table){0};
}

void rh_pair_table_clear(struct rh_pair_table *t)
{
    memset(t->cells, 0, t->cap * sizeof *t->cells);
    t->count[RH_BASE] = t->count[RH_CANDIDATE] = 0;
}

size_t rh_pair_table_side_limit(const struct rh_pair_table *t)
{
    return t->cap_max / 8 * 3; /* both sides together: three quarters of the cells */
}

static bool same_identity(const struct rh_twin *a, const struct rh_twin *b)
{
    return a->place == b->place && a->session == b->session;
}

/* The cell of that identity, or the empty one where it would go. */
static size_t find_cell(const struct rh_twin *cells, size_t cap, const struct rh_twin *twin)
{
    size_t i = rh_twin_hash(twin) & (cap - 1);
    while (cells[i].used && !same_identity(&cells[i], twin)) {
        i = (i + 1) & (cap - 1);
    }
    return i;
}

/* Close the hole by moving up what would not be found any more. */
static void remove_cell(struct rh_pair_table *t, size_t hole)
{
    size_t mask = t->cap - 1;
    for (size_t i = (hole + 1) & mask; t->cells[i].used; i = (i + 1) & mask) {
        size_t home = rh_twin_hash(&t->cells[i]) & mask;
        if (((i - home) & mask) >= ((i - hole) & mask)) {
            t->cells[hole] = t->cells[i];
            hole = i;
        }
    }
    t->cells[hole].used = 0;
}

static void grow(struct rh_pair_table *t)
{
    size_t cap = t->cap * 2;
    struct rh_twin *cells = rh_calloc(cap, sizeof *cells);
    for (size_t i = 0; i < t->cap; i++) {
        if (t->cells[i].used) {
            cells[find_cell(cells, cap, &t->cells[i])] = t->cells[i];
        }
    }
    rh_free(t->cells);
    t->cells = cells;
    t->cap = cap;
}

enum rh_pair_result rh_pair_table_put(struct rh_pair_table *t, const struct rh_twin *twin,
                                      bool keep, struct rh_twin *other)
{
    size_t i = find_cell(t->cells, t->cap, twin);
    if (t->cells[i].used) {
        if (t->cells[i].side == twin->side) {
            return RH_PAIR_DUPLICATE;
        }
        *other = t->cells[i];
        t->count[other->side]--;
        remove_cell(t, i);
        return RH_PAIR_MATCHED;
    }
    if (!keep) {
        return RH_PAIR_NONE;
    }
    if (t->count[twin->side] >= rh_pair_table_side_limit(t)) {
        return RH_PAIR_FULL;
    }
    if (t->cap < t->cap_max && t->count[RH_BASE] + t->count[RH_CANDIDATE] >= t->cap / 4 * 3) {
        grow(t);
        i = find_cell(t->cells, t->cap, twin);
    }
    t->cells[i] = *twin;
    t->count[twin->side]++;
    return RH_PAIR_WAITS;
}

const struct rh_twin *rh_pair_table_next(const struct rh_pair_table *t, size_t *pos)
{
    while (*pos < t->cap) {
        const struct rh_twin *cell = &t->cells[(*pos)++];
        if (cell->used) {
            return cell;
        }
    }
    return NULL;
}
