/* The state part: sessions, what each had made of itself, templates and strings. */
#include "common/alloc.h"
#include "formats/trace_defaults.h"
#include "formats/trace_encode.h"

static int64_t since(int64_t base, int64_t t)
{
    return t == RH_INT_UNKNOWN ? t : t - base;
}

/* Two sessions of one program have often prepared the same texts: such lists are written once. */
static int64_t list_of(struct rh_trace_encoder *e, struct rh_trace_writer_session *s,
                       uint32_t *list_count)
{
    const struct rh_session_state *state = &s->state;
    if (!e->with_state || (state->count == 0 && !state->incomplete)) {
        return RH_INT_UNKNOWN;
    }
    uint64_t digest = rh_session_state_digest(state);
    struct rh_trace_writer_session *same = rh_map_get(&e->lists, digest);
    if (same && rh_session_state_equal(&same->state, state)) {
        return same->block_list;
    }
    if (!same) {
        rh_map_put(&e->lists, digest, s);
    }
    s->block_list = (*list_count)++;
    s->block_list_serial = e->serial;
    return s->block_list;
}

static void fill_session(struct rh_trace_encoder *e, uint32_t i, int64_t *v[], uint32_t *list_count)
{
    struct rh_trace_writer_session *w = e->sessions[i];
    const struct rh_session *s = &w->s;
    const struct rh_encode_session *note = &e->notes[i];
    const struct rh_trace_row *first = w->block_rows ? e->rows[w->block_first_row] : NULL;
    v[RH_SESSION_NUMBER][i] = (int64_t) s->number - (i > 0 ? e->sessions[i - 1]->s.number : 0);
    v[RH_SESSION_COPY][i] = s->copy;
    v[RH_SESSION_USER][i] = rh_trace_encode_string(e, s->user);
    v[RH_SESSION_DATABASE][i] = rh_trace_encode_string(e, s->database);
    v[RH_SESSION_APPLICATION][i] = rh_trace_encode_string(e, s->application);
    v[RH_SESSION_CLIENT][i] = rh_trace_encode_string(e, s->client);
    v[RH_SESSION_OPENED][i] = since(e->min, w->opened);
    v[RH_SESSION_CLOSED][i] = since(e->min, w->closed);
    v[RH_SESSION_PID][i] = s->backend_pid;
    v[RH_SESSION_FLAGS][i] = s->flags;
    v[RH_SESSION_STARTUP_COUNT][i] = s->startup_count;
    v[RH_SESSION_ROWS][i] = w->block_rows;
    v[RH_SESSION_CURSOR_ROWS][i] = note->cursor_rows;
    v[RH_SESSION_FIRST_ORDINAL][i] = first ? (int64_t) note->ordinal_first : 0;
    v[RH_SESSION_ORDINAL_SPAN][i] =
        first ? (int64_t) (note->ordinal_last - note->ordinal_first) : 0;
    v[RH_SESSION_FIRST_START][i] = first ? first->start - e->min : 0;
    bool timed = first && note->timed_first != RH_INT_UNKNOWN;
    v[RH_SESSION_TIMED_FIRST][i] = timed ? note->timed_first - first->start : RH_INT_UNKNOWN;
    v[RH_SESSION_TIMED_SPAN][i] = timed ? note->timed_last - note->timed_first : 0;
    v[RH_SESSION_LIST][i] = list_of(e, w, list_count);
}

static bool is_default(const int64_t *v, uint32_t n, int64_t usual)
{
    for (uint32_t i = 0; i < n; i++) {
        if (v[i] != usual) {
            return false;
        }
    }
    return true;
}

static bool startup_fits(const struct rh_trace_encoder *e)
{
    uint64_t total = 0;
    for (uint32_t i = 0; i < e->session_count; i++) {
        total += e->sessions[i]->s.startup_count;
    }
    return total <= RH_BLOCK_STARTUP_MAX;
}

/* How many entries of the sessions map it made. */
static uint32_t put_startup(struct rh_trace_encoder *e)
{
    uint32_t total = 0;
    for (uint32_t i = 0; i < e->session_count; i++) {
        total += 2 * e->sessions[i]->s.startup_count;
    }
    if (total == 0) {
        return 0;
    }
    int64_t *flat = rh_trace_encode_flat(e, total);
    uint32_t n = 0;
    for (uint32_t i = 0; i < e->session_count; i++) {
        const struct rh_session *s = &e->sessions[i]->s;
        for (uint32_t k = 0; k < s->startup_count; k++) {
            flat[n++] = rh_trace_encode_string(e, s->startup[k].name);
            flat[n++] = rh_trace_encode_string(e, s->startup[k].value);
        }
    }
    rh_mp_put_int(&e->state.raw, RH_SESSION_STARTUP);
    rh_int_column_put(&e->state, flat, n);
    return 1;
}

