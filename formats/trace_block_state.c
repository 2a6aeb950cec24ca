#include "formats/trace_block_state.h"

#include "formats/int_column.h"
#include "formats/trace_defaults.h"
#include "formats/trace_layout.h"
#include "formats/value_column.h"

enum { STATE_KEYS = RH_STATE_KEY_LISTS + 1 };

struct decoder {
    struct rh_block_state *st;
    struct rh_mp parts[STATE_KEYS]; /* by key; left 0: the block has none */
    struct rh_span blobs;
    int64_t min;
    int64_t unit_ns;
    struct rh_arena *arena;
};

int64_t rh_block_time_ns(int64_t units, int64_t unit_ns)
{
    int64_t max = INT64_MAX / unit_ns;
    if (units == RH_INT_UNKNOWN) {
        return RH_TIME_UNKNOWN;
    }
    return (units > max ? max : units < -max ? -max : units) * unit_ns;
}

static int64_t add(int64_t a, int64_t b)
{
    return (int64_t) ((uint64_t) a + (uint64_t) b);
}

/* The values of a map with small integer keys: where each begins. */
static int find_parts(struct rh_mp *m, struct rh_mp *parts, int64_t count)
{
    uint32_t n;
    if (rh_mp_get_map(m, &n) != 0) {
        return -1;
    }
    for (uint32_t i = 0; i < n; i++) {
        int64_t key;
        if (rh_mp_get_int(m, &key) != 0) {
            return -1;
        }
        if (key >= 0 && key < count) {
            parts[key] = *m;
        }
        if (rh_mp_skip(m) != 0) {
            return -1;
        }
    }
    return 0;
}

/* [n, ...]: the n of a part, 0 for one that is not there. */
static int get_part_count(struct rh_mp *m, uint32_t items_wanted, int64_t max, uint32_t *count)
{
    uint32_t items;
    int64_t n;
    *count = 0;
    if (m->left == 0) {
        return 0;
    }
    if (rh_mp_get_array(m, &items) != 0 || items < items_wanted ||
        rh_mp_get_int_in(m, 0, max, &n) != 0) {
        return -1;
    }
    *count = (uint32_t) n;
    return 0;
}

static int decode_texts(struct decoder *d, enum rh_state_key key, struct rh_span **texts,
                        uint32_t *count)
{
    struct rh_mp *m = &d->parts[key];
    if (get_part_count(m, 2, RH_BLOCK_STRINGS_MAX, count) != 0) {
        return -1;
    }
    *texts = rh_arena_alloc(d->arena, *count * sizeof **texts);
    if (*count == 0) {
        return 0;
    }
    if (rh_value_column_get(m, *count, d->blobs, d->arena, *texts) != 0) {
        return -1;
    }
    for (uint32_t i = 0; i < *count; i++) {
        if (!(*texts)[i].data) {
            return -1;
        }
    }
    return 0;
}

/* True for a number of a string or null. */
static bool are_strings(const struct decoder *d, const struct rh_int_column *c, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++) {
        int64_t v = rh_int_column_at(c, i);
        if (v != RH_INT_UNKNOWN && (v < 0 || v >= d->st->string_count)) {
            return false;
        }
    }
    return true;
}

static struct rh_span string_at(const struct decoder *d, const struct rh_int_column *c, uint32_t i)
{
    int64_t v = rh_int_column_at(c, i);
    return v == RH_INT_UNKNOWN ? RH_SPAN_NONE : d->st->strings[v];
}

