#include "formats/trace_row.h"

#include "common/alloc.h"
#include "common/sql_template.h"

/* With its head and malloc's a huge page (rh_malloc_whole()). */
enum { ROW_ARENA_CHUNK_BYTES = (2 << 20) - 256, LEARNED_CHUNK_BYTES = 4096 };

const struct rh_trace_row_extra rh_trace_row_no_extra = {
    .statement_name = RH_NO_STRING,
    .portal_name = RH_NO_STRING,
    .application = RH_NO_STRING,
    .prepare_text = RH_NO_STRING,
    .steps = RH_NO_STRING,
    .parse = RH_INT_UNKNOWN,
    .bind = RH_INT_UNKNOWN,
    .execute = RH_INT_UNKNOWN,
};

const struct rh_trace_row_run rh_trace_row_no_run = {
    .planned = RH_INT_UNKNOWN,
    .sent = RH_INT_UNKNOWN,
    .ready = RH_INT_UNKNOWN,
};

void rh_trace_row_store_init(struct rh_trace_row_store *s)
{
    *s = (struct rh_trace_row_store){0};
    rh_arena_init(&s->arena, ROW_ARENA_CHUNK_BYTES);
    rh_arena_init(&s->old, ROW_ARENA_CHUNK_BYTES);
    rh_arena_init(&s->learned, LEARNED_CHUNK_BYTES);
    rh_intern_init(&s->templates);
    rh_intern_init(&s->strings);
}

void rh_trace_row_store_release(struct rh_trace_row_store *s)
{
    rh_arena_release(&s->arena);
    rh_arena_release(&s->old);
    rh_arena_release(&s->learned);
    rh_intern_release(&s->templates);
    rh_intern_release(&s->strings);
    rh_free(s->facts);
    *s = (struct rh_trace_row_store){0};
}

void rh_trace_row_store_clear(struct rh_trace_row_store *s)
{
    rh_arena_clear(&s->arena);
    rh_arena_clear(&s->old);
    rh_arena_clear(&s->learned);
    rh_intern_clear(&s->templates);
    rh_intern_clear(&s->strings);
}

void rh_trace_row_store_turn(struct rh_trace_row_store *s)
{
    struct rh_arena filled = s->arena;
    rh_arena_clear(&s->old);
    s->arena = s->old;
    s->old = filled;
}

static uint32_t put_template(struct rh_trace_row_store *s, struct rh_span tmpl, bool *fresh)
{
    uint32_t id = rh_intern_put(&s->templates, tmpl, fresh);
    if (*fresh) {
        RH_GROW(s->facts, id, s->template_cap);
        s->facts[id] = (struct rh_trace_row_template){
            .slot_count = rh_template_slot_count(tmpl),
            /* Most statements leave their session as it was: asked once a template. */
            .changes_state = rh_session_state_concerns(tmpl, true),
            .followers = {RH_NO_STRING, RH_NO_STRING},
            .last = {RH_NO_STRING, RH_NO_STRING, RH_NO_STRING},
        };
    }
    return id;
}

uint32_t rh_trace_row_store_template(struct rh_trace_row_store *s, struct rh_span tmpl)
{
    bool fresh;
    return put_template(s, tmpl, &fresh);
}

/* The followers of `last`, newest first, or none. */
static uint32_t *followers_of(const struct rh_trace_row_store *s, uint32_t last)
{
    return last < s->templates.count ? s->facts[last].followers : NULL;
}

static void note_follower(struct rh_trace_row_store *s, uint32_t last, uint32_t id)
{
    uint32_t *followers = followers_of(s, last);
    if (followers && followers[0] != id) {
        followers[1] = followers[0];
        followers[0] = id;
    }
}

uint32_t rh_trace_row_store_next(struct rh_trace_row_store *s, uint32_t last, struct rh_span tmpl)
{
    uint32_t *followers = followers_of(s, last);
    for (unsigned i = 0; followers && i < 2 && followers[i] != RH_NO_STRING; i++) {
        uint32_t id = followers[i];
        if (rh_span_equal(s->templates.items[id], tmpl)) {
            note_follower(s, last, id);
            return id;
        }
    }
    uint32_t id = rh_trace_row_store_template(s, tmpl);
    note_follower(s, last, id);
    return id;
}

