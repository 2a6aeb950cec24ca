#include "formats/trace_encode.h"

#include <stdlib.h>
#include <string.h>

#include "common/alloc.h"
#include "formats/trace_defaults.h"

void rh_trace_encoder_init(struct rh_trace_encoder *e, int64_t unit_ns)
{
    *e = (struct rh_trace_encoder){
        .stamp_units = unit_ns == 1000 ? 1000 : 0,
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
    for (unsigned c = 0; c < RH_ROW_COLUMN_COUNT; c++) {
        rh_free(e->columns[c].values);
    }
    void *const pieces[] = {
        e->row_params,   e->row_values,   e->blobs.items,   e->rows,          e->sessions,
        e->string_map,   e->template_map, e->templates,     e->row_templates, e->by_template,
        e->start_units,  e->start_stamps, e->template_uses, e->timed_first,   e->timed_last,
        e->cursor_rows,  e->values,       e->scratch.ints,  e->flat,          e->ordinal_first,
        e->ordinal_last,
    };
    for (size_t i = 0; i < sizeof pieces / sizeof pieces[0]; i++) {
        rh_free(pieces[i]);
    }
    *e = (struct rh_trace_encoder){0};
}

static void reserve_rows(struct rh_trace_encoder *e, uint32_t n)
{
    if (n <= e->row_cap) {
        return;
    }
    e->row_cap = n;
    for (unsigned c = 0; c < RH_ROW_COLUMN_COUNT; c++) {
        struct rh_encode_column *column = &e->columns[c];
        column->values = rh_realloc(column->values, n, sizeof *column->values);
    }
    e->rows = rh_realloc(e->rows, n, sizeof(void *));
    e->row_templates = rh_realloc(e->row_templates, n, sizeof *e->row_templates);
    e->row_params = rh_realloc(e->row_params, n, sizeof *e->row_params);
    e->row_values = rh_realloc(e->row_values, n, sizeof(void *));
    e->by_template = rh_realloc(e->by_template, n, sizeof *e->by_template);
    e->start_units = rh_realloc(e->start_units, n, sizeof *e->start_units);
    e->start_stamps = rh_realloc(e->start_stamps, n, sizeof *e->start_stamps);
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
    if (e->session_count == e->session_cap) {
        e->session_cap = e->session_cap ? e->session_cap * 2 : 64;
        e->sessions = rh_realloc(e->sessions, e->session_cap, sizeof(void *));
        e->timed_first = rh_realloc(e->timed_first, e->session_cap, sizeof *e->timed_first);
        e->timed_last = rh_realloc(e->timed_last, e->session_cap, sizeof *e->timed_last);
        e->ordinal_first = rh_realloc(e->ordinal_first, e->session_cap, sizeof *e->ordinal_first);
        e->ordinal_last = rh_realloc(e->ordinal_last, e->session_cap, sizeof *e->ordinal_last);
        e->cursor_rows = rh_realloc(e->cursor_rows, e->session_cap, sizeof *e->cursor_rows);
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

static inline uint64_t outcome_difference(const struct rh_trace_row *a,
                                          const struct rh_trace_row *b)
{
    return (uint64_t) (a->rows ^ b->rows) | (uint64_t) (a->bytes ^ b->bytes) |
           (a->sqlstate ^ b->sqlstate) | (a->tag ^ b->tag) | (a->results ^ b->results) |
           (uint64_t) (a->tx_status ^ b->tx_status);
}

/* What is to be known of all rows before the first column is made. */
static void summarise(struct rh_trace_encoder *e, struct rh_trace_row *const *rows, uint32_t count)
{
    e->min = count > 0 ? rows[0]->start : 0;
    e->max = count > 0 ? rows[count - 1]->start : 0;
    e->statement_count = 0;
    e->has_outcomes = false;
    uint64_t differs = 0;
    e->has_extra = false;
    e->has_run = false;
    e->session_count = 0;
    for (uint32_t i = 0; i < count; i++) {
        const struct rh_trace_row *r = rows[i];
        add_session(e, r->session);
        r->session->block_rows++;
        e->statement_count += rh_kind_is_statement((enum rh_kind) r->kind);
        e->has_outcomes |= r->kind == RH_KIND_OUTCOME;
        e->has_extra |= r->extra != &rh_trace_row_no_extra;
        e->has_run |= r->run != &rh_trace_row_no_run;
        differs |= outcome_difference(r, rows[0]);
    }
    e->outcomes_differ = differs != 0;
}

/* From start order to session order, which keeps the order within each session. */
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
    for (uint32_t i = 0; i < count; i++) {
        struct rh_trace_writer_session *s = rows[i]->session;
        e->rows[s->block_first_row + s->block_rows++] = rows[i];
    }
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
