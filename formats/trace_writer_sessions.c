#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

#include "common/alloc.h"
#include "formats/trace_writer_private.h"

enum { SESSION_CHUNK_BYTES = 512, STARTUP_MAX = 256, SESSION_TEXT_MAX = 64 * 1024 };

static uint64_t session_key(uint32_t number, uint32_t copy)
{
    return (uint64_t) copy << 32 | number;
}

static struct rh_trace_writer_session *new_session(struct rh_trace_writer *w, uint32_t number,
                                                   uint32_t copy)
{
    struct rh_trace_writer_session *s = rh_calloc(1, sizeof *s);
    rh_arena_init(&s->texts, SESSION_CHUNK_BYTES);
    rh_session_state_init(&s->state);
    /* A copy is like its original until told otherwise. */
    struct rh_trace_writer_session *original =
        copy ? rh_map_get(&w->sessions, session_key(number, 0)) : NULL;
    if (original) {
        rh_session_copy(&s->s, &original->s, &s->texts);
    } else {
        s->s.opened_ns = RH_TIME_UNKNOWN;
        s->s.closed_ns = RH_TIME_UNKNOWN;
    }
    s->s.number = number;
    s->s.copy = copy;
    s->opened = rh_trace_row_units(s->s.opened_ns, w->unit_ns);
    s->closed = rh_trace_row_units(s->s.closed_ns, w->unit_ns);
    s->open_row = RH_NO_STRING;
    s->last_template = RH_NO_STRING;
    s->changed = true;
    s->last_start = INT64_MIN;
    s->first_start = INT64_MAX;
    s->opening_start = INT64_MIN;
    rh_map_put(&w->sessions, session_key(number, copy), s);
    return s;
}

struct rh_trace_writer_session *rh_trace_writer_find_session(struct rh_trace_writer *w,
                                                             uint32_t number, uint32_t copy)
{
    struct rh_trace_writer_session *s = w->last_session;
    if (s && s->s.number == number && s->s.copy == copy) {
        return s;
    }
    s = rh_map_get(&w->sessions, session_key(number, copy));
    if (!s) {
        s = new_session(w, number, copy);
    }
    w->last_session = s;
    return s;
}

static bool session_fits(const struct rh_session *session)
{
    size_t bytes =
        session->user.len + session->database.len + session->application.len + session->client.len;
    for (uint32_t i = 0; i < session->startup_count && i < STARTUP_MAX; i++) {
        bytes += session->startup[i].name.len + session->startup[i].value.len;
    }
    return session->startup_count <= STARTUP_MAX && bytes <= SESSION_TEXT_MAX;
}

int rh_trace_writer_put_session(struct rh_trace_writer *w, const struct rh_session *session,
                                struct rh_error *err)
{
    /* A protocol startup packet has at most 10,000 bytes, so this is no user's session. */
    if (!session_fits(session)) {
        return rh_error_set(err, RH_ERR_LIMIT, "session %u: startup parameters are too large",
                            (unsigned) session->number);
    }
    struct rh_trace_writer_session *s =
        rh_trace_writer_find_session(w, session->number, session->copy);
    /* The new texts may be the old ones: copy before the old ones go. */
    struct rh_arena old = s->texts;
    rh_arena_init(&s->texts, SESSION_CHUNK_BYTES);
    rh_session_copy(&s->s, session, &s->texts);
    rh_arena_release(&old);
    s->opened = rh_trace_row_units(session->opened_ns, w->unit_ns);
    s->closed = rh_trace_row_units(session->closed_ns, w->unit_ns);
    s->changed = true;
    return 0;
}

void rh_trace_writer_end_copy(struct rh_trace_writer *w, uint32_t number, uint32_t copy)
{
    struct rh_trace_writer_session *s = rh_map_get(&w->sessions, session_key(number, copy));
    if (s && !s->ended) {
        s->ended = true;
        RH_GROW(w->ended, w->ended_count, w->ended_cap); /* NOLINT(bugprone-sizeof-expression) */
        w->ended[w->ended_count++] = s;
    }
}

