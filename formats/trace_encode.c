#include "formats/trace_encode.h"

#include <assert.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "common/alloc.h"
#include "formats/trace_defaults.h"

enum {
    ROOM_ALIGN = 64, /* each piece of the room begins with a cache line */
    MOVES_EACH_MAX = 8,
};

void rh_trace_encoder_init(struct rh_trace_encoder *e, int64_t unit_ns)
{
    *e = (struct rh_trace_encoder){
        .has_stamps = unit_ns == 1000,
        .distance_max = RH_TRACE_DISTANCE_MAX_NS / unit_ns,
    };
    rh_trace_part_init(&e->state);
    rh_trace_part_init(&e->data);
    rh_intern_init(&e->strings);
    rh_map_init(&e->lists);
}

void rh_trace_encoder_release(struct rh_trace_encoder *e)
{
    rh_trace_part_release(&e->state);
    rh_trace_part_release(&e->data);
    rh_intern_release(&e->strings);
    rh_map_release(&e->lists);
    void *const pieces[] = {
        e->blobs.items,   e->room,   e->sessions, e->notes,        e->string_map, e->template_map,
        e->template_uses, e->values, e->flat,     e->scratch.ints, e->templates,
    };
    for (size_t i = 0; i < sizeof pieces / sizeof pieces[0]; i++) {
        rh_free(pieces[i]);
    }
    *e = (struct rh_trace_encoder){0};
}

void *rh_trace_encode_room(struct rh_trace_encoder *e, size_t bytes)
{
    bytes = (bytes + ROOM_ALIGN - 1) & ~(size_t) (ROOM_ALIGN - 1);
    assert(bytes <= e->room_bytes - e->room_used);
    void *p = e->room + e->room_used;
    e->room_used += bytes;
    return p;
}

