#include "common/alloc.h"
#include "formats/trace_file_private.h"
#include "formats/trace_layout.h"
#include "formats/trace_part.h"

void rh_block_loader_init(struct rh_block_loader *l)
{
    l->dctx = ZSTD_createDCtx();
    rh_buf_init(&l->packed, (size_t) 4 * RH_BLOCK_RAW_MAX);
}

void rh_block_loader_release(struct rh_block_loader *l)
{
    ZSTD_freeDCtx(l->dctx);
    rh_buf_release(&l->packed);
}

/* A frame and its parts into l->packed; the frame's own checksum is checked. */
static int read_frame(struct rh_block_loader *l, const struct rh_trace_file *f, uint64_t offset,
                      bool with_data, struct rh_frame *frame, struct rh_error *err)
{
    char head[RH_FRAME_BYTES];
    int result = rh_trace_file_read(f, offset, head, sizeof head, err);
    if (result != 1) {
        return result;
    }
    if (!rh_frame_get(frame, head)) {
        return 0;
    }
    size_t n = frame->state_bytes + (with_data ? (size_t) frame->data_bytes : 0);
    rh_buf_clear(&l->packed);
    char *room = rh_buf_reserve(&l->packed, n);
    if (!room) {
        return 0;
    }
    l->packed.len = n;
    return rh_trace_file_read(f, offset + RH_FRAME_BYTES, room, n, err);
}

static int unpack(struct rh_block_loader *l, struct rh_span packed, uint64_t hash, char *raw,
                  uint32_t raw_bytes)
{
    if (rh_frame_hash(packed) != hash) {
        return -1;
    }
    return rh_trace_part_decompress(l->dctx, packed, raw, raw_bytes);
}

/* The frames of the blobs, which end where the data block begins. */
static int walk_blobs(const struct rh_trace_file *f, uint64_t from, uint64_t end, uint64_t *total,
                      struct rh_error *err)
{
    *total = 0;
    while (from < end) {
        char head[RH_FRAME_BYTES];
        struct rh_frame frame;
        int result = rh_trace_file_read(f, from, head, sizeof head, err);
        if (result != 1) {
            return result;
        }
        if (!rh_frame_get(&frame, head) || frame.type != RH_BLOCK_BLOB ||
            rh_frame_total_bytes(&frame) > end - from ||
            frame.data_raw_bytes > RH_BLOCK_BLOB_MAX - *total) {
            return 0;
        }
        *total += frame.data_raw_bytes;
        from += rh_frame_total_bytes(&frame);
    }
    return 1;
}

static int load_blobs(struct rh_block_loader *l, const struct rh_trace_file *f, uint64_t from,
                      uint64_t end, struct rh_arena *arena, struct rh_span *blobs,
                      struct rh_error *err)
{
    uint64_t total;
    int result = walk_blobs(f, from, end, &total, err);
    if (result != 1) {
        return result;
    }
    char *raw = rh_arena_alloc(arena, total);
    uint64_t used = 0;
    while (from < end) {
        struct rh_frame frame;
        result = read_frame(l, f, from, true, &frame, err);
        if (result != 1) {
            return result;
        }
        /* The file may have changed since it was walked. */
        if (frame.data_raw_bytes > total - used || frame.state_bytes != 0 ||
            unpack(l, rh_buf_span(&l->packed), frame.data_hash, raw + used, frame.data_raw_bytes) !=
                0) {
            return 0;
        }
        used += frame.data_raw_bytes;
        from += rh_frame_total_bytes(&frame);
    }
    *blobs = rh_span(raw, used);
    return 1;
}

int rh_block_loader_load(struct rh_block_loader *l, const struct rh_trace_file *f, uint32_t index,
                         unsigned want, struct rh_arena *arena, struct rh_block_bytes *bytes,
                         struct rh_error *err)
{
    const struct rh_block_info *info = rh_trace_file_block(f, index);
    *bytes = (struct rh_block_bytes){.state = RH_SPAN_NONE, .data = RH_SPAN_NONE};
    bytes->blobs = RH_SPAN_LITERAL("");
    int result = 1;
    if (info->blob_bytes > 0 && (want & RH_WANT_BLOBS)) {
        if (info->blob_bytes > info->offset) {
            return 0;
        }
        result = load_blobs(l, f, info->offset - info->blob_bytes, info->offset, arena,
                            &bytes->blobs, err);
    }
    result = result == 1 ? read_frame(l, f, info->offset, want & RH_WANT_DATA, &bytes->frame, err)
                         : result;
    if (result != 1) {
        return result;
    }
    const struct rh_frame *frame = &bytes->frame;
    char *raw = rh_arena_alloc(arena, (size_t) frame->state_raw_bytes + frame->data_raw_bytes);
    if (unpack(l, rh_span(l->packed.data, frame->state_bytes), frame->state_hash, raw,
               frame->state_raw_bytes) != 0) {
        return 0;
    }
    bytes->state = rh_span(raw, frame->state_raw_bytes);
    if (!(want & RH_WANT_DATA)) {
        return 1;
    }
    raw += frame->state_raw_bytes;
    if (unpack(l, rh_span(l->packed.data + frame->state_bytes, frame->data_bytes), frame->data_hash,
               raw, frame->data_raw_bytes) != 0) {
        return 0;
    }
    bytes->data = rh_span(raw, frame->data_raw_bytes);
    return 1;
}
