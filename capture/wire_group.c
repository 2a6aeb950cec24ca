#include "capture/wire_group.h"

#include <string.h>

enum {
    BYTES_KEEP = 4096,
    STEPS_MAX = 1 << 16, /* bytes: two a message */
    AWAITS_MAX = 255,
};

/* Its messages are bounded by the tracker, but may be many.  A part's place has 32 bits. */
static const size_t BYTES_MAX = (size_t) 1 << 30;

void rh_wire_group_init(struct rh_wire_group *g)
{
    memset(g, 0, sizeof *g);
    rh_buf_init(&g->bytes, BYTES_MAX);
    rh_buf_init(&g->steps, STEPS_MAX);
    rh_buf_init(&g->copy, BYTES_MAX);
    rh_wire_group_clear(g);
}

void rh_wire_group_release(struct rh_wire_group *g)
{
    rh_buf_release(&g->bytes);
    rh_buf_release(&g->steps);
    rh_buf_release(&g->copy);
}

static void buf_reuse(struct rh_buf *b)
{
    if (b->cap > BYTES_KEEP) {
        rh_buf_release(b);
    }
    rh_buf_clear(b);
}

void rh_wire_group_clear(struct rh_wire_group *g)
{
    const size_t from = offsetof(struct rh_wire_group, next);
    memset((char *) g + from, 0, offsetof(struct rh_wire_group, outcome) - from);
    g->kind = RH_KIND_PROTOCOL;
    g->parse_step = SIZE_MAX;
    g->copy_step = SIZE_MAX;
    buf_reuse(&g->bytes);
    buf_reuse(&g->steps);
    buf_reuse(&g->copy);
    rh_outcome_clear(&g->outcome);
}

size_t rh_wire_group_bytes(const struct rh_wire_group *g)
{
    return sizeof *g + g->bytes.cap + g->steps.cap + g->copy.cap;
}

struct rh_span rh_wire_group_span(const struct rh_wire_group *g, struct rh_wire_part part)
{
    return part.set ? rh_span(rh_buf_span(&g->bytes).data + part.at, part.len) : RH_SPAN_NONE;
}

struct rh_wire_part rh_wire_group_put(struct rh_wire_group *g, struct rh_span s)
{
    struct rh_wire_part part = {(uint32_t) g->bytes.len, (uint32_t) s.len, s.data != NULL};
    if (s.data && rh_buf_add_span(&g->bytes, s) != 0) {
        g->cut = true;
        part.set = false;
    }
    return part;
}

void rh_wire_said_decode(struct rh_wire_said *said, const struct rh_pg_wire_event *ev)
{
    char object;
    int rc = 0;
    said->type = ev->message;
    said->name = RH_SPAN_NONE;
    said->row_limit = 0;
    switch (ev->message) {
    case 'Q':
        rc = rh_pg_query_decode(ev->body, &said->text);
        break;
    case 'P':
        rc = rh_pg_parse_decode(ev->body, &said->parse);
        said->name = said->parse.name;
        break;
    case 'B':
        rc = rh_pg_bind_decode(ev->body, &said->bound);
        said->name = said->bound.portal;
        break;
    case 'E':
        rc = rh_pg_execute_decode(ev->body, &said->name, &said->row_limit);
        break;
    case 'D':
    case 't':
    case 'C':
    case 'p':
        rc = rh_pg_target_decode(ev->body, &object, &said->name);
        break;
    default:
        break;
    }
    said->bad = rc != 0 || ev->body_cut;
}

static bool agrees(const struct rh_wire_group *g, struct rh_wire_part part, struct rh_span name)
{
    struct rh_span own = rh_wire_group_span(g, part);
    return !part.set ||
           (own.len == name.len && (name.len == 0 || memcmp(own.data, name.data, name.len) == 0));
}

bool rh_wire_group_takes(const struct rh_wire_group *g, const struct rh_wire_said *said)
{
    bool executed = g->kind != RH_KIND_PROTOCOL;
    if (said->type == 'H') {
        return !g->synced;
    }
    if (said->type == 'S') {
        return !g->synced || g->copy_step != SIZE_MAX;
    }
    if (executed || g->synced || said->bad) {
        return false;
    }
    switch (said->type) {
    case 'P':
        return g->parse_step == SIZE_MAX && !g->has_bind && agrees(g, g->statement, said->name);
    case 'B':
        return !g->has_bind && agrees(g, g->statement, said->bound.statement) &&
               agrees(g, g->portal, said->bound.portal) &&
               g->types.len / 4 <= said->bound.values.count;
    case 't':
    case 'C':
        return agrees(g, g->statement, said->name);
    case 'D':
    case 'p':
    case 'E':
        return agrees(g, g->portal, said->name);
    default: /* Query, FunctionCall */
        return false;
    }
}