/* The room is touched as far as columns differ, so most of it never is. */
static void reserve_rows(struct rh_trace_encoder *e, uint32_t n)
{
    enum { ROW_BYTES = 5 * 8 + 2 * 4 + RH_ROW_COLUMN_COUNT * 8, PIECES = 7 + RH_ROW_COLUMN_COUNT };
    size_t bytes = (size_t) n * ROW_BYTES + (size_t) PIECES * ROOM_ALIGN;
    if (bytes > e->room_bytes) {
        rh_free(e->room);
        e->room = rh_malloc_whole(bytes);
        e->room_bytes = bytes;
    }
    e->room_used = 0;
    e->rows = rh_trace_encode_room(e, n * sizeof(void *));
    e->parts = rh_trace_encode_room(e, n * sizeof(void *));
    e->row_values = rh_trace_encode_room(e, n * sizeof(void *));
    e->row_templates = rh_trace_encode_room(e, n * sizeof *e->row_templates);
    e->by_template = rh_trace_encode_room(e, n * sizeof *e->by_template);
    e->start_units = rh_trace_encode_room(e, n * sizeof *e->start_units);
    e->start_stamps = rh_trace_encode_room(e, n * sizeof *e->start_stamps);
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

int64_t *rh_trace_encode_flat(struct rh_trace_encoder *e, uint32_t n)
{
    if (n > e->flat_cap) {
        e->flat_cap = n + n / 2;
        e->flat = rh_realloc(e->flat, e->flat_cap, sizeof *e->flat);
    }
    return e->flat;
}

struct rh_value *rh_trace_encode_value_room(struct rh_trace_encoder *e, uint32_t n)
{
    if (n > e->value_cap) {
        e->value_cap = n + n / 2;
        e->values = rh_realloc(e->values, e->value_cap, sizeof *e->values);
    }
    return e->values;
}

void rh_trace_encode_key(struct rh_trace_encoder *e, enum rh_column key)
{
    rh_mp_put_int(&e->data.raw, key);
    e->map_entries++;
}

int64_t rh_trace_encode_string(struct rh_trace_encoder *e, struct rh_span s)
{
    return s.data ? (int64_t) rh_intern_put(&e->strings, s, NULL) : RH_INT_UNKNOWN;
}

int64_t rh_trace_encode_string_id(struct rh_trace_encoder *e, uint32_t id)
{
    if (id == RH_NO_STRING) {
        return RH_INT_UNKNOWN;
    }
    if (e->string_map[id] == RH_NO_STRING) {
        e->string_map[id] = rh_intern_put_hashed(&e->strings, e->store->strings.items[id],
                                                 e->store->strings.hashes[id], NULL);
    }
    return e->string_map[id];
}

static void add_session(struct rh_trace_encoder *e, struct rh_trace_writer_session *s)
{
    if (s->block_serial == e->serial) {
        return;
    }
    s->block_serial = e->serial;
    s->block_rows = 0;
    s->block_disorder = false;
    if (e->session_count == e->session_cap) {
        e->session_cap = e->session_cap ? e->session_cap * 2 : 64;
        e->sessions = rh_realloc(e->sessions, e->session_cap, sizeof(void *));
        e->notes = rh_realloc(e->notes, e->session_cap, sizeof *e->notes);
    }
    e->sessions[e->session_count++] = s;
}

static int compare_sessions(const void *a, const void *b)
{
    const struct rh_session *x = &(*(struct rh_trace_writer_session *const *) a)->s;
    const struct rh_session *y = &(*(struct rh_trace_writer_session *const *) b)->s;
    if (x->number != y->number) {
        return x->number < y->number ? -1 : 1;
    }
    return x->copy < y->copy ? -1 : x->copy > y->copy;
}

/* Words of a row, or of what it points to, and in which of their bits the rows differ. */
typedef uint64_t words __attribute__((vector_size(16), aligned(8), may_alias));

#define NOTE_DIFFERENCES(sums, a, b, bytes)                                                        \
    do {                                                                                           \
        _Pragma("GCC unroll 8") for (size_t w_ = 0; w_ < (bytes) / sizeof(words); w_++)            \
        {                                                                                          \
            (sums)[w_] |= ((const words *) (a))[w_] ^ ((const words *) (b))[w_];                   \
        }                                                                                          \
    } while (0)

enum {
    DIFFER_FROM = offsetof(struct rh_trace_row, run),
    DIFFER_BYTES = offsetof(struct rh_trace_row, unused) - DIFFER_FROM,
};
_Static_assert(DIFFER_BYTES % sizeof(words) == 0, "whole words");
_Static_assert(sizeof(struct rh_trace_row_extra) % sizeof(words) == 0, "whole words");

static void compare_to_first(struct rh_trace_encoder *e, struct rh_trace_row *const *rows,
                             uint32_t count)
{
    words sums[DIFFER_BYTES / sizeof(words)] = {0};
    for (uint32_t i = 0; i < count; i++) {
        NOTE_DIFFERENCES(sums, (const char *) rows[i] + DIFFER_FROM,
                         (const char *) rows[0] + DIFFER_FROM, DIFFER_BYTES);
    }
    memcpy((char *) &e->differences + DIFFER_FROM, sums, sizeof sums);
}

static void compare_extras(struct rh_trace_encoder *e, struct rh_trace_row *const *rows,
                           uint32_t count)
{
    words sums[sizeof(struct rh_trace_row_extra) / sizeof(words)] = {0};
    for (uint32_t i = 0; i < count; i++) {
        const struct rh_trace_row_extra *x = rows[i]->extra;
        e->has_param_types |= x->param_types != NULL;
        e->has_param_formats |= x->param_formats != NULL;
        NOTE_DIFFERENCES(sums, x, rows[0]->extra, sizeof *x);
    }
    memcpy(&e->extra_differences, sums, sizeof sums);
}

static void compare_runs(struct rh_trace_encoder *e, struct rh_trace_row *const *rows,
                         uint32_t count)
{
    struct rh_trace_row_run *sum = &e->run_differences;
    const struct rh_trace_row_run *first = rows[0]->run;
    for (uint32_t i = 0; i < count; i++) {
        const struct rh_trace_row_run *run = rows[i]->run;
        sum->fate |= run->fate ^ first->fate;
        sum->reason |= run->reason ^ first->reason;
        sum->wait |= run->wait ^ first->wait;
    }
}

/* What is to be known of all rows before the first column is made. */
static void summarise(struct rh_trace_encoder *e, struct rh_trace_row *const *rows, uint32_t count)
{
    const struct rh_trace_row *first = count > 0 ? rows[0] : NULL;
    e->min = count > 0 ? first->start : 0;
    e->max = e->min;
    e->statement_count = 0;
    e->has_outcomes = false;
    e->has_extra = false;
    e->has_run = false;
    e->has_param_types = false;
    e->has_param_formats = false;
    e->session_count = 0;
    memset(&e->differences, 0, sizeof e->differences);
    memset(&e->extra_differences, 0, sizeof e->extra_differences);
    memset(&e->run_differences, 0, sizeof e->run_differences);
    for (uint32_t i = 0; i < count; i++) {
        const struct rh_trace_row *r = rows[i];
        add_session(e, r->session);
        r->session->block_rows++;
        e->min = r->start < e->min ? r->start : e->min;
        e->max = r->start > e->max ? r->start : e->max;
        e->statement_count += rh_kind_is_statement((enum rh_kind) r->kind);
        e->has_outcomes |= r->kind == RH_KIND_OUTCOME;
        e->has_extra |= r->extra != &rh_trace_row_no_extra;
        e->has_run |= r->run != &rh_trace_row_no_run;
    }
    if (count > 0) {
        compare_to_first(e, rows, count);
    }
    if (e->has_extra) {
        compare_extras(e, rows, count);
    }
    if (e->has_run) {
        compare_runs(e, rows, count);
    }
}

static int compare_rows(const void *a, const void *b)
{
    const struct rh_trace_row *x = *(const struct rh_trace_row *const *) a;
    const struct rh_trace_row *y = *(const struct rh_trace_row *const *) b;
    if (rh_trace_row_precedes(x, y)) {
        return -1;
    }
    if (rh_trace_row_precedes(y, x)) {
        return 1;
    }
    return x < y ? -1 : x > y; /* as they came */
}

/* A few rows are out of place, if any: a gap that starts behind what came after it. */
static void sort_rows(const struct rh_trace_row **rows, uint32_t n)
{
    uint64_t moves_left = (uint64_t) n * MOVES_EACH_MAX;
    for (uint32_t i = 1; i < n; i++) {
        const struct rh_trace_row *row = rows[i];
        uint32_t k = i;
        while (k > 0 && moves_left > 0 && rh_trace_row_precedes(row, rows[k - 1])) {
            rows[k] = rows[k - 1];
            k--;
            moves_left--;
        }
        rows[k] = row;
        if (moves_left == 0) {
            qsort(rows, n, sizeof(void *), compare_rows);
            return;
        }
    }
}

/* From the order they came to session order.  A session's rows nearly always came in its order. */
static void place_rows(struct rh_trace_encoder *e, struct rh_trace_row *const *rows, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        struct rh_trace_writer_session *s = rows[i]->session;
        const struct rh_trace_row **place = &e->rows[s->block_first_row + s->block_rows];
        if (s->block_rows > 0) {
            s->block_disorder |= rh_trace_row_precedes(rows[i], place[-1]);
        }
        *place = rows[i];
        s->block_rows++;
    }
    for (uint32_t i = 0; i < e->session_count; i++) {
        const struct rh_trace_writer_session *s = e->sessions[i];
        if (s->block_disorder) {
            sort_rows(e->rows + s->block_first_row, s->block_rows);
        }
    }
}