uint32_t rh_trace_row_store_split(struct rh_trace_row_store *s, uint32_t last, struct rh_span text,
                                  struct rh_buf *tmpl, struct rh_literals *literals)
{
    uint32_t *followers = followers_of(s, last);
    for (unsigned i = 0; followers && i < 2 && followers[i] != RH_NO_STRING; i++) {
        uint32_t id = followers[i];
        if (rh_template_match_split(&s->facts[id].match, s->templates.items[id], text, literals)) {
            note_follower(s, last, id);
            return id;
        }
    }
    bool fresh;
    rh_template_split(text, tmpl, literals);
    uint32_t id = put_template(s, rh_buf_span(tmpl), &fresh);
    if (!fresh) {
        rh_template_match_learn(&s->facts[id].match, s->templates.items[id], literals->items,
                                literals->count, &s->learned);
    }
    note_follower(s, last, id);
    return id;
}

static uint32_t put_string(struct rh_trace_row_store *store, struct rh_span s)
{
    return s.data ? rh_intern_put(&store->strings, s, NULL) : RH_NO_STRING;
}

static uint32_t put_known_string(struct rh_trace_row_store *store, struct rh_span s, uint32_t *last)
{
    if (*last == RH_NO_STRING || !rh_span_equal(store->strings.items[*last], s)) {
        *last = put_string(store, s);
    }
    return *last;
}

/* The same where it probably is *last: what rows of one template say of themselves is alike. */
static inline uint32_t put_string_again(struct rh_trace_row_store *store, struct rh_span s,
                                        uint32_t *last)
{
    return s.data ? put_known_string(store, s, last) : RH_NO_STRING;
}

static unsigned kind_rank(uint8_t kind)
{
    return kind == RH_KIND_OPEN ? 0 : rh_kind_has_ordinal((enum rh_kind) kind) ? 1 : 2;
}

bool rh_trace_row_precedes(const struct rh_trace_row *a, const struct rh_trace_row *b)
{
    if (a->start != b->start) {
        return a->start < b->start;
    }
    if (a->ordinal != b->ordinal) {
        return a->ordinal < b->ordinal;
    }
    return kind_rank(a->kind) < kind_rank(b->kind);
}

int64_t rh_trace_row_units_slow(int64_t ns, int64_t unit_ns)
{
    int64_t v = ns > RH_TRACE_TIME_MAX_NS ? RH_TRACE_TIME_MAX_NS : ns;
    v = v < -RH_TRACE_TIME_MAX_NS ? -RH_TRACE_TIME_MAX_NS : v;
    return unit_ns == 1000 ? v / 1000 - (v % 1000 < 0) : v;
}

static int64_t to_duration(int64_t ns, int64_t unit_ns)
{
    ns = ns > RH_TRACE_DISTANCE_MAX_NS ? RH_TRACE_DISTANCE_MAX_NS : ns;
    return ns < 0 ? RH_INT_UNKNOWN : rh_trace_row_units(ns, unit_ns);
}

static struct rh_value copy_value(struct rh_arena *arena, struct rh_span s)
{
    struct rh_value v = rh_value_of(s);
    if (v.tag == RH_VALUE_BYTES) {
        v.u.data = rh_arena_copy(arena, s).data;
    }
    return v;
}

static const struct rh_value *
make_values(const struct rh_record *r, const struct rh_trace_row_text *text, struct rh_arena *arena)
{
    uint32_t n = text->literal_count + r->param_count;
    if (n == 0) {
        return NULL;
    }
    struct rh_value *values = rh_arena_alloc(arena, n * sizeof *values);
    for (uint32_t i = 0; i < text->literal_count; i++) {
        values[i] = copy_value(arena, text->literals[i]);
    }
    for (uint32_t i = 0; i < r->param_count; i++) {
        values[text->literal_count + i] =
            copy_value(arena, rh_span(r->params[i].data, r->params[i].len));
    }
    return values;
}