void rh_trace_writer_end_session(struct rh_trace_writer *w, uint32_t number)
{
    rh_trace_writer_end_copy(w, number, 0);
}

static void free_session(struct rh_trace_writer_session *s)
{
    rh_arena_release(&s->texts);
    rh_session_state_release(&s->state);
    rh_free(s);
}

void rh_trace_writer_drop_ended(struct rh_trace_writer *w)
{
    uint32_t kept = 0;
    for (uint32_t i = 0; i < w->ended_count; i++) {
        struct rh_trace_writer_session *s = w->ended[i];
        if (s->pending_rows > 0 || s->changed) {
            w->ended[kept++] = s;
            continue;
        }
        if (w->last_session == s) {
            w->last_session = NULL;
        }
        rh_map_remove(&w->sessions, session_key(s->s.number, s->s.copy));
        free_session(s);
    }
    w->ended_count = kept;
}

uint32_t rh_trace_writer_changed(struct rh_trace_writer *w, bool all,
                                 struct rh_trace_writer_session **others, uint32_t max)
{
    uint32_t n = 0;
    if (all) {
        size_t pos = 0;
        struct rh_trace_writer_session *s;
        while (n < max && (s = rh_map_next(&w->sessions, &pos, NULL))) {
            if (s->changed) {
                others[n++] = s;
            }
        }
        return n;
    }
    for (uint32_t i = 0; i < w->ended_count && n < max; i++) {
        if (w->ended[i]->changed && w->ended[i]->pending_rows == 0) {
            others[n++] = w->ended[i];
        }
    }
    return n;
}

void rh_trace_writer_free_sessions(struct rh_trace_writer *w)
{
    size_t pos = 0;
    struct rh_trace_writer_session *s;
    while ((s = rh_map_next(&w->sessions, &pos, NULL))) {
        free_session(s);
    }
    rh_map_release(&w->sessions);
    rh_free(w->ended);
}

static uint64_t mix(uint64_t h, uint64_t v)
{
    h = (h ^ v) * UINT64_C(0x9e3779b97f4a7c15);
    return h ^ h >> 29;
}

/* Of a named statement: equal for equal names and texts. */
static uint64_t named_hash(const struct rh_trace_row *row, const struct rh_trace_row_store *store)
{
    uint64_t h =
        mix(store->strings.hashes[row->extra->statement_name], store->templates.hashes[row->tmpl]);
    for (uint32_t i = 0; i < row->literal_count; i++) {
        const struct rh_value *v = &row->values[i];
        h = mix(h,
                v->tag == RH_VALUE_INT ? (uint64_t) v->u.number : XXH3_64bits(v->u.data, v->len));
    }
    return h | 1;
}

/* True if it is known; else it is from now on, in place of the oldest of its group. */
static bool know_name(uint64_t group[4], uint64_t hash)
{
    uint64_t last = hash;
    for (unsigned i = 0; i < 4; i++) {
        uint64_t here = group[i];
        group[i] = last;
        if (here == hash) {
            return true;
        }
        last = here;
    }
    return false;
}

/* A Close of its statement may be among its steps. */
static bool closes_name(const struct rh_trace_row *row, const struct rh_trace_row_store *store)
{
    if (row->extra->steps == RH_NO_STRING || row->extra->statement_name == RH_NO_STRING) {
        return false;
    }
    struct rh_span steps = store->strings.items[row->extra->steps];
    return memchr(steps.data, 'C', steps.len);
}

