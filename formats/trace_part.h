/*
 * formats/trace_part.h
 *
 * The bytes of one part of a block (state or columns) before compression, and where in them a new
 * kind of bytes begins: the compressor starts a new zstd block there, so that each column gets
 * entropy tables of its own.
 */
#ifndef RH_FORMATS_TRACE_PART_H
#define RH_FORMATS_TRACE_PART_H

#include <stdint.h>
#include <zstd.h>

#include "common/buf.h"
#include "common/error.h"

struct rh_trace_part {
    struct rh_buf raw;
    uint32_t *cuts; /* offsets in raw, ascending */
    uint32_t cut_count;
    uint32_t cut_cap;
    uint32_t last_cut;
};

void rh_trace_part_init(struct rh_trace_part *p);
void rh_trace_part_release(struct rh_trace_part *p);
void rh_trace_part_clear(struct rh_trace_part *p);

/* `upcoming` bytes of another kind follow: cut here if that pays. */
void rh_trace_part_cut(struct rh_trace_part *p, size_t upcoming);

/* Append the part to *out as one zstd frame with its content size. */
int rh_trace_part_compress(const struct rh_trace_part *p, ZSTD_CCtx *cctx, struct rh_buf *out,
                           struct rh_error *err);

/* raw_bytes is what the block header says, and was checked against its limit; `raw` has that room.
 */
int rh_trace_part_decompress(ZSTD_DCtx *dctx, struct rh_span packed, char *raw, size_t raw_bytes);

#endif
