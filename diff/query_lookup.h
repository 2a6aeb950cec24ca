/*
 * diff/query_lookup.h
 *
 * From a record to its query in the table.  The fingerprint is made once a template and then
 * remembered: by the template's number within a block, and by the template's hash across blocks.
 */
#ifndef RH_DIFF_QUERY_LOOKUP_H
#define RH_DIFF_QUERY_LOOKUP_H

#include <stdint.h>

#include "common/buf.h"
#include "diff/index_map.h"
#include "diff/query_table.h"
#include "formats/record.h"

/* A reader goes to and fro between a few blocks when it merges late ones. */
enum { RH_LOOKUP_BLOCKS = 8 };

struct rh_lookup_block {
    uint64_t serial;
    uint64_t last_used;
    uint32_t *queries; /* by template number: index + 1, 0 not known yet */
    uint32_t cap;
};

struct rh_query_lookup {
    struct rh_query_table *table;
    struct rh_lookup_block blocks[RH_LOOKUP_BLOCKS];
    struct rh_lookup_block *current;
    uint64_t clock;
    struct rh_index_map by_hash; /* of templates; to index + 1 */
    struct rh_buf text;
    struct rh_buf normal;
};

void rh_query_lookup_init(struct rh_query_lookup *l, struct rh_query_table *table);
void rh_query_lookup_release(struct rh_query_lookup *l);

/* The index of the record's query, which is added if it is new. */
uint32_t rh_query_lookup_find(struct rh_query_lookup *l, const struct rh_record *r,
                              uint64_t block_serial);

#endif
