#include "formats/trace_part.h"

#include "common/alloc.h"
#include "formats/trace_layout.h"

/* Measured on TPC-B: below this a zstd block's tables cost more than they save. */
enum { CUT_MIN_BYTES = 8 * 1024, CUT_BEFORE_LARGE_BYTES = 1024 };

void rh_trace_part_init(struct rh_trace_part *p)
{
    *p = (struct rh_trace_part){0};
    rh_buf_init(&p->raw, RH_BLOCK_RAW_MAX);
}

void rh_trace_part_release(struct rh_trace_part *p)
{
    rh_buf_release(&p->raw);
    rh_free(p->cuts);
    rh_trace_part_init(p);
}

void rh_trace_part_clear(struct rh_trace_part *p)
{
    rh_buf_clear(&p->raw);
    p->cut_count = 0;
    p->last_cut = 0;
}

void rh_trace_part_cut(struct rh_trace_part *p, size_t upcoming)
{
    size_t since = p->raw.len - p->last_cut;
    if (since < CUT_BEFORE_LARGE_BYTES || (since < CUT_MIN_BYTES && upcoming < CUT_MIN_BYTES)) {
        return;
    }
    RH_GROW(p->cuts, p->cut_count, p->cut_cap);
    p->last_cut = (uint32_t) p->raw.len;
    p->cuts[p->cut_count++] = p->last_cut;
}

static int compress_piece(ZSTD_CCtx *cctx, ZSTD_inBuffer *in, ZSTD_outBuffer *packed,
                          ZSTD_EndDirective directive, struct rh_error *err)
{
    size_t left;
    do {
        left = ZSTD_compressStream2(cctx, packed, in, directive);
        if (ZSTD_isError(left)) {
            return rh_error_set(err, RH_ERR_LIMIT, "cannot compress a block: %s",
                                ZSTD_getErrorName(left));
        }
    } while (left > 0 && packed->pos < packed->size);
    return left == 0 ? 0 : rh_error_set(err, RH_ERR_LIMIT, "cannot compress a block");
}

int rh_trace_part_compress(const struct rh_trace_part *p, ZSTD_CCtx *cctx, struct rh_buf *out,
                           struct rh_error *err)
{
    /* Each cut ends a zstd block early: three bytes of header and what did not compress. */
    size_t room = ZSTD_compressBound(p->raw.len) + (size_t) 16 * (p->cut_count + 1);
    char *at = rh_buf_reserve(out, room);
    if (!at) {
        return rh_error_set(err, RH_ERR_LIMIT, "a block is too large to compress");
    }
    ZSTD_CCtx_reset(cctx, ZSTD_reset_session_only);
    ZSTD_CCtx_setPledgedSrcSize(cctx, p->raw.len);
    ZSTD_inBuffer in = {p->raw.data, 0, 0};
    ZSTD_outBuffer packed = {at, room, 0};
    for (uint32_t i = 0; i < p->cut_count; i++) {
        in.size = p->cuts[i];
        if (compress_piece(cctx, &in, &packed, ZSTD_e_flush, err) != 0) {
            return -1;
        }
    }
    in.size = p->raw.len;
    if (compress_piece(cctx, &in, &packed, ZSTD_e_end, err) != 0) {
        return -1;
    }
    out->len += packed.pos;
    return 0;
}

int rh_trace_part_decompress(ZSTD_DCtx *dctx, struct rh_span packed, char *raw, size_t raw_bytes)
{
    if (ZSTD_getFrameContentSize(packed.data, packed.len) != raw_bytes) {
        return -1;
    }
    return ZSTD_decompressDCtx(dctx, raw, raw_bytes, packed.data, packed.len) == raw_bytes ? 0 : -1;
}
