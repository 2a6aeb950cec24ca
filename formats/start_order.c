#include "formats/start_order.h"

#include <string.h>

#include "common/alloc.h"

enum { DIGIT_BITS = 11, DIGITS = 1 << DIGIT_BITS };

void rh_start_order_init(struct rh_start_order *o)
{
    *o = (struct rh_start_order){0};
}

void rh_start_order_release(struct rh_start_order *o)
{
    rh_free(o->order);
    rh_free(o->pairs[0]);
    rh_free(o->pairs[1]);
    rh_start_order_init(o);
}

static void reserve(struct rh_start_order *o, uint32_t n)
{
    if (n > o->cap) {
        o->cap = n;
        o->order = rh_realloc(o->order, n, sizeof *o->order);
        o->pairs[0] = rh_realloc(o->pairs[0], n, sizeof *o->pairs[0]);
        o->pairs[1] = rh_realloc(o->pairs[1], n, sizeof *o->pairs[1]);
    }
}

static void sort_digit(const struct rh_start_order_pair *from, struct rh_start_order_pair *to,
                       uint32_t n, unsigned shift)
{
    uint32_t places[DIGITS] = {0};
    for (uint32_t i = 0; i < n; i++) {
        places[from[i].key >> shift & (DIGITS - 1)]++;
    }
    uint32_t place = 0;
    for (unsigned d = 0; d < DIGITS; d++) {
        uint32_t count = places[d];
        places[d] = place;
        place += count;
    }
    for (uint32_t i = 0; i < n; i++) {
        to[places[from[i].key >> shift & (DIGITS - 1)]++] = from[i];
    }
}

void rh_start_order_make(struct rh_start_order *o, const int64_t *starts, uint32_t n)
{
    reserve(o, n);
    int64_t min = n > 0 ? starts[0] : 0;
    int64_t max = min;
    bool sorted = true;
    for (uint32_t i = 0; i < n; i++) {
        sorted &= i == 0 || starts[i] >= starts[i - 1];
        min = starts[i] < min ? starts[i] : min;
        max = starts[i] > max ? starts[i] : max;
    }
    for (uint32_t i = 0; i < n; i++) {
        o->pairs[0][i] = (struct rh_start_order_pair){(uint64_t) starts[i] - (uint64_t) min, i};
    }
    unsigned side = 0;
    uint64_t span = (uint64_t) max - (uint64_t) min;
    for (unsigned shift = 0; !sorted && shift < 64 && span >> shift != 0; shift += DIGIT_BITS) {
        sort_digit(o->pairs[side], o->pairs[!side], n, shift);
        side = !side;
    }
    for (uint32_t i = 0; i < n; i++) {
        o->order[i] = o->pairs[side][i].index;
    }
}
