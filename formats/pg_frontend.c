#include "formats/pg_frontend.h"

#include <string.h>

#include "formats/packet_bytes.h"

/* What is left of a body while it is read.  After a wrong read all later ones fail too. */
struct cursor {
    const char *at;
    size_t left;
    bool bad;
};

static struct cursor cursor_over(struct rh_span body)
{
    return (struct cursor){body.data, body.len, false};
}

static struct rh_span take(struct cursor *c, size_t n)
{
    if (c->bad || n > c->left) {
        c->bad = true;
        return RH_SPAN_NONE;
    }
    struct rh_span s = rh_span(c->at, n);
    c->at += n;
    c->left -= n;
    return s;
}

static uint16_t take16(struct cursor *c)
{
    struct rh_span s = take(c, 2);
    return s.data ? rh_be16(s.data) : 0;
}

static uint32_t take32(struct cursor *c)
{
    struct rh_span s = take(c, 4);
    return s.data ? rh_be32(s.data) : 0;
}

/* Most are the empty name of a portal or a statement. */
static struct rh_span take_string(struct cursor *c)
{
    if (!c->bad && c->left > 0 && *c->at == '\0') {
        return rh_span(take(c, 1).data, 0);
    }
    const char *nul = c->bad || c->left == 0 ? NULL : memchr(c->at, '\0', c->left);
    if (!nul) {
        c->bad = true;
        return RH_SPAN_NONE;
    }
    struct rh_span s = take(c, (size_t) (nul - c->at) + 1);
    s.len--;
    return s;
}

static int verdict(const struct cursor *c)
{
    return c->bad || c->left > 0 ? -1 : 0;
}

uint32_t rh_pg_untyped_code(struct rh_span body)
{
    return body.len >= 4 ? rh_be32(body.data) : 0;
}

struct rh_span rh_pg_startup_rest(struct rh_span body)
{
    return body.len >= 4 ? rh_span(body.data + 4, body.len - 4) : RH_SPAN_NONE;
}

bool rh_pg_startup_next(struct rh_span *rest, struct rh_span *name, struct rh_span *value)
{
    struct cursor c = cursor_over(*rest);
    *name = take_string(&c);
    *value = take_string(&c);
    *rest = rh_span(c.at, c.left);
    return !c.bad && name->len > 0;
}

int rh_pg_cancel_decode(struct rh_span body, uint32_t *pid, struct rh_span *key)
{
    if (rh_pg_untyped_code(body) != RH_PG_CODE_CANCEL || body.len < 4 + 4 + 4 ||
        body.len > 4 + 4 + 256) {
        return -1;
    }
    *pid = rh_be32(body.data + 4);
    *key = rh_span(body.data + 8, body.len - 8);
    return 0;
}

int rh_pg_query_decode(struct rh_span body, struct rh_span *text)
{
    struct cursor c = cursor_over(body);
    *text = take_string(&c);
    return verdict(&c);
}

int rh_pg_parse_decode(struct rh_span body, struct rh_pg_parse *parse)
{
    struct cursor c = cursor_over(body);
    parse->name = take_string(&c);
    parse->text = take_string(&c);
    parse->type_count = take16(&c);
    parse->types = take(&c, (size_t) parse->type_count * 4);
    return verdict(&c);
}

uint32_t rh_pg_parse_type(const struct rh_pg_parse *parse, uint32_t i)
{
    return i < parse->type_count ? rh_be32(parse->types.data + (size_t) i * 4) : 0;
}

static void take_values(struct cursor *c, struct rh_pg_values *v)
{
    v->format_count = take16(c);
    v->formats = take(c, (size_t) v->format_count * 2);
    v->count = take16(c);
    const char *from = c->at;
    for (uint32_t i = 0; i < v->count && !c->bad; i++) {
        uint32_t len = take32(c);
        if (len != UINT32_MAX) {
            take(c, len);
        }
    }
    v->values = c->bad ? RH_SPAN_NONE : rh_span(from, (size_t) (c->at - from));
    /* One format for each value, or for all: anything else is refused by the server. */
    c->bad = c->bad || (v->format_count > 1 && v->format_count != v->count);
}

void rh_pg_values_read(const struct rh_pg_values *values, struct rh_param *params)
{
    const char *at = values->values.data;
    for (uint32_t i = 0; i < values->count; i++) {
        uint32_t len = rh_be32(at);
        uint32_t f = values->format_count == 1 ? 0 : i;
        at += 4;
        params[i] = (struct rh_param){
            .data = len == UINT32_MAX ? NULL : at,
            .len = len == UINT32_MAX ? 0 : len,
            .format =
                f < values->format_count && rh_be16(values->formats.data + (size_t) f * 2) == 1,
        };
        at += params[i].len;
    }
}

int rh_pg_bind_decode(struct rh_span body, struct rh_pg_bound *bound)
{
    struct cursor c = cursor_over(body);
    bound->portal = take_string(&c);
    bound->statement = take_string(&c);
    take_values(&c, &bound->values);
    bound->result_format_count = take16(&c);
    bound->result_formats = take(&c, (size_t) bound->result_format_count * 2);
    return verdict(&c);
}

void rh_pg_result_formats_read(const struct rh_pg_bound *bound, uint16_t *formats)
{
    for (uint32_t i = 0; i < bound->result_format_count; i++) {
        formats[i] = rh_be16(bound->result_formats.data + (size_t) i * 2);
    }
}

int rh_pg_call_decode(struct rh_span body, struct rh_pg_call *call)
{
    struct cursor c = cursor_over(body);
    call->function_oid = take32(&c);
    take_values(&c, &call->values);
    call->result_format = take16(&c);
    return verdict(&c);
}

int rh_pg_execute_decode(struct rh_span body, struct rh_span *portal, int32_t *row_limit)
{
    struct cursor c = cursor_over(body);
    *portal = take_string(&c);
    *row_limit = (int32_t) take32(&c);
    return verdict(&c);
}

int rh_pg_target_decode(struct rh_span body, char *object, struct rh_span *name)
{
    struct cursor c = cursor_over(body);
    struct rh_span kind = take(&c, 1);
    *object = kind.len > 0 ? kind.data[0] : '\0';
    *name = take_string(&c);
    return verdict(&c) != 0 || (*object != 'S' && *object != 'P') ? -1 : 0;
}
