#include "formats/trace_writer.h"

#include <assert.h>
#include <string.h>
#include <sys/stat.h>

#include "common/alloc.h"
#include "formats/mp.h"
#include "formats/trace_file.h"
#include "formats/trace_layout.h"
#include "formats/trace_writer_private.h"

enum {
    /* Larger windows leave the processor's caches: twice this size costs 40 % more time and saves 3
     * % of the file (tests/bench/bench_trace). */
    WINDOW_RECORDS_DEFAULT = 24576,
    WINDOW_RECORDS_MIN = 16,
    LATE_RECORDS_MAX = 16384,
    COMPRESSION_LEVEL_DEFAULT = 1,
    WINDOW_LOG = 20, /* a block's parts are within it whole */
    TEXT_CHUNK_BYTES = 4096,
    SCRATCH_CHUNK_BYTES = 16 * 1024,
    /* The end block has the header and the notes, and is a block like others. */
    HEADER_BYTES_MAX = RH_BLOCK_RAW_MAX / 2,
    NOTE_BYTES_MAX = RH_BLOCK_RAW_MAX / 4,
    NOTES_MAX = 4096,
};
static const uint64_t window_bytes_default = UINT64_C(32) << 20;

static void writer_free(struct rh_trace_writer *w)
{
    rh_trace_writer_free_sessions(w);
    rh_trace_row_store_release(&w->window.store);
    rh_trace_row_store_release(&w->late.store);
    rh_trace_row_store_release(&w->spare);
    rh_trace_encoder_release(&w->encoder);
    rh_trace_part_release(&w->plain);
    rh_trace_selection_release(&w->selection);
    rh_arena_release(&w->texts);
    rh_arena_release(&w->scratch);
    rh_buf_release(&w->packed);
    rh_buf_release(&w->tmpl);
    ZSTD_freeCCtx(w->cctx);
    rh_free(w->window.rows);
    rh_free(w->late.rows);
    rh_free(w->maps.templates);
    rh_free(w->maps.strings);
    rh_free(w->window.starts);
    rh_free(w->late.starts);
    rh_free(w->notes);
    rh_free(w);
}

static void copy_header(struct rh_trace_writer *w, const struct rh_trace_header *h)
{
    w->header = *h;
    w->header.source = rh_arena_copy(&w->texts, h->source);
    w->header.tool = rh_arena_copy(&w->texts, h->tool);
    w->header.server_version = rh_arena_copy(&w->texts, h->server_version);
    w->header.server_address = rh_arena_copy(&w->texts, h->server_address);
    struct rh_setting *settings = rh_arena_alloc(&w->texts, h->setting_count * sizeof *settings);
    for (uint32_t i = 0; i < h->setting_count; i++) {
        settings[i].name = rh_arena_copy(&w->texts, h->settings[i].name);
        settings[i].value = rh_arena_copy(&w->texts, h->settings[i].value);
    }
    w->header.settings = settings;
    w->header.server_facts = rh_server_facts_copy(h->server_facts, h->server_fact_count, &w->texts);
}

static void writer_init(struct rh_trace_writer *w, const struct rh_trace_header *header,
                        const struct rh_trace_writer_options *options)
{
    struct rh_trace_writer_options o = options ? *options : (struct rh_trace_writer_options){0};
    w->unit_ns = header->kind == RH_FILE_RUN ? 1 : 1000;
    w->window_records = o.window_records ? o.window_records : WINDOW_RECORDS_DEFAULT;
    w->window_records =
        w->window_records < WINDOW_RECORDS_MIN ? WINDOW_RECORDS_MIN : w->window_records;
    w->window_bytes = o.window_bytes ? o.window_bytes : window_bytes_default;
    w->newest_start = INT64_MIN;
    rh_arena_init(&w->texts, TEXT_CHUNK_BYTES);
    rh_arena_init(&w->scratch, SCRATCH_CHUNK_BYTES);
    w->window.cap = w->window_records;
    w->window.rows = rh_malloc_whole(w->window.cap * sizeof *w->window.rows);
    w->window.starts = rh_malloc_whole(w->window.cap * sizeof *w->window.starts);
    rh_trace_row_store_init(&w->window.store);
    rh_trace_row_store_init(&w->late.store);
    rh_trace_row_store_init(&w->spare);
    rh_map_init(&w->sessions);
    rh_trace_encoder_init(&w->encoder, w->unit_ns);
    rh_trace_part_init(&w->plain);
    rh_buf_init(&w->packed, (size_t) 4 * RH_BLOCK_RAW_MAX);
    rh_buf_init(&w->tmpl, RH_RECORD_BYTES_MAX);
    copy_header(w, header);
    w->cctx = ZSTD_createCCtx();
    ZSTD_CCtx_setParameter(w->cctx, ZSTD_c_compressionLevel,
                           o.compression_level ? o.compression_level : COMPRESSION_LEVEL_DEFAULT);
    ZSTD_CCtx_setParameter(w->cctx, ZSTD_c_windowLog, WINDOW_LOG);
}