/* Of the durations -1 is unknown: all of them are, if the sign stays. */
static bool has_extra(const struct rh_record *r)
{
    const struct rh_outcome *o = &r->outcome;
    uintptr_t texts = (uintptr_t) r->statement_name.data | (uintptr_t) r->portal_name.data |
                      (uintptr_t) r->application.data | (uintptr_t) r->prepare_text.data |
                      (uintptr_t) r->steps.data | (uintptr_t) r->detail.data;
    uint64_t numbers =
        r->result_format_count | (uint32_t) r->row_limit | r->function_oid | r->count;
    return texts || numbers || (o->parse_ns & o->bind_ns & o->execute_ns) >= 0;
}

/* Types and formats only where one is not 0. */
static void make_param_kinds(struct rh_trace_row_extra *x, const struct rh_record *r,
                             struct rh_arena *arena)
{
    uint32_t types = 0;
    uint8_t formats = 0;
    for (uint32_t i = 0; i < r->param_count; i++) {
        types |= r->params[i].type;
        formats |= r->params[i].format;
    }
    if (types) {
        uint32_t *copy = rh_arena_alloc(arena, r->param_count * sizeof *copy);
        for (uint32_t i = 0; i < r->param_count; i++) {
            copy[i] = r->params[i].type;
        }
        x->param_types = copy;
    }
    if (formats) {
        uint8_t *copy = rh_arena_alloc(arena, r->param_count);
        for (uint32_t i = 0; i < r->param_count; i++) {
            copy[i] = r->params[i].format;
        }
        x->param_formats = copy;
    }
}

static bool has_param_kinds(const struct rh_record *r)
{
    uint32_t any = 0;
    for (uint32_t i = 0; i < r->param_count; i++) {
        any |= r->params[i].type | r->params[i].format;
    }
    return any != 0;
}

static const struct rh_trace_row_extra *make_extra(const struct rh_record *r,
                                                   struct rh_trace_row_strings *last,
                                                   struct rh_trace_row_store *store,
                                                   int64_t unit_ns)
{
    if (!has_param_kinds(r) && !has_extra(r)) {
        return &rh_trace_row_no_extra;
    }
    struct rh_trace_row_extra *x = rh_arena_alloc(&store->arena, sizeof *x);
    *x = rh_trace_row_no_extra;
    make_param_kinds(x, r, &store->arena);
    x->statement_name = put_string_again(store, r->statement_name, &last->statement_name);
    x->portal_name = put_string(store, r->portal_name);
    x->application = put_string(store, r->application);
    x->prepare_text = put_string(store, r->prepare_text);
    x->steps = put_string_again(store, r->steps, &last->steps);
    x->parse = to_duration(r->outcome.parse_ns, unit_ns);
    x->bind = to_duration(r->outcome.bind_ns, unit_ns);
    x->execute = to_duration(r->outcome.execute_ns, unit_ns);
    if (r->result_format_count > 0) {
        uint16_t *copy = rh_arena_alloc(&store->arena, r->result_format_count * sizeof *copy);
        memcpy(copy, r->result_formats, r->result_format_count * sizeof *copy);
        x->result_formats = copy;
        x->result_format_count = r->result_format_count;
    }
    x->row_limit = r->row_limit;
    x->function_oid = r->function_oid;
    x->count = r->count;
    x->detail = copy_value(&store->arena, r->detail);
    return x;
}