/* How a list of formats was written: the shortest way, one for all, or one each. */
static char formats_step(const struct rh_pg_values *v, char shortest, char one, char each)
{
    bool all_text = true;
    bool all_same = true;
    for (uint32_t i = 0; i < v->format_count; i++) {
        const char *f = v->formats.data + (size_t) i * 2;
        all_text = all_text && f[0] == 0 && f[1] == 0;
        all_same = all_same && memcmp(f, v->formats.data, 2) == 0;
    }
    uint32_t count = v->count == 0 || all_text ? 0 : all_same ? 1 : v->count;
    return v->format_count == count ? shortest : v->format_count == 1 ? one : each;
}

static void add_step(struct rh_wire_group *g, char type, uint32_t awaits)
{
    uint8_t step[2] = {(uint8_t) type, (uint8_t) (awaits < AWAITS_MAX ? awaits : AWAITS_MAX)};
    if (rh_buf_add(&g->steps, step, sizeof step) != 0) {
        g->cut = true;
    }
}

static void add_name(struct rh_wire_group *g, struct rh_wire_part *part, struct rh_span name)
{
    if (!part->set) {
        *part = rh_wire_group_put(g, name);
    }
}

static char add_bind(struct rh_wire_group *g, const struct rh_wire_said *said, struct rh_span body)
{
    g->has_bind = true;
    g->body = rh_wire_group_put(g, body);
    if (said->bad) {
        return 'B';
    }
    add_name(g, &g->statement, said->bound.statement);
    add_name(g, &g->portal, said->bound.portal);
    return formats_step(&said->bound.values, 'B', 'O', 'A');
}

static char add_call(struct rh_wire_group *g, struct rh_span body)
{
    struct rh_pg_call call;
    g->kind = RH_KIND_FUNCTION;
    g->synced = true;
    g->body = rh_wire_group_put(g, body);
    if (rh_pg_call_decode(body, &call) != 0) {
        g->cut = true;
        return 'F';
    }
    return formats_step(&call.values, 'F', 'o', 'a');
}

void rh_wire_group_add(struct rh_wire_group *g, const struct rh_wire_said *said,
                       const struct rh_pg_wire_event *ev)
{
    char step = said->type;
    g->cut = g->cut || said->bad;
    switch (said->type) {
    case 'Q':
        g->kind = RH_KIND_QUERY;
        g->synced = true;
        /* Of a cut message what is there is the beginning of the text. */
        g->text = rh_wire_group_put(g, said->bad ? ev->body : said->text);
        break;
    case 'P':
        g->parse_step = g->steps.len;
        if (!said->bad) {
            add_name(g, &g->statement, said->name);
            g->text = rh_wire_group_put(g, said->parse.text);
            g->types = rh_wire_group_put(g, said->parse.types);
        }
        break;
    case 'B':
        step = add_bind(g, said, ev->body);
        break;
    case 'F':
        step = add_call(g, ev->body);
        break;
    case 'E':
        g->kind = RH_KIND_EXECUTE;
        g->row_limit = said->row_limit;
        add_name(g, &g->portal, said->name);
        break;
    case 'D':
    case 'p':
        add_name(g, &g->portal, said->name);
        break;
    case 't':
    case 'C':
        add_name(g, &g->statement, said->name);
        break;
    case 'S':
        g->synced = true;
        break;
    default:
        break;
    }
    add_step(g, step, ev->awaits);
    if (said->type != 'H') {
        g->next_serial = ev->serial + 1;
    }
}

void rh_wire_group_add_copy(struct rh_wire_group *g, const struct rh_pg_wire_event *ev)
{
    if (g->copy_step == SIZE_MAX) {
        g->copy_step = g->steps.len;
        add_step(g, 'd', ev->awaits);
    }
    if (ev->body_cut || ev->body.len > UINT32_MAX - 4) {
        g->copy_cut = true;
        return;
    }
    rh_buf_add_byte(&g->copy, (uint8_t) ev->message);
    rh_buf_add_be32(&g->copy, (uint32_t) ev->body.len + 4);
    rh_buf_add_span(&g->copy, ev->body);
    g->copy_cut = g->copy_cut || g->copy.over;
    g->copy_messages++;
}