/* 0, or -1 and the first failure, which is for good. */
static int report_failure(const struct rh_trace_writer *w, struct rh_error *err)
{
    if (w->failed && err) {
        *err = w->failure;
    }
    return w->failed ? -1 : 0;
}

/* The old file of that name, if any, is one that a new trace may replace. */
static int check_replaceable(const char *path, struct rh_error *err)
{
    struct stat st;
    if (stat(path, &st) == 0 && S_ISREG(st.st_mode) && st.st_size > 0 &&
        !rh_trace_file_is_trace(path)) {
        return rh_error_set(
            err, RH_ERR_USAGE,
            "\"%s\" is there and is no trace: it is not replaced; remove it, or name "
            "another file with -o",
            path);
    }
    return 0;
}

int rh_trace_writer_open(struct rh_trace_writer **out, const char *path,
                         const struct rh_trace_header *header,
                         const struct rh_trace_writer_options *options, struct rh_error *err)
{
    struct rh_trace_writer *w = rh_calloc(1, sizeof *w);
    writer_init(w, header, options);
    if (rh_trace_header_put(&w->header, &w->plain.raw) != 0 ||
        w->plain.raw.len > HEADER_BYTES_MAX) {
        rh_error_set(err, RH_ERR_LIMIT, "the settings of \"%s\" are too large", path);
        writer_free(w);
        return -1;
    }
    if (check_replaceable(path, err) != 0 || rh_outfile_open(&w->file, path, err) != 0) {
        writer_free(w);
        return -1;
    }
    if (rh_trace_writer_put_plain(w, RH_BLOCK_HEADER) != 0) {
        report_failure(w, err);
        rh_trace_writer_discard(w);
        return -1;
    }
    *out = w;
    return 0;
}

static bool is_late(const struct rh_trace_writer *w, const struct rh_trace_writer_session *s,
                    int64_t start)
{
    if (!w->has_sealed || start != w->sealed.start) {
        return w->has_sealed && start < w->sealed.start;
    }
    if (s->s.number != w->sealed.session) {
        return s->s.number < w->sealed.session;
    }
    return s->s.copy < w->sealed.copy;
}

/* An opening may belong before statements that were sealed last. */
static bool is_late_opening(const struct rh_trace_writer *w,
                            const struct rh_trace_writer_session *s, int64_t start)
{
    return w->has_sealed && start <= w->sealed.start && start == s->first_start;
}

/* Bytes of the record that the window would keep, or SIZE_MAX when they pass the limit. */
static size_t record_bytes(const struct rh_record *r)
{
    uint64_t bytes = r->text.len + r->tmpl.len + r->prepare_text.len + r->steps.len +
                     r->detail.len + r->statement_name.len + r->portal_name.len +
                     r->application.len + r->outcome.tag.len;
    for (uint32_t i = 0; i < r->literal_count; i++) {
        bytes += r->literals[i].len;
    }
    for (uint32_t i = 0; i < r->param_count; i++) {
        bytes += r->params[i].data ? r->params[i].len : 0;
    }
    return bytes > RH_RECORD_BYTES_MAX ? SIZE_MAX : (size_t) bytes;
}

static int check_record(const struct rh_record *r, struct rh_error *err)
{
    enum { LIST_MAX = 65535 };
    if (record_bytes(r) == SIZE_MAX || r->param_count > LIST_MAX ||
        r->result_format_count > LIST_MAX || r->ordinal > (uint64_t) INT64_MAX) {
        return rh_error_set(err, RH_ERR_LIMIT,
                            "session %u, statement %llu: larger than a trace can hold",
                            (unsigned) r->session, (unsigned long long) r->ordinal);
    }
    return 0;
}

/* An opening is given before all statements of its session: one that comes after them goes where
 * the first one is. */
static int64_t place_opening(struct rh_trace_writer_session *s, int64_t start, uint64_t *ordinal)
{
    if (s->first_start != INT64_MAX) {
        start = start < s->first_start ? start : s->first_start;
        *ordinal = s->first_ordinal;
    } else {
        *ordinal = 0;
    }
    return start;
}

/* A first statement before its opening: the opening moves (rh_trace_writer_seal()), or, where it no
 * longer can, the statement. */