static int check_session_columns(const struct decoder *d, const struct rh_int_column *c, uint32_t n)
{
    const int64_t u32 = UINT32_MAX;
    const int64_t rows = RH_BLOCK_RECORDS_MAX;
    bool good = rh_int_column_within(&c[RH_SESSION_NUMBER], n, -u32, u32) &&
                rh_int_column_within(&c[RH_SESSION_COPY], n, 0, u32) &&
                rh_int_column_within(&c[RH_SESSION_PID], n, 0, u32) &&
                rh_int_column_within(&c[RH_SESSION_FLAGS], n, 0, u32) &&
                rh_int_column_within(&c[RH_SESSION_STARTUP_COUNT], n, 0, RH_BLOCK_STARTUP_MAX) &&
                rh_int_column_within(&c[RH_SESSION_ROWS], n, 0, rows) &&
                rh_int_column_within(&c[RH_SESSION_CURSOR_ROWS], n, 0, rows) &&
                rh_int_column_within(&c[RH_SESSION_FIRST_ORDINAL], n, 0, INT64_MAX) &&
                rh_int_column_within(&c[RH_SESSION_ORDINAL_SPAN], n, 0, INT64_MAX) &&
                rh_int_column_within(&c[RH_SESSION_FIRST_START], n, -INT64_MAX, INT64_MAX);
    for (unsigned k = RH_SESSION_USER; k <= RH_SESSION_CLIENT; k++) {
        good = good && are_strings(d, &c[k], n);
    }
    return good ? 0 : -1;
}

static void fill_session(struct decoder *d, const struct rh_int_column *c, uint32_t i)
{
    struct rh_block_session *s = &d->st->sessions[i];
    int64_t number = rh_int_column_at(&c[RH_SESSION_NUMBER], i);
    number += i > 0 ? (int64_t) s[-1].s.number : 0;
    int64_t opened = rh_int_column_at(&c[RH_SESSION_OPENED], i);
    int64_t closed = rh_int_column_at(&c[RH_SESSION_CLOSED], i);
    s->s = (struct rh_session){
        .number = (uint32_t) number,
        .copy = (uint32_t) rh_int_column_at(&c[RH_SESSION_COPY], i),
        .user = string_at(d, &c[RH_SESSION_USER], i),
        .database = string_at(d, &c[RH_SESSION_DATABASE], i),
        .application = string_at(d, &c[RH_SESSION_APPLICATION], i),
        .client = string_at(d, &c[RH_SESSION_CLIENT], i),
        .opened_ns = opened == RH_INT_UNKNOWN ? RH_TIME_UNKNOWN
                                              : rh_block_time_ns(add(d->min, opened), d->unit_ns),
        .closed_ns = closed == RH_INT_UNKNOWN ? RH_TIME_UNKNOWN
                                              : rh_block_time_ns(add(d->min, closed), d->unit_ns),
        .backend_pid = (uint32_t) rh_int_column_at(&c[RH_SESSION_PID], i),
        .flags = (uint32_t) rh_int_column_at(&c[RH_SESSION_FLAGS], i),
        .startup_count = (uint32_t) rh_int_column_at(&c[RH_SESSION_STARTUP_COUNT], i),
    };
    s->unordered = false;
    s->first_row = d->st->row_count;
    s->row_count = (uint32_t) rh_int_column_at(&c[RH_SESSION_ROWS], i);
    d->st->row_count += s->row_count;
    s->cursor_rows = (uint32_t) rh_int_column_at(&c[RH_SESSION_CURSOR_ROWS], i);
    s->first_ordinal = (uint64_t) rh_int_column_at(&c[RH_SESSION_FIRST_ORDINAL], i);
    s->last_ordinal =
        s->first_ordinal + (uint64_t) rh_int_column_at(&c[RH_SESSION_ORDINAL_SPAN], i);
    s->first_start = add(d->min, rh_int_column_at(&c[RH_SESSION_FIRST_START], i));
    int64_t timed = rh_int_column_at(&c[RH_SESSION_TIMED_FIRST], i);
    s->timed_first_ns = RH_TIME_UNKNOWN;
    s->timed_last_ns = RH_TIME_UNKNOWN;
    if (timed != RH_INT_UNKNOWN) {
        int64_t first = add(s->first_start, timed);
        int64_t last = add(first, rh_int_column_at(&c[RH_SESSION_TIMED_SPAN], i));
        s->timed_first_ns = rh_block_time_ns(first, d->unit_ns);
        s->timed_last_ns = rh_block_time_ns(last, d->unit_ns);
    }
}

static bool in_order(const struct rh_block_state *st)
{
    for (uint32_t i = 1; i < st->session_count; i++) {
        const struct rh_session *a = &st->sessions[i - 1].s;
        const struct rh_session *b = &st->sessions[i].s;
        if (b->number < a->number || (b->number == a->number && b->copy <= a->copy)) {
            return false;
        }
    }
    return true;
}

