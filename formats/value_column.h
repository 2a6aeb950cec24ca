/*
 * formats/value_column.h
 *
 * A column of literals, parameters or strings as one msgpack value (FORMAT.md, "value columns").
 * Text that is the canonical form of a 64-bit integer is kept as one.  Values longer than
 * RH_VALUE_INLINE_MAX are not in the column but in the blob blocks before their data block.
 */
#ifndef RH_FORMATS_VALUE_COLUMN_H
#define RH_FORMATS_VALUE_COLUMN_H

#include <stdint.h>

#include "common/arena.h"
#include "formats/int_column.h"

enum rh_value_tag { RH_VALUE_NULL = 0, RH_VALUE_INT = 1, RH_VALUE_BYTES = 2, RH_VALUE_BLOB = 3 };

struct rh_value {
    union {
        int64_t number;
        const char *data;
    } u;
    uint32_t len; /* of BYTES, and of INT as text */
    uint32_t tag;
};

/* NULL, INT or BYTES (which point to s).  s is at most 2^32 - 1 bytes. */
struct rh_value rh_value_of(struct rh_span s);

/* Decimal text of v, not terminated; returns its length. */
uint32_t rh_value_format(int64_t v, char text[20]);

/* Values that go to blob blocks, in order; they point to the writer's memory. */
struct rh_blob_list {
    struct rh_span *items;
    uint32_t count;
    uint32_t cap;
    uint64_t bytes;
    uint32_t inline_max; /* longer values become blobs */
};

/* Scratch of the writer for the values of one column. */
struct rh_value_scratch {
    int64_t *ints;
    uint32_t cap;
};

void rh_value_column_put(struct rh_trace_part *p, const struct rh_value *values, uint32_t n,
                         struct rh_blob_list *blobs, struct rh_value_scratch *scratch);

/* The column of n values that all are INT, n at least 1. */
void rh_value_column_put_integers(struct rh_trace_part *p, const int64_t *numbers, uint32_t n);

/*
 * Fill out[0..n) (data NULL for NULL).  Spans point into the msgpack, the blobs or the arena.  n
 * was checked against a limit.
 */
int rh_value_column_get(struct rh_mp *m, uint32_t n, struct rh_span blobs, struct rh_arena *arena,
                        struct rh_span *out);

#endif
