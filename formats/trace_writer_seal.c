/*
 * From the window to blocks.  The oldest rows by start become ordinary blocks; rows that come later
 * with an earlier start wait in `late` and become late blocks.  What fails here fails for good: the
 * functions return -1 with w->failed and w->failure set.
 */
#include <assert.h>

#include "common/alloc.h"
#include "formats/trace_file.h"
#include "formats/trace_writer_private.h"

enum {
    BLOCK_TARGET_BYTES = RH_BLOCK_RAW_MAX / 100 * 97,
    FIRST_BYTES_PER_ROW = 32,
    OTHERS_MAX = 4096,
};

static int put_frame(struct rh_trace_writer *w, struct rh_frame *f)
{
    struct rh_buf *out = &w->packed;
    f->version = RH_TRACE_VERSION;
    f->number = w->block_count;
    f->state_hash = rh_frame_hash(rh_span(out->data + RH_FRAME_BYTES, f->state_bytes));
    f->data_hash =
        rh_frame_hash(rh_span(out->data + RH_FRAME_BYTES + f->state_bytes, f->data_bytes));
    rh_frame_put(f, out->data);
    if (rh_outfile_write(w->file, out->data, out->len, &w->failure) != 0) {
        w->failed = true;
        return -1;
    }
    w->block_count++;
    return 0;
}

/* Room for the frame, then one part after the other; their sizes go into *f. */
static int pack_parts(struct rh_trace_writer *w, const struct rh_trace_part *state,
                      const struct rh_trace_part *data, struct rh_frame *f)
{
    struct rh_buf *out = &w->packed;
    rh_buf_clear(out);
    rh_buf_reserve(out, RH_FRAME_BYTES);
    out->len = RH_FRAME_BYTES;
    if (state) {
        if (rh_trace_part_compress(state, w->cctx, out, &w->failure) != 0) {
            w->failed = true;
            return -1;
        }
        f->state_raw_bytes = (uint32_t) state->raw.len;
        f->state_bytes = (uint32_t) out->len - RH_FRAME_BYTES;
    }
    if (rh_trace_part_compress(data, w->cctx, out, &w->failure) != 0) {
        w->failed = true;
        return -1;
    }
    f->data_raw_bytes = (uint32_t) data->raw.len;
    f->data_bytes = (uint32_t) out->len - RH_FRAME_BYTES - f->state_bytes;
    return 0;
}

int rh_trace_writer_put_plain(struct rh_trace_writer *w, uint8_t type)
{
    struct rh_frame f = {.type = type};
    return pack_parts(w, NULL, &w->plain, &f) == 0 ? put_frame(w, &f) : -1;
}

static int put_blob_block(struct rh_trace_writer *w, uint64_t *blob_bytes)
{
    if (w->plain.raw.len == 0) {
        return 0;
    }
    uint64_t before = rh_outfile_written_bytes(w->file);
    int result = rh_trace_writer_put_plain(w, RH_BLOCK_BLOB);
    *blob_bytes += rh_outfile_written_bytes(w->file) - before;
    rh_trace_part_clear(&w->plain);
    return result;
}

static int put_blobs(struct rh_trace_writer *w, uint64_t *blob_bytes)
{
    const struct rh_blob_list *blobs = &w->encoder.blobs;
    *blob_bytes = 0;
    rh_trace_part_clear(&w->plain);
    for (uint32_t i = 0; i < blobs->count; i++) {
        struct rh_span left = blobs->items[i];
        while (left.len > 0) {
            size_t room = RH_BLOCK_RAW_MAX - w->plain.raw.len;
            size_t n = left.len < room ? left.len : room;
            rh_buf_add(&w->plain.raw, left.data, n);
            left = rh_span(left.data + n, left.len - n);
            if (n == room && put_blob_block(w, blob_bytes) != 0) {
                return -1;
            }
        }
    }
    return put_blob_block(w, blob_bytes);
}

