/*
 * formats/trace_block.h
 *
 * A data block, decoded: columns as arrays, and any row of it as a record.
 */
#ifndef RH_FORMATS_TRACE_BLOCK_H
#define RH_FORMATS_TRACE_BLOCK_H

#include "formats/int_column.h"
#include "formats/start_order.h"
#include "formats/trace_block_state.h"
#include "formats/trace_file_private.h"
#include "formats/trace_layout.h"

/* Where the values that are not decoded yet lie; in the arena, as all else. */
struct rh_trace_block_values {
    struct rh_span blobs;
    struct rh_mp uses_min;
    struct rh_mp literals;
    struct rh_mp params;
    struct rh_mp param_types;
    struct rh_mp param_formats;
    struct rh_mp result_formats;
};

struct rh_trace_block {
    uint32_t index; /* of the block in its file */
    uint32_t row_count;
    int64_t unit_ns;
    bool is_run;
    struct rh_arena arena; /* has all below */
    struct rh_block_state state;
    struct rh_int_column columns[RH_ROW_COLUMN_COUNT];
    int64_t *start_ns;     /* by row */
    uint64_t *ordinals;    /* by row */
    uint32_t *session_of;  /* by row: its place in state.sessions */
    uint32_t *slot_counts; /* by template */
    struct rh_span *literals;
    uint32_t *literal_first; /* by row */
    struct rh_param *params;
    uint32_t *param_first;
    uint16_t *result_formats;
    uint32_t *result_format_first;
    struct rh_span *details; /* by row, or NULL: none has one */
    struct rh_record common; /* what all records of the block have in common */
    bool plain_outcome;      /* of the outcomes only the ends differ */
    bool plain_rest;         /* what few statements have, none has or all have alike */
    bool with_values;        /* literals, parameters, result formats are decoded */
    struct rh_trace_block_values values;
};

void rh_trace_block_init(struct rh_trace_block *b);
void rh_trace_block_release(struct rh_trace_block *b);

/* Load and decode, literals, parameters and result formats if with_values says so.  1: done; 0:
 * damaged; -1: an I/O error. */
int rh_trace_block_load(struct rh_trace_block *b, struct rh_block_loader *l,
                        const struct rh_trace_file *f, uint32_t index, bool with_values,
                        struct rh_error *err);
/* Decode the values of a block that was loaded without; -1: they are damaged, and it stays without.
 */
int rh_trace_block_decode_values(struct rh_trace_block *b);

/* The decoder alone, for tests: -1 when the bytes are not what FORMAT.md allows. */
int rh_trace_block_decode(struct rh_trace_block *b, const struct rh_block_bytes *bytes);

static inline enum rh_kind rh_trace_block_kind(const struct rh_trace_block *b, uint32_t row)
{
    return (enum rh_kind) rh_int_column_at(&b->columns[RH_COLUMN_KIND], row);
}

/* *r points into the block.  Without values its literals, params and result_formats are NULL,
 * though it tells how many there are. */
void rh_trace_block_record(const struct rh_trace_block *b, uint32_t row, struct rh_record *r);
/* Only the outcome of a row. */
void rh_trace_block_outcome(const struct rh_trace_block *b, uint32_t row, struct rh_outcome *o);

#endif
