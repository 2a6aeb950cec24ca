/*
 * diff/pair_table.h
 *
 * The statements of one side whose twins have not been read from the other side yet.  Two hash
 * tables of 32-byte cells, a small one and one that grows up to a limit of memory; a matched twin
 * leaves at once, so their size follows how far the two files are apart in their order, not how
 * long they are.
 */
#ifndef RH_DIFF_PAIR_TABLE_H
#define RH_DIFF_PAIR_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "diff/observation.h"

/* Copies and ordinals up to these can be paired; a statement beyond them cannot (nor can it come
 * from a real file). */
enum { RH_TWIN_COPY_BITS = 20, RH_TWIN_ORDINAL_BITS = 44 };

/* What the comparison of a pair needs of a statement. */
struct rh_twin {
    uint64_t place; /* ordinal and copy */
    uint32_t session;
    uint32_t query; /* index in the query table */
    uint64_t service_ns : RH_SERVICE_BITS;
    uint64_t batch : 5; /* of the base: which 32nd of its time it lies in */
    uint64_t service_known : 1;
    uint64_t side : 1;   /* enum rh_side */
    uint64_t status : 2; /* enum rh_observed */
    uint64_t commit_not_timed : 1;
    uint64_t used : 1;
    uint32_t code; /* ERROR: SQLSTATE; MISSING: fate << 8 | reason */
    uint32_t rows; /* RH_TWIN_ROWS_UNKNOWN; a larger count is kept as RH_TWIN_ROWS_UNKNOWN - 1 */
};

#define RH_TWIN_ROWS_UNKNOWN UINT32_MAX

/* False when the identity is beyond what can be paired.  The batch is left 0. */
bool rh_twin_make(struct rh_twin *twin, const struct rh_observation *o, enum rh_side side,
                  uint32_t query);
/* Whether it is that statement. */
static inline bool rh_twin_is(const struct rh_twin *twin, const struct rh_statement_ref *ref)
{
    return twin->session == ref->session &&
           twin->place == (ref->ordinal | (uint64_t) ref->copy << RH_TWIN_ORDINAL_BITS);
}
static inline uint64_t rh_twin_ordinal(const struct rh_twin *twin)
{
    return twin->place & ((UINT64_C(1) << RH_TWIN_ORDINAL_BITS) - 1);
}
static inline uint32_t rh_twin_copy(const struct rh_twin *twin)
{
    return (uint32_t) (twin->place >> RH_TWIN_ORDINAL_BITS);
}
/* Depends on the identity only.  The low bits choose the cell, the high ones the partition. */
uint64_t rh_twin_hash(const struct rh_twin *twin);

struct rh_pair_cells {
    struct rh_twin *items;
    size_t cap; /* a power of two */
    size_t count;
};

enum { RH_PAIR_SESSION_KINDS = 4096 };

struct rh_pair_table {
    struct rh_pair_cells young; /* small: where most twins meet */
    struct rh_pair_cells old;   /* what has waited for long */
    size_t old_cap_max;         /* so that it, and its growth, stay within the limit of memory */
    size_t count[RH_SIDES];
    uint32_t old_of_sessions[RH_PAIR_SESSION_KINDS]; /* by session % RH_PAIR_SESSION_KINDS */
};

/* 256 kB and room for 24 twins of each side, whatever max_bytes. */
void rh_pair_table_init(struct rh_pair_table *t, uint64_t max_bytes);
void rh_pair_table_release(struct rh_pair_table *t);
void rh_pair_table_clear(struct rh_pair_table *t);

/* How many twins of one side the table takes, whatever the other side has in it. */
size_t rh_pair_table_side_limit(const struct rh_pair_table *t);

enum rh_pair_result {
    RH_PAIR_MATCHED,   /* *other is the twin from the other side; it has left the table */
    RH_PAIR_WAITS,     /* none yet: this one is in the table now */
    RH_PAIR_NONE,      /* none yet, and it was not to be kept */
    RH_PAIR_DUPLICATE, /* its own side has had this identity before; nothing changed */
    RH_PAIR_FULL,      /* its side is at its limit; nothing changed */
};

enum rh_pair_result rh_pair_table_put(struct rh_pair_table *t, const struct rh_twin *twin,
                                      bool keep, struct rh_twin *other);

/* Walk over all cells in use: start with *pos = 0; NULL at the end. */
const struct rh_twin *rh_pair_table_next(const struct rh_pair_table *t, size_t *pos);

#endif