/* What the encoder made. */
static int put_block(struct rh_trace_writer *w, bool late)
{
    const struct rh_trace_encoder *e = &w->encoder;
    struct rh_frame f = {
        .type = RH_BLOCK_DATA,
        .flags =
            (uint16_t) ((late ? RH_BLOCK_LATE : 0) | (e->has_outcomes ? RH_BLOCK_OUTCOMES : 0)),
        .record_count = e->row_count,
        .statement_count = e->statement_count,
        .min = e->min,
        .max = e->max,
    };
    assert(rh_trace_writer_block_is_good(w, &f));
    if (put_blobs(w, &f.blob_bytes) != 0 || pack_parts(w, &e->state, &e->data, &f) != 0 ||
        put_frame(w, &f) != 0) {
        return -1;
    }
    for (uint32_t i = 0; i < e->session_count; i++) {
        e->sessions[i]->changed = false;
    }
    w->records += e->row_count;
    w->statements += e->statement_count;
    return 0;
}

static bool has_state(const struct rh_trace_writer *w)
{
    return w->header.kind == RH_FILE_WORKLOAD;
}

/* Encode as many of the first rows in start order as fit in one block, count at most.  0: not even
 * one fits. */
static uint32_t encode_some(struct rh_trace_writer *w, const struct rh_trace_window *from,
                            uint32_t count, bool late, struct rh_trace_mark *last)
{
    struct rh_trace_writer_session *others[OTHERS_MAX];
    uint32_t other_count = late ? 0 : rh_trace_writer_changed(w, false, others, OTHERS_MAX);
    for (;;) {
        rh_trace_selection_choose(&w->selection, from, count, last);
        if (rh_trace_encoder_run(&w->encoder, &from->store, w->selection.chosen, count, others,
                                 other_count, has_state(w) && !late)) {
            return count;
        }
        if (count == 1 && other_count == 0) {
            return 0;
        }
        /* Sessions that only changed can wait. */
        other_count = 0;
        count = (count + 1) / 2;
    }
}

static uint32_t rows_for_a_block(const struct rh_trace_writer *w, uint32_t available)
{
    uint32_t n = BLOCK_TARGET_BYTES / (w->bytes_per_row ? w->bytes_per_row : FIRST_BYTES_PER_ROW);
    n = n < 1 ? 1 : n;
    n = n > RH_BLOCK_RECORDS_MAX ? RH_BLOCK_RECORDS_MAX : n;
    /* No crumb at the end. */
    return n > available || available - n < n / 16 ? available : n;
}

/* A row is in the file: what follows for its session. */
static void note_sealed(struct rh_trace_writer *w, const struct rh_trace_window *from,
                        const struct rh_trace_row *row)
{
    struct rh_trace_writer_session *s = row->session;
    s->pending_rows--;
    s->opening_sealed |= row->kind == RH_KIND_OPEN;
    if (from == &w->window && s->open_row == (uint32_t) (row - from->rows)) {
        s->open_row = RH_NO_STRING;
    }
    if (has_state(w)) {
        rh_trace_writer_apply(w, row, &from->store);
    }
}

/* One block of the first of the waiting rows, at most `available`: how many they were. */
static int put_rows(struct rh_trace_writer *w, const struct rh_trace_window *from,
                    uint32_t available, bool late, struct rh_trace_mark *last, uint32_t *done)
{
    uint32_t n = rows_for_a_block(w, available);
    n = encode_some(w, from, n > RH_BLOCK_RECORDS_MAX ? RH_BLOCK_RECORDS_MAX : n, late, last);
    if (n == 0) {
        w->failed = true;
        return rh_error_set(&w->failure, RH_ERR_LIMIT, "a record does not fit in a block");
    }
    if (put_block(w, late) != 0) {
        return -1;
    }
    uint32_t per_row = (uint32_t) ((w->encoder.data.raw.len + w->encoder.state.raw.len) / n);
    w->bytes_per_row = per_row < 1 ? 1 : per_row;
    for (uint32_t i = 0; i < n; i++) {
        note_sealed(w, from, w->selection.chosen[i]);
    }
    rh_trace_selection_take(&w->selection);
    *done = n;
    return 0;
}

static void move_openings(struct rh_trace_window *win)
{
    for (uint32_t i = 0; i < win->count; i++) {
        struct rh_trace_row *row = &win->rows[i];
        bool opens = row->kind == RH_KIND_OPEN && row->extra->detail.tag == RH_VALUE_NULL;
        if (opens && row->start > row->session->first_start) {
            row->start = row->session->first_start;
            win->starts[i] = row->start;
        }
    }
}