static int64_t place_first(struct rh_trace_writer *w, struct rh_trace_writer_session *s,
                           int64_t start, uint64_t ordinal)
{
    if (start < s->opening_start) {
        if (s->opening_sealed || (!s->opening_late && is_late(w, s, start))) {
            start = s->opening_start;
        } else {
            w->has_early_statement = true;
        }
    }
    s->first_start = start;
    s->first_ordinal = ordinal;
    return start;
}

/* The first opening of its session, and no re-opening. */
static bool is_first_opening(const struct rh_record *r)
{
    return r->kind == RH_KIND_OPEN && !r->detail.data;
}

/* The start in the file's unit, for a statement never before that of the statement before;
 * *ordinal may be filled in. */
static int64_t place_in_session(struct rh_trace_writer *w, struct rh_trace_writer_session *s,
                                const struct rh_record *r, uint64_t *ordinal)
{
    int64_t start = rh_trace_row_units(r->start_ns, w->unit_ns);
    if (start == RH_INT_UNKNOWN) {
        start = w->newest_start == INT64_MIN ? 0 : w->newest_start;
    }
    bool opens = is_first_opening(r);
    if (!opens) {
        start = start < s->last_start ? s->last_start : start;
    }
    if (opens) {
        start = place_opening(s, start, ordinal);
    } else if (rh_kind_has_ordinal(r->kind)) {
        if (s->first_start == INT64_MAX) {
            start = place_first(w, s, start, *ordinal);
        }
        s->last_start = start;
        s->last_ordinal = *ordinal > s->last_ordinal ? *ordinal : s->last_ordinal;
    } else if (r->kind != RH_KIND_COPY_DATA) {
        *ordinal = s->last_ordinal;
    }
    w->newest_start = start > w->newest_start ? start : w->newest_start;
    return start;
}

static int64_t moved(int64_t t, int64_t shift, int64_t max)
{
    if (t == RH_INT_UNKNOWN) {
        return t;
    }
    int64_t sum;
    if (__builtin_add_overflow(t, shift, &sum)) {
        sum = shift < 0 ? -max : max;
    }
    return sum > max ? max : sum < -max ? -max : sum;
}

/* A start that had to move takes the end with it: the duration is what was measured. */
static void move_row(struct rh_trace_row *row, int64_t start, bool was_known, int64_t unit_ns)
{
    int64_t max = RH_TRACE_TIME_MAX_NS / unit_ns;
    int64_t shift = was_known ? start - row->start : 0;
    row->start = start;
    if (shift == 0) {
        return;
    }
    row->first = moved(row->first, shift, max);
    row->done = moved(row->done, shift, max);
}

static void copy_outcome(struct rh_trace_row *to, const struct rh_trace_row *from,
                         struct rh_trace_row_store *store)
{
    to->first = from->first;
    to->done = from->done;
    to->rows = from->rows;
    to->bytes = from->bytes;
    to->sqlstate = from->sqlstate;
    to->tag = from->tag;
    to->results = from->results;
    to->tx_status = from->tx_status;
    if (from->extra != &rh_trace_row_no_extra) {
        struct rh_trace_row_extra *x = rh_arena_alloc(&store->arena, sizeof *x);
        *x = *to->extra;
        x->parse = from->extra->parse;
        x->bind = from->extra->bind;
        x->execute = from->extra->execute;
        to->extra = x;
    }
}

static struct rh_trace_row *find_row(struct rh_trace_window *win,
                                     const struct rh_trace_writer_session *s, uint64_t ordinal)
{
    for (uint32_t i = win->count; i > 0; i--) {
        struct rh_trace_row *row = &win->rows[i - 1];
        if (row->session == s && row->ordinal == ordinal &&
            rh_kind_has_ordinal((enum rh_kind) row->kind)) {
            return row;
        }
    }
    return NULL;
}

static void window_grow(struct rh_trace_window *win)
{
    RH_GROW(win->rows, win->count, win->cap);
    win->starts = rh_realloc(win->starts, win->cap, sizeof *win->starts);
}

/* A row to be filled; the caller has filled win->starts before it adds the next one. */
static inline struct rh_trace_row *window_add(struct rh_trace_window *win)
{
    if (win->count == win->cap) {
        window_grow(win);
    }
    return &win->rows[win->count++];
}

/* The outcome of a statement whose record came before: into it, or, if it is sealed, to the late
 * rows with its start, so that readers meet both at once. */