static void arrange(struct rh_trace_encoder *e, struct rh_trace_row *const *rows, uint32_t count,
                    struct rh_trace_writer_session *const *others, uint32_t other_count)
{
    summarise(e, rows, count);
    for (uint32_t i = 0; i < other_count; i++) {
        add_session(e, others[i]);
    }
    if (e->session_count > 1) {
        qsort(e->sessions, e->session_count, sizeof(void *), compare_sessions);
    }
    uint32_t place = 0;
    for (uint32_t i = 0; i < e->session_count; i++) {
        e->sessions[i]->block_first_row = place;
        place += e->sessions[i]->block_rows;
        e->sessions[i]->block_rows = 0;
    }
    place_rows(e, rows, count);
    e->row_count = count;
}

static void add_template(struct rh_trace_encoder *e, uint32_t id)
{
    if (e->template_count == e->template_cap) {
        e->template_cap = e->template_cap ? e->template_cap * 2 : 64;
        e->templates = rh_realloc(e->templates, e->template_cap, sizeof *e->templates);
        e->template_uses = rh_realloc(e->template_uses, e->template_cap, sizeof *e->template_uses);
    }
    e->template_map[id] = e->template_count;
    e->template_uses[e->template_count] = 0;
    e->templates[e->template_count++] = id;
}