static void begin_selection(struct rh_trace_writer *w, struct rh_trace_window *from)
{
    if (w->has_early_statement) {
        move_openings(from);
    }
    rh_trace_selection_begin(&w->selection, from);
}

static uint32_t *reserve_map(uint32_t *map, uint32_t *cap, uint32_t n)
{
    if (n > *cap) {
        *cap = n + n / 2;
        map = rh_realloc(map, *cap, sizeof *map);
    }
    if (n > 0) {
        memset(map, 0xff, n * sizeof *map);
    }
    return map;
}

void rh_trace_writer_compact(struct rh_trace_writer *w)
{
    struct rh_trace_window *win = &w->window;
    w->maps.templates = reserve_map(w->maps.templates, &w->map_caps[0], win->store.templates.count);
    w->maps.strings = reserve_map(w->maps.strings, &w->map_caps[1], win->store.strings.count);
    for (uint32_t i = 0; i < win->count; i++) {
        rh_trace_row_move(&win->rows[i], &win->store, &w->spare, &w->maps);
    }
    struct rh_trace_row_store filled = w->spare;
    w->spare = win->store;
    win->store = filled;
    win->old_count = 0;
    rh_trace_row_store_clear(&w->spare);
}

/*
 * The rows that still wait stay, in the order they came.  Nearly all of them came since the seal
 * before, so their values stay where they are, and the arena of that time is free for new ones.
 */
static void keep_rest(struct rh_trace_writer *w)
{
    struct rh_trace_window *win = &w->window;
    const struct rh_trace_selection *s = &w->selection;
    for (uint32_t k = 0; k < s->live_count; k++) {
        uint32_t i = s->live[k];
        struct rh_trace_row *row = &win->rows[k];
        if (k != i) {
            *row = win->rows[i];
            win->starts[k] = win->starts[i];
        }
        row->session->open_row = row->session->open_row == i ? k : row->session->open_row;
        if (i < win->old_count) {
            rh_trace_row_keep(row, &win->store.arena);
        }
    }
    win->count = s->live_count;
    win->old_count = s->live_count;
    rh_trace_row_store_turn(&win->store);
}

int rh_trace_writer_seal(struct rh_trace_writer *w, uint32_t keep)
{
    struct rh_trace_window *win = &w->window;
    uint32_t left = win->count > keep ? win->count - keep : 0;
    begin_selection(w, win);
    while (left > 0) {
        uint32_t done = 0;
        struct rh_trace_mark last;
        if (put_rows(w, win, left, false, &last, &done) != 0) {
            return -1;
        }
        left -= done;
        w->has_sealed = true;
        w->sealed = last;
    }
    keep_rest(w);
    w->has_early_statement = w->has_early_statement && w->late.count > 0;
    rh_trace_writer_drop_ended(w);
    return 0;
}

int rh_trace_writer_seal_late(struct rh_trace_writer *w)
{
    struct rh_trace_window *late = &w->late;
    begin_selection(w, late);
    for (uint32_t left = late->count; left > 0;) {
        uint32_t done = 0;
        struct rh_trace_mark last;
        if (put_rows(w, late, left, true, &last, &done) != 0) {
            return -1;
        }
        left -= done;
    }
    late->count = 0;
    rh_trace_row_store_clear(&late->store);
    rh_trace_writer_drop_ended(w);
    return 0;
}

int rh_trace_writer_seal_sessions(struct rh_trace_writer *w)
{
    struct rh_trace_writer_session *others[OTHERS_MAX];
    uint32_t n;
    uint32_t max = OTHERS_MAX;
    while ((n = rh_trace_writer_changed(w, true, others, max)) > 0) {
        if (!rh_trace_encoder_run(&w->encoder, &w->window.store, NULL, 0, others, n, false)) {
            if (max == 1) {
                w->failed = true;
                return rh_error_set(&w->failure, RH_ERR_LIMIT, "a session does not fit in a block");
            }
            max = max / 2;
        } else if (put_block(w, true) != 0) {
            return -1;
        }
    }
    return 0;
}