static void add_outcome(struct rh_trace_writer *w, struct rh_trace_writer_session *s,
                        const struct rh_record *r)
{
    static const struct rh_trace_row_text no_text = {.tmpl = RH_NO_STRING};
    struct rh_trace_window *win = &w->window;
    struct rh_trace_row *target = NULL;
    bool is_open = s->open_ordinal == r->ordinal && r->ordinal != 0;
    if (is_open && s->open_row != RH_NO_STRING) {
        target = &win->rows[s->open_row];
    } else if (s->pending_rows > 0) {
        /* The newest open one is known not to be in the window. */
        target = is_open ? NULL : find_row(win, s, r->ordinal);
        if (!target) {
            win = &w->late;
            target = find_row(win, s, r->ordinal);
        }
    }
    struct rh_trace_row row;
    rh_trace_row_make(&row, r, &no_text, target ? &win->store : &w->late.store, w->unit_ns);
    row.session = s;
    if (target) {
        copy_outcome(target, &row, &win->store);
        return;
    }
    row.start = is_open ? s->open_start : row.start;
    s->pending_rows++;
    *window_add(&w->late) = row;
    w->late.starts[w->late.count - 1] = row.start;
}

/* What sealed rows left behind takes the room of new ones, or of a table's rows.  A row has one
 * template and at most six strings, so the tables are smaller after each compaction. */
static bool has_waste(const struct rh_trace_writer *w)
{
    const struct rh_trace_row_store *s = &w->window.store;
    return (s->old.used_bytes > 0 && rh_trace_row_store_bytes(s) > w->window_bytes) ||
           s->templates.count > w->window_records || s->strings.count / 8 > w->window_records;
}

/* Asked for each record. */
static inline bool may_be_full(const struct rh_trace_writer *w)
{
    const struct rh_trace_row_store *s = &w->window.store;
    return w->window.count >= w->window_records || w->late.count >= LATE_RECORDS_MAX ||
           s->templates.count > w->window_records || s->strings.count / 8 > w->window_records ||
           rh_trace_row_store_bytes(s) > w->window_bytes ||
           rh_trace_row_store_bytes(&w->late.store) > w->window_bytes / 2;
}

static void seal_full(struct rh_trace_writer *w)
{
    struct rh_trace_row_store *store = &w->window.store;
    if (w->window.count >= w->window_records &&
        rh_trace_writer_seal(w, w->window_records / 3) != 0) {
        return;
    }
    if (has_waste(w)) {
        rh_trace_writer_compact(w);
    }
    /* Texts of one size go by halves; one very large value makes everything go. */
    while (rh_trace_row_store_bytes(store) > w->window_bytes && w->window.count > 0) {
        if (rh_trace_writer_seal(w, w->window.count / 2) != 0) {
            return;
        }
        rh_trace_writer_compact(w);
    }
    if (w->late.count >= LATE_RECORDS_MAX ||
        rh_trace_row_store_bytes(&w->late.store) > w->window_bytes / 2) {
        rh_trace_writer_seal_late(w);
    }
}

/* With the number of its template in the window's store. */
static int split_text(struct rh_trace_writer *w, struct rh_trace_writer_session *s,
                      const struct rh_record *r, struct rh_trace_row_text *text,
                      struct rh_error *err)
{
    struct rh_trace_row_store *store = &w->window.store;
    *text = (struct rh_trace_row_text){.tmpl = RH_NO_STRING};
    if (r->tmpl.data) {
        text->tmpl = rh_trace_row_store_next(store, s->last_template, r->tmpl);
        text->literals = r->literals;
        text->literal_count = r->literal_count;
        if (store->facts[text->tmpl].slot_count != r->literal_count) {
            return rh_error_set(err, RH_ERR_FORMAT,
                                "session %u, statement %llu: %u literals do not fit the template",
                                (unsigned) r->session, (unsigned long long) r->ordinal,
                                (unsigned) r->literal_count);
        }
    } else if (r->text.data) {
        text->tmpl =
            rh_trace_row_store_split(store, s->last_template, r->text, &w->tmpl, &w->literals);
        text->literals = w->literals.items;
        text->literal_count = w->literals.count;
    } else {
        return 0;
    }
    s->last_template = text->tmpl;
    return 0;
}