static const struct rh_trace_row_run *make_run(const struct rh_run_part *run,
                                               struct rh_arena *arena, int64_t unit_ns)
{
    if (run->fate == 0 && run->reason == 0 && run->wait_ns <= 0 &&
        run->planned_ns == RH_TIME_UNKNOWN && run->sent_ns == RH_TIME_UNKNOWN &&
        run->ready_ns == RH_TIME_UNKNOWN) {
        return &rh_trace_row_no_run;
    }
    struct rh_trace_row_run x = {
        .fate = (uint8_t) run->fate,
        .reason = (uint8_t) run->reason,
        .planned = rh_trace_row_units(run->planned_ns, unit_ns),
        .sent = rh_trace_row_units(run->sent_ns, unit_ns),
        .wait = run->wait_ns > 0 ? to_duration(run->wait_ns, unit_ns) : 0,
        .ready = rh_trace_row_units(run->ready_ns, unit_ns),
    };
    struct rh_trace_row_run *kept = rh_arena_alloc(arena, sizeof *kept);
    *kept = x;
    return kept;
}

void rh_trace_row_make(struct rh_trace_row *row, const struct rh_record *r,
                       const struct rh_trace_row_text *text, struct rh_trace_row_store *store,
                       int64_t unit_ns)
{
    const struct rh_outcome *o = &r->outcome;
    struct rh_trace_row_strings none = {RH_NO_STRING, RH_NO_STRING, RH_NO_STRING};
    struct rh_trace_row_strings *last =
        text->tmpl == RH_NO_STRING ? &none : &store->facts[text->tmpl].last;
    int64_t start = rh_trace_row_units(r->start_ns, unit_ns);
    /* Each member once, instead of all to 0 before. */
    row->session = NULL;
    row->ordinal = r->ordinal;
    row->start = start == RH_INT_UNKNOWN ? 0 : start;
    row->first = rh_trace_row_units(o->first_ns, unit_ns);
    row->done = rh_trace_row_units(o->done_ns, unit_ns);
    row->rows = o->rows < 0 ? RH_INT_UNKNOWN : o->rows;
    row->bytes = o->bytes < 0 ? RH_INT_UNKNOWN : o->bytes;
    row->tmpl = text->tmpl;
    row->literal_count = text->literal_count;
    row->param_count = r->param_count;
    row->flags = r->flags;
    row->values = make_values(r, text, &store->arena);
    row->sqlstate = o->sqlstate;
    row->tag = put_string_again(store, o->tag, &last->tag);
    row->results = o->results;
    row->kind = (uint8_t) r->kind;
    row->txn = r->txn;
    row->hold = (uint8_t) r->hold;
    row->tx_status = o->tx_status > 0 ? (uint8_t) o->tx_status : 0;
    row->extra = make_extra(r, last, store, unit_ns);
    row->run = make_run(&r->run, &store->arena, unit_ns);
}

static uint32_t move_string(uint32_t id, const struct rh_trace_row_store *from,
                            struct rh_trace_row_store *to, uint32_t *map)
{
    if (id == RH_NO_STRING) {
        return id;
    }
    if (map[id] == RH_NO_STRING) {
        map[id] = rh_intern_put_hashed(&to->strings, from->strings.items[id],
                                       from->strings.hashes[id], NULL);
    }
    return map[id];
}

static struct rh_value move_value(struct rh_value v, struct rh_arena *arena)
{
    if (v.tag == RH_VALUE_BYTES) {
        v.u.data = rh_arena_copy(arena, rh_span(v.u.data, v.len)).data;
    }
    return v;
}

static const void *move_array(const void *from, size_t bytes, struct rh_arena *arena)
{
    if (!from || bytes == 0) {
        return NULL;
    }
    void *to = rh_arena_alloc(arena, bytes);
    memcpy(to, from, bytes);
    return to;
}

static void keep_extra(struct rh_trace_row *row, struct rh_arena *arena)
{
    struct rh_trace_row_extra *x = rh_arena_alloc(arena, sizeof *x);
    *x = *row->extra;
    x->param_types = move_array(x->param_types, row->param_count * sizeof *x->param_types, arena);
    x->param_formats = move_array(x->param_formats, row->param_count, arena);
    x->result_formats =
        move_array(x->result_formats, x->result_format_count * sizeof *x->result_formats, arena);
    x->detail = move_value(x->detail, arena);
    row->extra = x;
}