/* What a row makes of session s, which is the row's own or goes on for it. */
static void apply_to(struct rh_trace_writer *w, struct rh_trace_writer_session *s,
                     const struct rh_trace_row *row, const struct rh_trace_row_store *store)
{
    bool closes = closes_name(row, store);
    bool has_text = row->tmpl != RH_NO_STRING;
    if (!has_text && !closes) {
        return;
    }
    bool named =
        has_text && row->kind != RH_KIND_QUERY && row->extra->statement_name != RH_NO_STRING;
    bool changes = closes || (has_text && store->facts[row->tmpl].changes_state) ||
                   (row->flags & RH_FLAG_SQL_EXECUTE);
    if (!named && !changes) {
        return;
    }
    uint64_t hash = named ? named_hash(row, store) : 0;
    uint64_t *group = s->known_names[hash >> 1 & 15];
    bool succeeded = row->sqlstate == 0 || row->sqlstate == RH_SQLSTATE_UNKNOWN;
    if (!changes && (!named || (succeeded && know_name(group, hash)))) {
        return;
    }
    struct rh_record r;
    rh_arena_clear(&w->scratch);
    rh_trace_row_record(row, store, &w->scratch, &r);
    rh_session_state_apply(&s->state, &r);
    if (changes) {
        memset(s->known_names, 0, sizeof s->known_names);
    }
}

void rh_trace_writer_apply(struct rh_trace_writer *w, const struct rh_trace_row *row,
                           const struct rh_trace_row_store *store)
{
    apply_to(w, row->session, row, store);
}

struct waiting {
    const struct rh_trace_row *row;
    const struct rh_trace_row_store *store;
};

static int compare_waiting(const void *a, const void *b)
{
    const struct waiting *x = a;
    const struct waiting *y = b;
    return (x->row->ordinal > y->row->ordinal) - (x->row->ordinal < y->row->ordinal);
}

static uint32_t find_waiting(const struct rh_trace_window *win,
                             const struct rh_trace_writer_session *s, struct waiting *found)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < win->count; i++) {
        const struct rh_trace_row *row = &win->rows[i];
        if (row->session == s && rh_kind_has_ordinal((enum rh_kind) row->kind)) {
            found[n++] = (struct waiting){row, &win->store};
        }
    }
    return n;
}

/* Rows that are not sealed yet make something of their session too, in the order of ordinals,
 * whichever of the two windows they wait in. */
static void apply_waiting(struct rh_trace_writer *w, const struct rh_trace_writer_session *s,
                          struct rh_trace_writer_session *heir)
{
    if (s->pending_rows == 0) {
        return;
    }
    struct waiting *rows = rh_calloc(s->pending_rows, sizeof *rows);
    uint32_t n = find_waiting(&w->window, s, rows);
    n += find_waiting(&w->late, s, rows + n);
    qsort(rows, n, sizeof *rows, compare_waiting);
    for (uint32_t i = 0; i < n; i++) {
        apply_to(w, heir, rows[i].row, rows[i].store);
    }
    rh_free(rows);
}

bool rh_trace_writer_hand_over(struct rh_trace_writer *from, struct rh_trace_writer *to,
                               uint32_t number)
{
    struct rh_trace_writer_session *s = rh_map_get(&from->sessions, session_key(number, 0));
    if (!s || s->ended) {
        return false;
    }
    struct rh_trace_writer_session *heir = rh_trace_writer_find_session(to, number, 0);
    rh_session_copy(&heir->s, &s->s, &heir->texts);
    heir->s.flags |= RH_SESSION_JOINED_MIDWAY;
    heir->opened = s->opened;
    heir->closed = s->closed;
    heir->last_ordinal = s->last_ordinal;
    heir->last_start = s->last_start;
    for (uint32_t i = 0; i < s->state.count; i++) {
        const struct rh_state_item *item = &s->state.items[i];
        rh_session_state_put_typed(&heir->state, item->kind, item->name, item->text, item->types);
    }
    heir->state.incomplete |= s->state.incomplete;
    apply_waiting(from, s, heir);
    s->s.flags |= RH_SESSION_LEFT_OPEN;
    s->changed = true;
    rh_trace_writer_end_session(from, number);
    return true;
}
