#include "formats/trace_block.h"
#include "formats/trace_writer_private.h"

/* Larger ones cost more than a check is worth. */
enum { BLOB_BYTES_CHECKED = 64 * 1024 * 1024 };

static bool ordinals_are_within(const struct rh_trace_block *b, const struct rh_block_session *s)
{
    for (uint32_t i = s->first_row; i < s->first_row + s->row_count; i++) {
        if (b->ordinals[i] < s->first_ordinal || b->ordinals[i] > s->last_ordinal) {
            return false;
        }
    }
    return true;
}

static struct rh_span join_blobs(const struct rh_blob_list *blobs, struct rh_arena *arena)
{
    char *data = rh_arena_alloc(arena, blobs->bytes + 1);
    size_t len = 0;
    for (uint32_t i = 0; i < blobs->count; i++) {
        memcpy(data + len, blobs->items[i].data, blobs->items[i].len);
        len += blobs->items[i].len;
    }
    return rh_span(data, len);
}

bool rh_trace_writer_block_is_good(const struct rh_trace_writer *w, const struct rh_frame *frame)
{
    const struct rh_trace_encoder *e = &w->encoder;
    if (e->blobs.bytes > BLOB_BYTES_CHECKED) {
        return true;
    }
    struct rh_trace_block b;
    rh_trace_block_init(&b);
    b.unit_ns = w->unit_ns;
    b.is_run = w->header.kind == RH_FILE_RUN;
    struct rh_block_bytes bytes = {.frame = *frame,
                                   .state = rh_buf_span(&e->state.raw),
                                   .data = rh_buf_span(&e->data.raw),
                                   .blobs = join_blobs(&e->blobs, &b.arena)};
    bool good = rh_trace_block_decode(&b, &bytes) == 0 && rh_trace_block_decode_values(&b) == 0 &&
                b.row_count == e->row_count && b.state.session_count == e->session_count;
    for (uint32_t i = 0; good && i < b.state.session_count; i++) {
        good = ordinals_are_within(&b, &b.state.sessions[i]);
    }
    rh_trace_block_release(&b);
    return good;
}