void rh_trace_row_keep(struct rh_trace_row *row, struct rh_arena *arena)
{
    uint32_t n = row->literal_count + row->param_count;
    if (n > 0) {
        struct rh_value *values = rh_arena_alloc(arena, n * sizeof *values);
        for (uint32_t i = 0; i < n; i++) {
            values[i] = move_value(row->values[i], arena);
        }
        row->values = values;
    }
    if (row->extra != &rh_trace_row_no_extra) {
        keep_extra(row, arena);
    }
    if (row->run != &rh_trace_row_no_run) {
        row->run = move_array(row->run, sizeof *row->run, arena);
    }
}

static void move_strings(struct rh_trace_row_extra *x, const struct rh_trace_row_store *from,
                         struct rh_trace_row_store *to, uint32_t *map)
{
    x->statement_name = move_string(x->statement_name, from, to, map);
    x->portal_name = move_string(x->portal_name, from, to, map);
    x->application = move_string(x->application, from, to, map);
    x->prepare_text = move_string(x->prepare_text, from, to, map);
    x->steps = move_string(x->steps, from, to, map);
}

void rh_trace_row_move(struct rh_trace_row *row, const struct rh_trace_row_store *from,
                       struct rh_trace_row_store *to, struct rh_trace_row_maps *maps)
{
    if (row->tmpl != RH_NO_STRING) {
        if (maps->templates[row->tmpl] == RH_NO_STRING) {
            maps->templates[row->tmpl] =
                rh_trace_row_store_template(to, from->templates.items[row->tmpl]);
        }
        row->tmpl = maps->templates[row->tmpl];
    }
    row->tag = move_string(row->tag, from, to, maps->strings);
    rh_trace_row_keep(row, &to->arena);
    if (row->extra != &rh_trace_row_no_extra) {
        /* The copy that was just made. */
        move_strings((struct rh_trace_row_extra *) row->extra, from, to, maps->strings);
    }
}

static struct rh_span string_of(const struct rh_trace_row_store *store, uint32_t id)
{
    return id == RH_NO_STRING ? RH_SPAN_NONE : store->strings.items[id];
}

/* The types alone. */
static void set_param_types(const struct rh_trace_row *row, struct rh_arena *arena,
                            struct rh_record *r)
{
    struct rh_param *params = rh_arena_alloc(arena, row->param_count * sizeof *params);
    for (uint32_t i = 0; i < row->param_count; i++) {
        params[i] = (struct rh_param){.type = row->extra->param_types[i]};
    }
    r->params = params;
    r->param_count = row->param_count;
}

void rh_trace_row_record(const struct rh_trace_row *row, const struct rh_trace_row_store *store,
                         struct rh_arena *arena, struct rh_record *r)
{
    rh_record_init(r);
    r->kind = (enum rh_kind) row->kind;
    r->session = row->session->s.number;
    r->copy = row->session->s.copy;
    r->ordinal = row->ordinal;
    r->flags = row->flags;
    r->hold = (enum rh_reason) row->hold;
    r->outcome.sqlstate = row->sqlstate;
    r->statement_name = string_of(store, row->extra->statement_name);
    r->prepare_text = string_of(store, row->extra->prepare_text);
    r->steps = string_of(store, row->extra->steps);
    if (row->extra->param_types) {
        set_param_types(row, arena, r);
    }
    if (row->tmpl == RH_NO_STRING) {
        return;
    }
    r->tmpl = store->templates.items[row->tmpl];
    r->literal_count = row->literal_count;
    if (row->literal_count > 0) {
        struct rh_span *literals = rh_arena_alloc(arena, row->literal_count * sizeof *literals);
        for (uint32_t i = 0; i < row->literal_count; i++) {
            const struct rh_value *v = &row->values[i];
            literals[i] = rh_span(v->u.data, v->len);
            if (v->tag == RH_VALUE_INT) {
                char *text = rh_arena_alloc(arena, 20);
                literals[i] = rh_span(text, rh_value_format(v->u.number, text));
            }
        }
        r->literals = literals;
    }
}