static uint32_t put_sessions(struct rh_trace_encoder *e)
{
    uint32_t n = e->session_count;
    uint32_t list_count = 0;
    int64_t *v[RH_SESSION_COLUMN_COUNT];
    int64_t *flat = rh_trace_encode_flat(e, n * RH_SESSION_COLUMN_COUNT);
    for (unsigned c = 0; c < RH_SESSION_COLUMN_COUNT; c++) {
        v[c] = flat + (size_t) c * n;
    }
    rh_map_release(&e->lists);
    for (uint32_t i = 0; i < n; i++) {
        fill_session(e, i, v, &list_count);
    }
    rh_mp_put_int(&e->state.raw, RH_STATE_KEY_SESSIONS);
    rh_mp_put_array(&e->state.raw, 2);
    rh_mp_put_int(&e->state.raw, n);
    size_t begin = rh_mp_begin_map(&e->state.raw);
    uint32_t entries = 0;
    for (unsigned c = 0; c < RH_SESSION_COLUMN_COUNT; c++) {
        if (!is_default(v[c], n, rh_trace_session_default(c))) {
            rh_mp_put_int(&e->state.raw, c);
            rh_int_column_put(&e->state, v[c], n);
            entries++;
        }
    }
    entries += put_startup(e);
    rh_mp_end_map(&e->state.raw, begin, entries);
    return list_count;
}

/* The sessions whose lists are written, in the order of the lists' numbers. */
static void put_list_heads(struct rh_trace_encoder *e, uint32_t list_count)
{
    int64_t *flat = rh_trace_encode_flat(e, 2 * list_count);
    uint32_t n = 0;
    for (uint32_t i = 0; i < e->session_count; i++) {
        const struct rh_trace_writer_session *s = e->sessions[i];
        if (s->block_list_serial == e->serial) {
            flat[n] = s->state.count;
            flat[list_count + n++] = s->state.incomplete;
        }
    }
    rh_int_column_put(&e->state, flat, list_count);
    rh_int_column_put(&e->state, flat + list_count, list_count);
}

static bool has_types(const struct rh_trace_encoder *e)
{
    for (uint32_t i = 0; i < e->session_count; i++) {
        const struct rh_trace_writer_session *s = e->sessions[i];
        for (uint32_t j = 0; s->block_list_serial == e->serial && j < s->state.count; j++) {
            if (s->state.items[j].types.len > 0) {
                return true;
            }
        }
    }
    return false;
}

static bool put_lists(struct rh_trace_encoder *e, uint32_t list_count)
{
    uint64_t total = 0;
    for (uint32_t i = 0; i < e->session_count; i++) {
        const struct rh_trace_writer_session *s = e->sessions[i];
        total += s->block_list_serial == e->serial ? s->state.count : 0;
    }
    if (total > RH_BLOCK_STATE_ITEMS_MAX) {
        return false;
    }
    rh_mp_put_int(&e->state.raw, RH_STATE_KEY_LISTS);
    uint32_t columns = has_types(e) ? 4 : 3;
    rh_mp_put_array(&e->state.raw, 3 + columns);
    rh_mp_put_int(&e->state.raw, list_count);
    put_list_heads(e, list_count);
    uint32_t n = (uint32_t) total;
    int64_t *flat = rh_trace_encode_flat(e, 4 * n);
    uint32_t k = 0;
    for (uint32_t i = 0; i < e->session_count; i++) {
        const struct rh_trace_writer_session *s = e->sessions[i];
        for (uint32_t j = 0; s->block_list_serial == e->serial && j < s->state.count; j++, k++) {
            flat[k] = s->state.items[j].kind;
            flat[n + k] = rh_trace_encode_string(e, s->state.items[j].name);
            flat[2 * n + k] = rh_trace_encode_string(e, s->state.items[j].text);
            flat[3 * n + k] = rh_trace_encode_string(e, s->state.items[j].types);
        }
    }
    for (uint32_t c = 0; c < columns; c++) {
        rh_int_column_put(&e->state, flat + (size_t) c * n, n);
    }
    return true;
}

static void put_texts(struct rh_trace_encoder *e, enum rh_state_key key,
                      const struct rh_intern *from, const uint32_t *ids, uint32_t n)
{
    struct rh_value *values = rh_trace_encode_value_room(e, n);
    for (uint32_t i = 0; i < n; i++) {
        struct rh_span s = from->items[ids ? ids[i] : i];
        values[i] =
            (struct rh_value){.u.data = s.data, .len = (uint32_t) s.len, .tag = RH_VALUE_BYTES};
    }
    rh_mp_put_int(&e->state.raw, key);
    rh_mp_put_array(&e->state.raw, 2);
    rh_mp_put_int(&e->state.raw, n);
    rh_value_column_put(&e->state, values, n, &e->blobs, &e->scratch);
}

bool rh_trace_encode_state(struct rh_trace_encoder *e)
{
    if (e->session_count > RH_BLOCK_SESSIONS_MAX || !startup_fits(e)) {
        return false;
    }
    size_t begin = rh_mp_begin_map(&e->state.raw);
    uint32_t list_count = put_sessions(e);
    if (list_count > 0 && !put_lists(e, list_count)) {
        return false;
    }
    put_texts(e, RH_STATE_KEY_TEMPLATES, &e->store->templates, e->templates, e->template_count);
    put_texts(e, RH_STATE_KEY_STRINGS, &e->strings, NULL, e->strings.count);
    rh_mp_end_map(&e->state.raw, begin, list_count > 0 ? 4 : 3);
    return true;
}
