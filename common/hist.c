#include "common/hist.h"

#include <float.h>
#include <math.h>
#include <stddef.h>
#include <string.h>

#include "common/alloc.h"

enum {
    SUB_COUNT = 1 << RH_HIST_SUB_BITS,
    /* Cells are taken by whole multiples of this, so that a drifting value does not move them
       often. */
    GROW_STEP = SUB_COUNT / 2,
};

void rh_hist_init(struct rh_hist *h)
{
    *h = (struct rh_hist){0};
}

void rh_hist_release(struct rh_hist *h)
{
    rh_free(h->cells);
    rh_hist_init(h);
}

/*
 * Values below 2 * SUB_COUNT have a cell each.  Above, a value v with SUB_COUNT <= v >> shift <
 * 2 * SUB_COUNT lies in cell shift * SUB_COUNT + (v >> shift), which continues the row without a
 * gap.
 */
static uint32_t cell_of(int64_t value)
{
    uint64_t v = (uint64_t) value;
    if (v < 2 * SUB_COUNT) {
        return (uint32_t) v;
    }
    uint32_t shift = 63U - (uint32_t) __builtin_clzll(v) - RH_HIST_SUB_BITS;
    return shift * SUB_COUNT + (uint32_t) (v >> shift);
}

int64_t rh_hist_cell_middle(uint32_t cell)
{
    if (cell < 2 * SUB_COUNT) {
        return cell;
    }
    uint32_t shift = cell / SUB_COUNT - 1;
    uint64_t low = (uint64_t) (cell - shift * SUB_COUNT) << shift;
    return (int64_t) (low + ((UINT64_C(1) << shift) - 1) / 2);
}

/* Make cells first..last exist. */
static void hist_cover(struct rh_hist *h, uint32_t first, uint32_t last)
{
    uint32_t end = h->first_cell + h->cell_count;
    if (h->cells && first >= h->first_cell && last < end) {
        return;
    }
    first -= first % GROW_STEP;
    uint32_t new_end = last - last % GROW_STEP + GROW_STEP;
    if (h->cells) {
        first = first < h->first_cell ? first : h->first_cell;
        new_end = new_end > end ? new_end : end;
    }
    uint32_t *cells = rh_calloc(new_end - first, sizeof *cells);
    if (h->cells) {
        memcpy(cells + (h->first_cell - first), h->cells, h->cell_count * sizeof *cells);
    }
    rh_free(h->cells);
    h->cells = cells;
    h->first_cell = first;
    h->cell_count = new_end - first;
}

static void cell_add(uint32_t *cell, uint32_t n)
{
    if (__builtin_add_overflow(*cell, n, cell)) {
        *cell = UINT32_MAX;
    }
}

/* Apart, so that the usual way needs no registers saved.  The first value comes here. */
__attribute__((noinline)) static void add_beyond(struct rh_hist *h, int64_t value)
{
    uint32_t cell = cell_of(value);
    hist_cover(h, cell, cell);
    if (h->count == 0) {
        h->min = h->max = value;
    }
    rh_hist_add(h, value);
}

void rh_hist_add(struct rh_hist *h, int64_t value)
{
    value = value < 0 ? 0 : value;
    uint32_t place = cell_of(value) - h->first_cell; /* a cell before the first one wraps round */
    if (place >= h->cell_count) {
        add_beyond(h, value);
        return;
    }
    cell_add(&h->cells[place], 1);
    h->min = value < h->min ? value : h->min;
    h->max = value > h->max ? value : h->max;
    h->count++;
    h->sum += (double) value;
    h->sum_of_squares += (double) value * (double) value;
}

void rh_hist_merge(struct rh_hist *into, const struct rh_hist *from)
{
    if (from->count == 0) {
        return;
    }
    hist_cover(into, cell_of(from->min), cell_of(from->max));
    uint32_t first = cell_of(from->min);
    uint32_t last = cell_of(from->max);
    for (uint32_t cell = first; cell <= last; cell++) {
        cell_add(&into->cells[cell - into->first_cell], from->cells[cell - from->first_cell]);
    }
    into->min = into->count == 0 || from->min < into->min ? from->min : into->min;
    into->max = into->count == 0 || from->max > into->max ? from->max : into->max;
    into->count += from->count;
    into->sum += from->sum;
    into->sum_of_squares += from->sum_of_squares;
}

/* The nearest rank ceil(q * count), without the step up that a product like 0.95 * 20 =
 * 19.000000000000004 would cause. */
static uint64_t rank_of(const struct rh_hist *h, double q)
{
    double exact = q * (double) h->count;
    double rank = ceil(exact - exact * 2 * DBL_EPSILON);
    return rank < 1 ? 1 : (uint64_t) rank;
}

int64_t rh_hist_quantile(const struct rh_hist *h, double q)
{
    if (h->count == 0 || !(q > 0)) {
        return h->min;
    }
    uint64_t rank = rank_of(h, q);
    if (q >= 1 || rank >= h->count) {
        return h->max;
    }
    uint64_t seen = 0;
    for (uint32_t i = 0; i < h->cell_count; i++) {
        seen += h->cells[i];
        if (seen >= rank) {
            int64_t value = rh_hist_cell_middle(h->first_cell + i);
            value = value < h->min ? h->min : value;
            return value > h->max ? h->max : value;
        }
    }
    return h->max;
}

uint64_t rh_hist_count_above(const struct rh_hist *h, int64_t value)
{
    uint32_t cell = value < 0 ? 0 : cell_of(value);
    uint64_t above = 0;
    for (uint32_t i = 0; i < h->cell_count; i++) {
        above += h->first_cell + i > cell ? h->cells[i] : 0;
    }
    return above;
}

double rh_hist_mean(const struct rh_hist *h)
{
    return h->count ? h->sum / (double) h->count : 0;
}
