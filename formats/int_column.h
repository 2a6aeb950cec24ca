/*
 * formats/int_column.h
 *
 * A column of 64-bit integers, some of them unknown, as one msgpack value (FORMAT.md, "integer
 * columns"): a lone integer or nil where all are equal; byte planes of the distance from the
 * smallest (all low bytes, then all second bytes ...); or a default and the few rows that differ.
 */
#ifndef RH_FORMATS_INT_COLUMN_H
#define RH_FORMATS_INT_COLUMN_H

#include <stdint.h>

#include "common/arena.h"
#include "formats/mp.h"
#include "formats/trace_part.h"

/* In memory an unknown integer is this; a column holds no other number below minus 2^63 plus 4, nor
 * numbers further apart than 2^64 minus 4 when some are unknown. */
#define RH_INT_UNKNOWN INT64_MIN

/* Append the column.  Passing the part's maximum sets raw.over, as with every rh_buf. */
void rh_int_column_put(struct rh_trace_part *p, const int64_t *v, uint32_t n);

struct rh_int_column {
    int64_t *values; /* n of them; NULL: all are `constant` */
    int64_t constant;
};

/* n is what the reader expects and has checked against a limit; memory comes from the arena. */
int rh_int_column_get(struct rh_mp *m, uint32_t n, struct rh_arena *arena,
                      struct rh_int_column *column);

static inline int64_t rh_int_column_at(const struct rh_int_column *c, uint32_t i)
{
    return c->values ? c->values[i] : c->constant;
}

/* True if every value lies within min..max (unknown ones do not). */
bool rh_int_column_within(const struct rh_int_column *c, uint32_t n, int64_t min, int64_t max);

#endif
