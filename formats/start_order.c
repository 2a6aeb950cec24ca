#include "formats/start_order.h"

#include <stdlib.h>
#include <string.h>

#include "common/alloc.h"

enum {
    DIGIT_BITS = 11,
    DIGITS = 1 << DIGIT_BITS,
    /* So many of the highest bits are sorted by radix before insertion is to do the rest. */
    ROUGH_BITS = 2 * DIGIT_BITS,
    /* Insertion gives up when one key has so far to go, or all of them together n times this. */
    MOVE_MAX = 64,
    MOVES_EACH_MAX = 8,
};

void rh_start_order_init(struct rh_start_order *o)
{
    *o = (struct rh_start_order){0};
}

void rh_start_order_release(struct rh_start_order *o)
{
    rh_free(o->order);
    rh_free(o->keys[0]);
    rh_free(o->keys[1]);
    rh_start_order_init(o);
}

static void reserve(struct rh_start_order *o, uint32_t n)
{
    if (n > o->cap) {
        o->cap = n;
        o->order = rh_realloc(o->order, n, sizeof *o->order);
        o->keys[0] = rh_realloc(o->keys[0], n, sizeof *o->keys[0]);
        o->keys[1] = rh_realloc(o->keys[1], n, sizeof *o->keys[1]);
    }
}

static unsigned bits_of(uint64_t v)
{
    return v ? 64 - (unsigned) __builtin_clzll(v) : 0;
}

/* Put each key where it belongs; false when that would take long. */
static bool insert_all(uint64_t *keys, uint32_t n)
{
    uint64_t moves_left = (uint64_t) n * MOVES_EACH_MAX;
    for (uint32_t i = 1; i < n; i++) {
        uint64_t key = keys[i];
        uint32_t k = i;
        uint32_t stop = i < MOVE_MAX ? 0 : i - MOVE_MAX;
        while (k > stop && keys[k - 1] > key) {
            keys[k] = keys[k - 1];
            k--;
        }
        keys[k] = key;
        if ((k > 0 && keys[k - 1] > key) || i - k > moves_left) {
            return false;
        }
        moves_left -= i - k;
    }
    return true;
}

/* Sort by the bits from `shift` to `end`, the lowest digit first; the result's side. */
static unsigned sort_digits(struct rh_start_order *o, unsigned side, uint32_t n, unsigned shift,
                            unsigned end)
{
    for (; shift < end; shift += DIGIT_BITS) {
        uint32_t places[DIGITS] = {0};
        const uint64_t *from = o->keys[side];
        uint64_t *to = o->keys[!side];
        for (uint32_t i = 0; i < n; i++) {
            places[from[i] >> shift & (DIGITS - 1)]++;
        }
        uint32_t place = 0;
        for (unsigned d = 0; d < DIGITS; d++) {
            uint32_t count = places[d];
            places[d] = place;
            place += count;
        }
        for (uint32_t i = 0; i < n; i++) {
            to[places[from[i] >> shift & (DIGITS - 1)]++] = from[i];
        }
        side = !side;
    }
    return side;
}

/* Times further apart than a key can say (no server ran so long): their differences do not fit
 * beside an index. */
static int compare_far(const void *a, const void *b, void *starts)
{
    uint32_t x = *(const uint32_t *) a;
    uint32_t y = *(const uint32_t *) b;
    int64_t start_x = ((const int64_t *) starts)[x];
    int64_t start_y = ((const int64_t *) starts)[y];
    if (start_x != start_y) {
        return start_x < start_y ? -1 : 1;
    }
    return x < y ? -1 : x > y;
}

static void sort_far(struct rh_start_order *o, const int64_t *starts, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++) {
        o->order[i] = i;
    }
    qsort_r(o->order, n, sizeof *o->order, compare_far, (void *) starts);
}

/* The side of the sorted keys.  An attempt of insertion that gave up has not changed the order of
 * equal times, so the digits of the index need no passes. */
static unsigned sort_keys(struct rh_start_order *o, uint32_t n, unsigned index_bits, unsigned bits)
{
    if (insert_all(o->keys[0], n)) {
        return 0;
    }
    unsigned end = index_bits + bits;
    unsigned rough = bits > ROUGH_BITS ? end - ROUGH_BITS : index_bits;
    unsigned side = sort_digits(o, 0, n, rough, end);
    if (rough == index_bits || insert_all(o->keys[side], n)) {
        return side;
    }
    return sort_digits(o, side, n, index_bits, end);
}

void rh_start_order_make(struct rh_start_order *o, const int64_t *starts, uint32_t n)
{
    reserve(o, n);
    int64_t min = n > 0 ? starts[0] : 0;
    int64_t max = min;
    for (uint32_t i = 0; i < n; i++) {
        min = starts[i] < min ? starts[i] : min;
        max = starts[i] > max ? starts[i] : max;
    }
    unsigned index_bits = bits_of(n);
    unsigned bits = bits_of((uint64_t) max - (uint64_t) min);
    if (index_bits + bits > 64) {
        sort_far(o, starts, n);
        return;
    }
    for (uint32_t i = 0; i < n; i++) {
        o->keys[0][i] = ((uint64_t) starts[i] - (uint64_t) min) << index_bits | i;
    }
    const uint64_t *keys = o->keys[sort_keys(o, n, index_bits, bits)];
    uint64_t index_mask = (UINT64_C(1) << index_bits) - 1;
    for (uint32_t i = 0; i < n; i++) {
        o->order[i] = (uint32_t) (keys[i] & index_mask);
    }
}
