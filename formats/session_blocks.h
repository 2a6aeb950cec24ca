/*
 * formats/session_blocks.h
 *
 * Which blocks hold records of one session: the index's side of a cursor.
 */
#ifndef RH_FORMATS_SESSION_BLOCKS_H
#define RH_FORMATS_SESSION_BLOCKS_H

#include <stdint.h>

struct rh_session_block {
    uint32_t block;
    uint32_t row_count;
    uint64_t first_ordinal;
    uint64_t last_ordinal;
};

/* Ordinary blocks with ascending ordinals, then late ones (and what does not ascend). */
struct rh_session_blocks {
    const struct rh_session_block *ordinary;
    uint32_t ordinary_count;
    const struct rh_session_block *late;
    uint32_t late_count;
};

struct rh_trace_index;
struct rh_session_blocks rh_trace_index_blocks(const struct rh_trace_index *index, uint32_t i);

#endif