static void add_row(struct rh_trace_writer *w, struct rh_trace_writer_session *s,
                    const struct rh_record *r, struct rh_trace_row_text *text)
{
    uint64_t ordinal = r->ordinal;
    int64_t start = place_in_session(w, s, r, &ordinal);
    bool late = is_late(w, s, start) || (is_first_opening(r) && is_late_opening(w, s, start));
    struct rh_trace_window *win = late ? &w->late : &w->window;
    struct rh_trace_row *row = window_add(win);
    if (late && text->tmpl != RH_NO_STRING) {
        text->tmpl =
            rh_trace_row_store_template(&win->store, w->window.store.templates.items[text->tmpl]);
    }
    rh_trace_row_make(row, r, text, &win->store, w->unit_ns);
    row->session = s;
    row->ordinal = ordinal;
    move_row(row, start, r->start_ns != RH_TIME_UNKNOWN, w->unit_ns);
    win->starts[win->count - 1] = row->start;
    s->pending_rows++;
    if (is_first_opening(r)) {
        s->opening_late = late && (s->opening_late || s->opening_start == INT64_MIN);
        s->opening_start = start > s->opening_start ? start : s->opening_start;
    }
    if (rh_kind_has_ordinal(r->kind) && row->done == RH_INT_UNKNOWN) {
        s->open_ordinal = ordinal;
        s->open_start = start;
        s->open_row = late ? RH_NO_STRING : win->count - 1;
    }
}

int rh_trace_writer_add(struct rh_trace_writer *w, const struct rh_record *r, struct rh_error *err)
{
    if (report_failure(w, err) != 0 || check_record(r, err) != 0) {
        return -1;
    }
    struct rh_trace_writer_session *s = rh_trace_writer_find_session(w, r->session, r->copy);
    if (r->kind == RH_KIND_OUTCOME) {
        add_outcome(w, s, r);
    } else {
        struct rh_trace_row_text text;
        if (split_text(w, s, r, &text, err) != 0) {
            return -1;
        }
        add_row(w, s, r, &text);
    }
    if (may_be_full(w)) {
        seal_full(w);
    }
    return report_failure(w, err);
}

int rh_trace_writer_flush(struct rh_trace_writer *w, struct rh_error *err)
{
    if (w->failed || rh_trace_writer_seal(w, 0) != 0 || rh_trace_writer_seal_late(w) != 0) {
        return report_failure(w, err);
    }
    return rh_outfile_sync(w->file, err);
}

void rh_trace_writer_note(struct rh_trace_writer *w, const char *name, struct rh_span value)
{
    size_t bytes = strlen(name) + value.len;
    if (w->note_count >= NOTES_MAX || bytes > NOTE_BYTES_MAX - w->note_bytes) {
        return;
    }
    w->note_bytes += bytes;
    RH_GROW(w->notes, w->note_count, w->note_cap);
    w->notes[w->note_count++] = (struct rh_setting){
        rh_arena_copy(&w->texts, rh_span_cstr(name)),
        rh_arena_copy(&w->texts, value.data ? value : RH_SPAN_LITERAL("")),
    };
}

uint64_t rh_trace_writer_bytes(const struct rh_trace_writer *w)
{
    return rh_outfile_written_bytes(w->file);
}

static int put_end(struct rh_trace_writer *w, bool stopped_early)
{
    struct rh_buf *out = &w->plain.raw;
    rh_trace_part_clear(&w->plain);
    rh_mp_put_map(out, 5);
    rh_mp_put_str(out, rh_span_cstr("complete"));
    rh_mp_put_bool(out, !stopped_early);
    rh_mp_put_str(out, rh_span_cstr("records"));
    rh_mp_put_int(out, (int64_t) w->records);
    rh_mp_put_str(out, rh_span_cstr("statements"));
    rh_mp_put_int(out, (int64_t) w->statements);
    rh_mp_put_str(out, rh_span_cstr("header"));
    rh_trace_header_put(&w->header, out);
    rh_mp_put_str(out, rh_span_cstr("notes"));
    rh_mp_put_array(out, 2 * w->note_count);
    for (uint32_t i = 0; i < w->note_count; i++) {
        rh_mp_put_bin(out, w->notes[i].name);
        rh_mp_put_bin(out, w->notes[i].value);
    }
    assert(!out->over);
    return rh_trace_writer_put_plain(w, RH_BLOCK_END);
}

int rh_trace_writer_finish(struct rh_trace_writer *w, bool stopped_early, struct rh_error *err)
{
    /* Each step leaves w->failed set when it fails, and then the rest is left out. */
    if (!w->failed && rh_trace_writer_seal(w, 0) == 0 && rh_trace_writer_seal_late(w) == 0 &&
        rh_trace_writer_seal_sessions(w) == 0) {
        put_end(w, stopped_early);
    }
    int result = report_failure(w, err);
    if (result != 0) {
        rh_outfile_keep(w->file, err);
    } else {
        result = rh_outfile_finish(w->file, err);
    }
    w->file = NULL;
    writer_free(w);
    return result;
}

void rh_trace_writer_discard(struct rh_trace_writer *w)
{
    rh_outfile_discard(w->file);
    w->file = NULL;
    writer_free(w);
}