static int decode_startup(struct decoder *d, struct rh_mp *m)
{
    uint64_t total = 0;
    for (uint32_t i = 0; i < d->st->session_count; i++) {
        total += d->st->sessions[i].s.startup_count;
    }
    if (total == 0) {
        return 0;
    }
    struct rh_int_column c;
    if (total > RH_BLOCK_STARTUP_MAX || m->left == 0 ||
        rh_int_column_get(m, (uint32_t) total * 2, d->arena, &c) != 0 ||
        !are_strings(d, &c, (uint32_t) total * 2)) {
        return -1;
    }
    struct rh_setting *settings = rh_arena_alloc(d->arena, total * sizeof *settings);
    for (uint32_t k = 0; k < total; k++) {
        settings[k] = (struct rh_setting){string_at(d, &c, 2 * k), string_at(d, &c, 2 * k + 1)};
    }
    for (uint32_t i = 0; i < d->st->session_count; i++) {
        d->st->sessions[i].s.startup = settings;
        settings += d->st->sessions[i].s.startup_count;
    }
    return 0;
}

static int decode_sessions(struct decoder *d, bool with_lists)
{
    struct rh_mp *m = &d->parts[RH_STATE_KEY_SESSIONS];
    struct rh_mp parts[RH_SESSION_STARTUP + 1] = {{0}};
    struct rh_int_column c[RH_SESSION_COLUMN_COUNT];
    uint32_t n;
    if (get_part_count(m, 2, RH_BLOCK_SESSIONS_MAX, &n) != 0) {
        return -1;
    }
    d->st->sessions = rh_arena_alloc(d->arena, n * sizeof *d->st->sessions);
    if (n == 0) {
        return 0;
    }
    if (find_parts(m, parts, RH_SESSION_STARTUP + 1) != 0) {
        return -1;
    }
    for (unsigned k = 0; k < RH_SESSION_COLUMN_COUNT; k++) {
        c[k] = (struct rh_int_column){NULL, rh_trace_session_default(k)};
        if (parts[k].left > 0 && rh_int_column_get(&parts[k], n, d->arena, &c[k]) != 0) {
            return -1;
        }
    }
    if (check_session_columns(d, c, n) != 0) {
        return -1;
    }
    for (uint32_t i = 0; i < n; i++) {
        fill_session(d, c, i);
        int64_t list = rh_int_column_at(&c[RH_SESSION_LIST], i);
        if (!with_lists) {
            list = RH_INT_UNKNOWN;
        }
        if (list != RH_INT_UNKNOWN && (list < 0 || list >= d->st->list_count)) {
            return -1;
        }
        d->st->sessions[i].list = list == RH_INT_UNKNOWN ? RH_NO_LIST : (uint32_t) list;
        d->st->session_count = i + 1;
        if (d->st->row_count > RH_BLOCK_RECORDS_MAX) {
            return -1;
        }
    }
    return in_order(d->st) ? decode_startup(d, &parts[RH_SESSION_STARTUP]) : -1;
}

/* Strings or nothing; a column that is absent has nothing. */
static int decode_types(struct decoder *d, struct rh_mp *m, uint32_t total, bool present,
                        struct rh_int_column *types)
{
    *types = (struct rh_int_column){.constant = RH_INT_UNKNOWN};
    if (!present) {
        return 0;
    }
    if (rh_int_column_get(m, total, d->arena, types) != 0) {
        return -1;
    }
    for (uint32_t i = 0; i < total; i++) {
        int64_t v = rh_int_column_at(types, i);
        if (v != RH_INT_UNKNOWN && (v < 0 || v >= (int64_t) d->st->string_count)) {
            return -1;
        }
    }
    return 0;
}

