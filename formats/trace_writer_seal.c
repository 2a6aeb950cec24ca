/*
 * From the window to blocks.  The oldest rows by start become ordinary blocks; rows that come later
 * with an earlier start wait in `late` and become late blocks.  What fails here fails for good: the
 * functions return -1 with w->failed and w->failure set.
 */
#include <assert.h>
#include <stdlib.h>

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

/* Encode as many of rows[0..count) as fit in one block, count at most.  0: not even one fits. */
static uint32_t encode_some(struct rh_trace_writer *w, const struct rh_trace_window *from,
                            uint32_t first, uint32_t count, bool late)
{
    struct rh_trace_writer_session *others[OTHERS_MAX];
    uint32_t other_count = late ? 0 : rh_trace_writer_changed(w, false, others, OTHERS_MAX);
    for (;;) {
        if (rh_trace_encoder_run(&w->encoder, &from->store, w->sorted + first, count, others,
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

static int put_rows(struct rh_trace_writer *w, const struct rh_trace_window *from, uint32_t first,
                    uint32_t available, bool late, uint32_t *done)
{
    uint32_t n = rows_for_a_block(w, available);
    n = encode_some(w, from, first, n > RH_BLOCK_RECORDS_MAX ? RH_BLOCK_RECORDS_MAX : n, late);
    if (n == 0) {
        w->failed = true;
        return rh_error_set(&w->failure, RH_ERR_LIMIT, "a record does not fit in a block");
    }
    if (put_block(w, late) != 0) {
        return -1;
    }
    uint32_t per_row = (uint32_t) ((w->encoder.data.raw.len + w->encoder.state.raw.len) / n);
    w->bytes_per_row = per_row < 1 ? 1 : per_row;
    for (uint32_t i = first; i < first + n; i++) {
        struct rh_trace_row *row = w->sorted[i];
        row->session->pending_rows--;
        row->session->opening_sealed |= row->kind == RH_KIND_OPEN;
        if (has_state(w)) {
            rh_trace_writer_apply(w, row, &from->store);
        }
    }
    *done = n;
    return 0;
}

static unsigned kind_rank(uint8_t kind)
{
    return kind == RH_KIND_OPEN ? 0 : rh_kind_has_ordinal((enum rh_kind) kind) ? 1 : 2;
}

/* Of rows that start at once. */
static bool comes_before(const struct rh_trace_row *a, const struct rh_trace_row *b)
{
    const struct rh_session *x = &a->session->s;
    const struct rh_session *y = &b->session->s;
    if (x->number != y->number) {
        return x->number < y->number;
    }
    if (x->copy != y->copy) {
        return x->copy < y->copy;
    }
    if (a->ordinal != b->ordinal) {
        return a->ordinal < b->ordinal;
    }
    return kind_rank(a->kind) < kind_rank(b->kind);
}

static int compare_ties(const void *a, const void *b)
{
    const struct rh_trace_row *x = *(struct rh_trace_row *const *) a;
    const struct rh_trace_row *y = *(struct rh_trace_row *const *) b;
    if (comes_before(x, y)) {
        return -1;
    }
    if (comes_before(y, x)) {
        return 1;
    }
    return x < y ? -1 : x > y; /* as they came */
}

/* Stable; groups of one ms of a log have a few rows and are nearly in order. */
static void sort_ties(struct rh_trace_row **rows, uint32_t n)
{
    enum { INSERTION_MAX = 64 };
    if (n > INSERTION_MAX) {
        qsort(rows, n, sizeof(void *), compare_ties);
        return;
    }
    for (uint32_t i = 1; i < n; i++) {
        struct rh_trace_row *row = rows[i];
        uint32_t k = i;
        while (k > 0 && comes_before(row, rows[k - 1])) {
            rows[k] = rows[k - 1];
            k--;
        }
        rows[k] = row;
    }
}

static void move_openings(struct rh_trace_window *win)
{
    for (uint32_t i = 0; i < win->count; i++) {
        struct rh_trace_row *row = &win->rows[i];
        bool opens = row->kind == RH_KIND_OPEN && row->extra->detail.tag == RH_VALUE_NULL;
        if (opens && row->start > row->session->first_start) {
            row->start = row->session->first_start;
        }
    }
}

static void sort_rows(struct rh_trace_writer *w, struct rh_trace_window *from)
{
    uint32_t n = from->count;
    if (n > w->sorted_cap) {
        w->sorted_cap = n;
        w->starts = rh_realloc(w->starts, n, sizeof *w->starts);
        w->sorted = rh_realloc(w->sorted, n, sizeof(void *));
    }
    if (w->has_early_statement) {
        move_openings(from);
    }
    for (uint32_t i = 0; i < n; i++) {
        w->starts[i] = from->rows[i].start;
    }
    rh_start_order_make(&w->order, w->starts, n);
    const uint32_t *order = w->order.order;
    for (uint32_t i = 0; i < n; i++) {
        w->sorted[i] = &from->rows[order[i]];
    }
    for (uint32_t i = 0; i < n;) {
        uint32_t end = i + 1;
        while (end < n && w->starts[order[end]] == w->starts[order[i]]) {
            end++;
        }
        if (end - i > 1) {
            sort_ties(w->sorted + i, end - i);
        }
        i = end;
    }
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

/* The rows from `first` on in start order stay: they move to the spare store, in the order they
 * came. */
static void keep_rest(struct rh_trace_writer *w, uint32_t first)
{
    struct rh_trace_window *win = &w->window;
    /* The session of a sealed row is marked by the row itself: a NULL session is a row that is
     * gone. */
    for (uint32_t i = 0; i < first; i++) {
        struct rh_trace_writer_session *s = w->sorted[i]->session;
        uint32_t index = (uint32_t) (w->sorted[i] - win->rows);
        s->open_row = s->open_row == index ? RH_NO_STRING : s->open_row;
        w->sorted[i]->session = NULL;
    }
    w->maps.templates = reserve_map(w->maps.templates, &w->map_caps[0], win->store.templates.count);
    w->maps.strings = reserve_map(w->maps.strings, &w->map_caps[1], win->store.strings.count);
    rh_trace_row_store_clear(&w->spare);
    uint32_t kept = 0;
    for (uint32_t i = 0; i < win->count; i++) {
        struct rh_trace_row *row = &win->rows[i];
        if (!row->session) {
            continue;
        }
        row->session->open_row = row->session->open_row == i ? kept : row->session->open_row;
        rh_trace_row_move(row, &win->store, &w->spare, &w->maps);
        win->rows[kept++] = *row;
    }
    win->count = kept;
    struct rh_trace_row_store filled = w->spare;
    w->spare = win->store;
    win->store = filled;
    rh_trace_row_store_clear(&w->spare);
}

int rh_trace_writer_seal(struct rh_trace_writer *w, uint32_t keep)
{
    struct rh_trace_window *win = &w->window;
    uint32_t first = 0;
    uint32_t end = win->count > keep ? win->count - keep : 0;
    sort_rows(w, win);
    while (first < end) {
        uint32_t done = 0;
        if (put_rows(w, win, first, end - first, false, &done) != 0) {
            return -1;
        }
        first += done;
        const struct rh_trace_row *last = w->sorted[first - 1];
        w->has_sealed = true;
        w->sealed =
            (struct rh_trace_mark){last->start, last->session->s.number, last->session->s.copy};
    }
    keep_rest(w, first);
    w->has_early_statement = w->has_early_statement && w->late.count > 0;
    rh_trace_writer_drop_ended(w);
    return 0;
}

int rh_trace_writer_seal_late(struct rh_trace_writer *w)
{
    struct rh_trace_window *late = &w->late;
    sort_rows(w, late);
    for (uint32_t first = 0; first < late->count;) {
        uint32_t done = 0;
        if (put_rows(w, late, first, late->count - first, true, &done) != 0) {
            return -1;
        }
        first += done;
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
