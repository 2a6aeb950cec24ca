/*
 * formats/trace_file_private.h
 *
 * What the readers in formats/ need of an open file: the checked bytes of a block.
 */
#ifndef RH_FORMATS_TRACE_FILE_PRIVATE_H
#define RH_FORMATS_TRACE_FILE_PRIVATE_H

#include <zstd.h>

#include "common/arena.h"
#include "common/buf.h"
#include "formats/trace_file.h"
#include "formats/trace_frame.h"

/* Nanoseconds in the file's unit of time. */
int64_t rh_trace_file_unit_ns(const struct rh_trace_file *f);

/* What one thread needs to load blocks. */
struct rh_block_loader {
    ZSTD_DCtx *dctx;
    struct rh_buf packed;
};

void rh_block_loader_init(struct rh_block_loader *l);
void rh_block_loader_release(struct rh_block_loader *l);

enum rh_block_want {
    RH_WANT_STATE = 0, /* the state part, always */
    RH_WANT_DATA = 1,
    RH_WANT_BLOBS = 2,
    RH_WANT_ALL = RH_WANT_DATA | RH_WANT_BLOBS,
};

struct rh_block_bytes {
    struct rh_frame frame;
    struct rh_span state;
    struct rh_span data;
    struct rh_span blobs; /* empty unless the block has some and they were asked for */
};

/*
 * Read and decompress block `index` into the arena, checksums checked.  1: done; 0: the block is
 * damaged; -1: an I/O error.  `want`: enum rh_block_want.
 */
int rh_block_loader_load(struct rh_block_loader *l, const struct rh_trace_file *f, uint32_t index,
                         unsigned want, struct rh_arena *arena, struct rh_block_bytes *bytes,
                         struct rh_error *err);

/* pread() of all n bytes: 1, 0 when the file ends before, -1. */
int rh_trace_file_read(const struct rh_trace_file *f, uint64_t offset, void *data, size_t n,
                       struct rh_error *err);

#endif
