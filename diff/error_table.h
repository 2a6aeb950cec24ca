/*
 * diff/error_table.h
 *
 * Failures by SQLSTATE and query, counted on both sides, with the first example of each.  Bounded
 * in groups and in bytes of example texts; groups beyond the limit are counted together (index 0).
 */
#ifndef RH_DIFF_ERROR_TABLE_H
#define RH_DIFF_ERROR_TABLE_H

#include <stdbool.h>
#include <stdint.h>

#include "diff/index_map.h"
#include "diff/observation.h"

enum {
    RH_ERROR_OTHER = 0,
    RH_ERROR_TEXT_MAX = 2048, /* bytes kept of an example's text */
    RH_ERROR_COUNT_DEFAULT = 65536,
};

struct rh_error_example {
    struct rh_statement_ref ref;
    char *text; /* NULL: no example, or no memory left for its text */
    uint32_t text_len;
    bool text_cut;
    bool known;
};

struct rh_error_group {
    uint32_t query;
    uint32_t sqlstate;
    uint64_t counts[RH_SIDES];
    uint64_t untyped[RH_SIDES]; /* of these, statements with parameters of unknown type */
    uint64_t follows[RH_SIDES]; /* of these, 25P02 of a transaction that had failed before */
    uint32_t cause;             /* the group of the failure that 25P02 first followed, or 0 */
    uint64_t broke;             /* twins that succeeded in the base and fail so in the candidate */
    uint64_t fixed;             /* twins that failed so in the base and succeed in the candidate */
    struct rh_error_example example[RH_SIDES];
};

struct rh_error_table {
    struct rh_error_group *items; /* moves when one is added */
    uint32_t count;
    uint32_t cap;
    uint32_t count_max;
    uint64_t text_bytes;
    struct rh_index_map by_key;
    /* By session and copy: the failure its transaction is in. */
    struct rh_index_map failed[RH_SIDES];
};

void rh_error_table_init(struct rh_error_table *t, uint32_t count_max);
void rh_error_table_release(struct rh_error_table *t);

/* The group, added if it is new; RH_ERROR_OTHER when the table is full. */
uint32_t rh_error_table_put(struct rh_error_table *t, uint32_t query, uint32_t sqlstate);

/* Whether rh_error_table_observe() will take the record's text as an example. */
bool rh_error_table_needs_text(struct rh_error_table *t, enum rh_side side, uint32_t query,
                               const struct rh_observation *o);
/* See every observation of a side, in its order, whether it failed or not.  Counts a failure; the
 * example's text is taken from r. */
void rh_error_table_observe(struct rh_error_table *t, enum rh_side side, uint32_t query,
                            const struct rh_observation *o, const struct rh_record *r);
/* Forget what was counted over pairs. */
void rh_error_table_clear_pairs(struct rh_error_table *t);

/* The start of a record's text, at most max bytes, into text; *cut says whether there is more. */
uint32_t rh_record_text_head(const struct rh_record *r, char *text, uint32_t max, bool *cut);

#endif
