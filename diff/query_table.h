/*
 * diff/query_table.h
 *
 * All that is counted for each query (fingerprint), on both sides and over its pairs.  Bounded:
 * past a number of queries or bytes of memory, new ones are counted together as `other` (index 0).
 */
#ifndef RH_DIFF_QUERY_TABLE_H
#define RH_DIFF_QUERY_TABLE_H

#include <stdbool.h>
#include <stdint.h>

#include "common/hist.h"
#include "common/span.h"
#include "diff/index_map.h"
#include "diff/observation.h"
#include "diff/pair_stat.h"

enum {
    RH_QUERY_OTHER = 0,
    RH_QUERY_SQL_MAX = 4096, /* bytes kept of a normalised text */
    RH_QUERY_COUNT_DEFAULT = 100000,
};

/* One side by itself. */
struct rh_query_side {
    uint64_t calls;   /* statements that ran */
    uint64_t errors;  /* of these, failed */
    uint64_t unknown; /* of these, outcome unknown */
    uint64_t missing; /* statements that did not run */
    uint64_t commit_not_timed;
    struct rh_hist service; /* ns, of those that succeeded */
    /* The part of `service` whose times mean the same as the other side's. */
    uint64_t comparable_count;
    uint64_t comparable_ns;
};

/* Over pairs. */
struct rh_query_pairs {
    uint64_t timed; /* both succeeded, with times that mean the same */
    uint64_t base_ns;
    uint64_t candidate_ns;
    uint64_t missing; /* ran in the base, not in the candidate */
    uint64_t broke;   /* succeeded in the base, failed in the candidate */
    uint64_t fixed;   /* the reverse */
    uint64_t rows_compared;
    uint64_t row_mismatches;
};

/* The pair that the candidate slowed most, by the identity of its statement. */
struct rh_slowed_pair {
    uint64_t ordinal; /* 0: none was slower */
    uint32_t part;
    uint32_t session;
    uint32_t copy;
    uint64_t base_ns;
    uint64_t candidate_ns;
};

struct rh_query {
    uint64_t fingerprint;
    struct rh_span sql; /* normalised; the table's */
    bool sql_cut;
    bool has_example;
    struct rh_statement_ref example; /* of the base, of the candidate where the base has none */
    enum rh_side example_side;
    struct rh_query_side side[RH_SIDES];
    struct rh_query_pairs pairs;
    struct rh_slowed_pair slowed;
    struct rh_pair_stat times;     /* of the pairs whose times may be tested */
    struct rh_statement_ref first; /* statement that was read of the base; ordinal 0: none */
};

struct rh_query_table {
    struct rh_query *items; /* moves when one is added */
    uint32_t count;
    uint32_t cap;
    uint32_t count_max;
    uint64_t bytes;
    uint64_t bytes_max;
    uint64_t refused;         /* first sights of a query that went to `other` */
    struct rh_pair_room room; /* of `times`, beside `bytes`; at most half of bytes_max */
    struct rh_index_map by_fingerprint;
};

void rh_query_table_init(struct rh_query_table *t, uint32_t count_max, uint64_t bytes_max);
void rh_query_table_release(struct rh_query_table *t);

/* The index of a known query, or -1. */
int64_t rh_query_table_find(const struct rh_query_table *t, uint64_t fingerprint);
/* Add a query that is not there; RH_QUERY_OTHER when the table is full. */
uint32_t rh_query_table_add(struct rh_query_table *t, uint64_t fingerprint, struct rh_span sql);

/* Count one statement of one side.  comparable: a service time of it may be set against the other
 * side's. */
void rh_query_table_observe(struct rh_query_table *t, uint32_t query, enum rh_side side,
                            const struct rh_observation *o, bool comparable);
/* Keeps `pair` if it was slowed more than that which is there; of two alike the lower identity, so
 * that the order of the pairs does not matter. */
void rh_slowed_pair_take(struct rh_slowed_pair *slowed, const struct rh_slowed_pair *pair);
/* Forget what was counted over pairs. */
void rh_query_table_clear_pairs(struct rh_query_table *t);

#endif