/* The number in this block of a row's template; in order of first sight. */
uint32_t rh_trace_encode_template(struct rh_trace_encoder *e, uint32_t id)
{
    if (id == RH_NO_STRING) {
        return RH_NO_STRING;
    }
    if (e->template_map[id] == RH_NO_STRING) {
        add_template(e, id);
    }
    e->template_uses[e->template_map[id]]++;
    return e->template_map[id];
}

/* List the rows of each template. */
static void group_by_template(struct rh_trace_encoder *e)
{
    uint32_t *next = (uint32_t *) rh_trace_encode_flat(e, e->template_count + 1);
    uint32_t place = 0;
    for (uint32_t t = 0; t < e->template_count; t++) {
        next[t] = place;
        place += e->template_uses[t];
    }
    next[e->template_count] = place;
    for (uint32_t i = 0; i < e->row_count; i++) {
        uint32_t t = e->row_templates[i] == RH_NO_STRING ? e->template_count : e->row_templates[i];
        e->by_template[next[t]++] = i;
    }
}

static bool encode(struct rh_trace_encoder *e)
{
    rh_trace_part_clear(&e->state);
    rh_trace_part_clear(&e->data);
    rh_intern_clear(&e->strings);
    e->blobs.count = 0;
    e->blobs.bytes = 0;
    e->string_map = reserve_map(e->string_map, &e->map_caps[0], e->store->strings.count);
    e->template_map = reserve_map(e->template_map, &e->map_caps[1], e->store->templates.count);
    e->template_count = 0;
    e->map_entries = 0;
    e->map_begin = rh_mp_begin_map(&e->data.raw);
    rh_trace_encode_columns(e);
    group_by_template(e);
    bool fits = rh_trace_encode_values(e);
    rh_mp_end_map(&e->data.raw, e->map_begin, e->map_entries);
    return fits && rh_trace_encode_state(e) && !e->data.raw.over && !e->state.raw.over &&
           e->data.raw.len + e->state.raw.len <= RH_BLOCK_RAW_MAX &&
           e->strings.count <= RH_BLOCK_STRINGS_MAX &&
           (e->row_count <= 1 || e->blobs.bytes <= RH_BLOCK_BLOB_SOFT_MAX);
}

bool rh_trace_encoder_run(struct rh_trace_encoder *e, const struct rh_trace_row_store *store,
                          struct rh_trace_row *const *rows, uint32_t count,
                          struct rh_trace_writer_session *const *others, uint32_t other_count,
                          bool with_state)
{
    e->serial++;
    e->store = store;
    e->with_state = with_state;
    reserve_rows(e, count);
    arrange(e, rows, count, others, other_count);
    e->blobs.inline_max = RH_VALUE_INLINE_MAX;
    if (encode(e)) {
        return true;
    }
    if (count > 1) {
        return false;
    }
    /* One record with very many values or a very large state: all but the shortest go to blobs. */
    e->blobs.inline_max = 16;
    return encode(e);
}