static int decode_items(struct decoder *d, struct rh_mp *m, uint32_t total, bool has_types)
{
    struct rh_int_column types;
    struct rh_int_column kinds;
    struct rh_int_column names;
    struct rh_int_column texts;
    if (rh_int_column_get(m, total, d->arena, &kinds) != 0 ||
        rh_int_column_get(m, total, d->arena, &names) != 0 ||
        rh_int_column_get(m, total, d->arena, &texts) != 0 ||
        !rh_int_column_within(&kinds, total, RH_STATE_STATEMENT, RH_STATE_SETTING) ||
        !rh_int_column_within(&names, total, 0, (int64_t) d->st->string_count - 1) ||
        !rh_int_column_within(&texts, total, 0, (int64_t) d->st->string_count - 1) ||
        decode_types(d, m, total, has_types, &types) != 0) {
        return -1;
    }
    d->st->items = rh_arena_alloc(d->arena, total * sizeof *d->st->items);
    d->st->item_count = total;
    for (uint32_t i = 0; i < total; i++) {
        d->st->items[i] = (struct rh_block_item){
            (enum rh_state_kind) rh_int_column_at(&kinds, i),
            string_at(d, &names, i),
            string_at(d, &texts, i),
            string_at(d, &types, i),
        };
    }
    return 0;
}

static int decode_lists(struct decoder *d)
{
    struct rh_mp *m = &d->parts[RH_STATE_KEY_LISTS];
    struct rh_int_column counts;
    struct rh_int_column incomplete;
    uint32_t n;
    uint32_t parts = 0;
    struct rh_mp head = *m;
    if (get_part_count(m, 6, RH_BLOCK_SESSIONS_MAX, &n) != 0) {
        return -1;
    }
    if (n == 0) {
        return 0;
    }
    if (rh_mp_get_array(&head, &parts) != 0 || rh_int_column_get(m, n, d->arena, &counts) != 0 ||
        rh_int_column_get(m, n, d->arena, &incomplete) != 0 ||
        !rh_int_column_within(&counts, n, 0, RH_BLOCK_STATE_ITEMS_MAX)) {
        return -1;
    }
    d->st->lists = rh_arena_alloc(d->arena, n * sizeof *d->st->lists);
    d->st->list_count = n;
    uint32_t total = 0;
    for (uint32_t i = 0; i < n; i++) {
        uint32_t count = (uint32_t) rh_int_column_at(&counts, i);
        if (count > RH_BLOCK_STATE_ITEMS_MAX - total) {
            return -1;
        }
        d->st->lists[i] =
            (struct rh_block_list){total, count, rh_int_column_at(&incomplete, i) != 0};
        total += count;
    }
    return decode_items(d, m, total, parts > 6);
}

static int decode_state(struct decoder *d, struct rh_span raw, bool all)
{
    struct rh_mp m;
    *d->st = (struct rh_block_state){0};
    rh_mp_init(&m, raw);
    if (find_parts(&m, d->parts, STATE_KEYS) != 0 ||
        decode_texts(d, RH_STATE_KEY_STRINGS, &d->st->strings, &d->st->string_count) != 0) {
        return -1;
    }
    if (all &&
        (decode_texts(d, RH_STATE_KEY_TEMPLATES, &d->st->templates, &d->st->template_count) != 0 ||
         decode_lists(d) != 0)) {
        return -1;
    }
    return decode_sessions(d, all);
}

int rh_block_state_decode(struct rh_block_state *st, struct rh_span raw, struct rh_span blobs,
                          int64_t min, int64_t unit_ns, struct rh_arena *arena)
{
    struct decoder d = {.st = st, .blobs = blobs, .min = min, .unit_ns = unit_ns, .arena = arena};
    return decode_state(&d, raw, true);
}

int rh_block_state_decode_sessions(struct rh_block_state *st, struct rh_span raw,
                                   struct rh_span blobs, int64_t min, int64_t unit_ns,
                                   struct rh_arena *arena)
{
    struct decoder d = {.st = st, .blobs = blobs, .min = min, .unit_ns = unit_ns, .arena = arena};
    return decode_state(&d, raw, false);
}

const struct rh_block_session *rh_block_state_session(const struct rh_block_state *st,
                                                      uint32_t number, uint32_t copy)
{
    uint32_t low = 0;
    uint32_t high = st->session_count;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        const struct rh_session *s = &st->sessions[middle].s;
        if (s->number < number || (s->number == number && s->copy < copy)) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    if (low < st->session_count && st->sessions[low].s.number == number &&
        st->sessions[low].s.copy == copy) {
        return &st->sessions[low];
    }
    return NULL;
}
