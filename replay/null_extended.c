#include <string.h>

#include "common/alloc.h"
#include "common/hash.h"
#include "common/sql_scan.h"
#include "formats/pg_write.h"
#include "replay/null_session_parts.h"

struct rh_span rh_null_read_string(struct rh_null_reader *r)
{
    const char *nul = r->rest.len ? memchr(r->rest.data, '\0', r->rest.len) : NULL;
    if (!nul) {
        r->is_short = true;
        r->rest.len = 0;
        return RH_SPAN_LITERAL("");
    }
    struct rh_span text = rh_span(r->rest.data, (size_t) (nul - r->rest.data));
    r->rest.data += text.len + 1;
    r->rest.len -= text.len + 1;
    return text;
}

static uint32_t read_number(struct rh_null_reader *r, size_t size)
{
    uint32_t value = 0;
    if (r->rest.len < size) {
        r->is_short = true;
        r->rest.len = 0;
        return 0;
    }
    for (size_t i = 0; i < size; i++) {
        value = value << 8 | (uint8_t) r->rest.data[i];
    }
    r->rest.data += size;
    r->rest.len -= size;
    return value;
}

uint32_t rh_null_read_be16(struct rh_null_reader *r)
{
    return read_number(r, 2);
}

uint32_t rh_null_read_be32(struct rh_null_reader *r)
{
    return read_number(r, 4);
}

void rh_null_read_skip(struct rh_null_reader *r, size_t n)
{
    if (n > r->rest.len) {
        r->is_short = true;
        n = r->rest.len;
    }
    r->rest.data += n;
    r->rest.len -= n;
}

static void prepared_free(struct rh_null_prepared *p)
{
    rh_free(p->types);
    rh_free(p);
}

void rh_null_prepared_forget(struct rh_null_session *s, uint64_t name_hash)
{
    struct rh_null_prepared *p = rh_map_remove(&s->prepared, name_hash);
    if (p) {
        prepared_free(p);
    }
}

void rh_null_prepared_forget_all(struct rh_null_session *s)
{
    struct rh_null_prepared *p;
    for (size_t pos = 0; (p = rh_map_next(&s->prepared, &pos, NULL)) != NULL;) {
        prepared_free(p);
    }
    rh_map_release(&s->prepared);
    rh_map_init(&s->prepared);
}

void rh_null_portals_forget_all(struct rh_null_session *s)
{
    struct rh_null_portal *p;
    s->unnamed_portal.exists = false;
    if (s->portals.cap == 0) {
        return;
    }
    for (size_t pos = 0; (p = rh_map_next(&s->portals, &pos, NULL)) != NULL;) {
        rh_free(p);
    }
    rh_map_release(&s->portals);
    rh_map_init(&s->portals);
}

static struct rh_null_prepared *find_prepared(struct rh_null_session *s, struct rh_span name)
{
    struct rh_null_prepared *p =
        name.len ? rh_map_get(&s->prepared, rh_hash(name)) : &s->unnamed_prepared;
    return p && p->exists ? p : NULL;
}

static struct rh_null_portal *find_portal(struct rh_null_session *s, struct rh_span name)
{
    struct rh_null_portal *p =
        name.len ? rh_map_get(&s->portals, rh_hash(name)) : &s->unnamed_portal;
    return p && p->exists ? p : NULL;
}

/* The greatest $n of a text. */
static uint32_t count_params(struct rh_span text)
{
    struct rh_sql_scan scan;
    struct rh_sql_token token;
    uint32_t most = 0;
    if (!text.len || !memchr(text.data, '$', text.len)) {
        return 0;
    }
    rh_sql_scan_init(&scan, text, false);
    while ((token = rh_sql_scan_next(&scan)).kind != RH_SQL_END) {
        uint32_t n = 0;
        for (size_t i = 1; token.kind == RH_SQL_PARAM && i < token.len && n <= RH_PG_COUNT_MAX;
             i++) {
            n = n * 10 + (uint32_t) (text.data[token.start + i] - '0');
        }
        most = n > most && n <= RH_PG_COUNT_MAX ? n : most;
    }
    return most;
}

/* What the text's only command is answered with.  -1: it has several. */
static int answer_text(struct rh_null_session *s, struct rh_span text, struct rh_null_answer *a)
{
    struct rh_sql_commands commands;
    struct rh_sql_command command, another;
    rh_sql_commands_init(&commands, text, false);
    if (rh_sql_commands_next(&commands, &command) == 0) {
        *a = (struct rh_null_answer){.reply = RH_NULL_EMPTY, .klass = RH_SQL_CLASS_EMPTY};
        return 0;
    }
    rh_null_answer_make(a, &command, s->options);
    return rh_sql_commands_next(&commands, &another) == 1 ? -1 : 0;
}

static void keep_types(struct rh_null_prepared *p, struct rh_null_reader *body)
{
    uint32_t count = rh_null_read_be16(body);
    count = count <= body->rest.len / 4 ? count : (uint32_t) (body->rest.len / 4);
    if (count > 0) {
        p->types = rh_realloc(p->types, count, sizeof *p->types);
    }
    for (uint32_t i = 0; i < count; i++) {
        p->types[i] = rh_null_read_be32(body);
    }
    p->type_count = count;
}

static enum rh_null_turn take_parse(struct rh_null_session *s, struct rh_null_reader *body,
                                    struct rh_buf *out)
{
    struct rh_span name = rh_null_read_string(body);
    /* A text that was cut has no end. */
    struct rh_span text = body->rest;
    const char *nul = text.len ? memchr(text.data, '\0', text.len) : NULL;
    text.len = nul ? (size_t) (nul - text.data) : text.len;
    rh_null_read_skip(body, text.len + 1);
    struct rh_null_answer answer;
    if (answer_text(s, text, &answer) != 0) {
        rh_null_session_error(s, "42601",
                              "cannot insert multiple commands into a prepared statement", out);
    } else if (rh_null_session_is_failed(s, &answer)) {
        rh_null_session_error(s, "25P02", RH_NULL_FAILED_TEXT, out);
    } else if (name.len && find_prepared(s, name)) {
        rh_null_session_error(s, "42P05", "prepared statement already exists", out);
    } else if (s->prepared.count >= RH_NULL_OBJECTS_MAX) {
        rh_null_session_error(s, "53200", "too many prepared statements", out);
    } else {
        struct rh_null_prepared *p = &s->unnamed_prepared;
        if (name.len) {
            p = rh_calloc(1, sizeof *p);
            rh_map_put(&s->prepared, rh_hash(name), p);
        }
        p->exists = true;
        p->answer = answer;
        keep_types(p, body);
        p->param_count = count_params(text);
        p->param_count = p->type_count > p->param_count ? p->type_count : p->param_count;
        rh_null_write_empty(out, '1');
    }
    return RH_NULL_READS;
}

/* The formats of the result's columns, behind the parameters. */
static uint64_t read_binary_mask(struct rh_null_reader *body)
{
    uint32_t formats = rh_null_read_be16(body);
    rh_null_read_skip(body, (size_t) formats * 2);
    uint32_t params = rh_null_read_be16(body);
    for (uint32_t i = 0; i < params && !body->is_short; i++) {
        uint32_t length = rh_null_read_be32(body);
        rh_null_read_skip(body, length == UINT32_MAX ? 0 : length);
    }
    uint32_t results = rh_null_read_be16(body);
    uint64_t mask = 0;
    for (uint32_t i = 0; i < results && !body->is_short; i++) {
        uint64_t is_binary = rh_null_read_be16(body) & 1;
        if (results == 1) {
            return is_binary ? UINT64_MAX : 0;
        }
        mask |= i < 64 ? is_binary << i : 0;
    }
    return mask;
}

static enum rh_null_turn take_bind(struct rh_null_session *s, struct rh_null_reader *body,
                                   struct rh_buf *out)
{
    struct rh_span name = rh_null_read_string(body);
    struct rh_null_prepared *prepared = find_prepared(s, rh_null_read_string(body));
    if (!prepared) {
        rh_null_session_error(s, "26000", "prepared statement does not exist", out);
        return RH_NULL_READS;
    }
    if (rh_null_session_is_failed(s, &prepared->answer)) {
        rh_null_session_error(s, "25P02", RH_NULL_FAILED_TEXT, out);
        return RH_NULL_READS;
    }
    if (name.len && find_portal(s, name)) {
        rh_null_session_error(s, "42P03", "portal already exists", out);
        return RH_NULL_READS;
    }
    if (s->portals.count >= RH_NULL_OBJECTS_MAX) {
        rh_null_session_error(s, "53200", "too many portals", out);
        return RH_NULL_READS;
    }
    struct rh_null_portal *p = &s->unnamed_portal;
    if (name.len) {
        p = rh_malloc(sizeof *p);
        rh_map_put(&s->portals, rh_hash(name), p);
    }
    *p = (struct rh_null_portal){
        .answer = prepared->answer,
        .exists = true,
        .left = prepared->answer.rows,
        .binary_mask = read_binary_mask(body),
    };
    rh_null_write_empty(out, '2');
    return RH_NULL_READS;
}

static void describe_rows(struct rh_null_session *s, const struct rh_null_answer *a,
                          uint64_t binary_mask, struct rh_buf *out)
{
    if (a->reply == RH_NULL_ROWS) {
        struct rh_null_shape shape = rh_null_session_shape(s, a, binary_mask);
        rh_null_write_description(out, &shape);
    } else {
        rh_null_write_empty(out, 'n');
    }
}

static enum rh_null_turn take_describe(struct rh_null_session *s, struct rh_null_reader *body,
                                       struct rh_buf *out)
{
    char what = body->rest.len ? body->rest.data[0] : '\0';
    rh_null_read_skip(body, 1);
    struct rh_span name = rh_null_read_string(body);
    struct rh_null_prepared *prepared = what == 'S' ? find_prepared(s, name) : NULL;
    struct rh_null_portal *portal = what == 'P' ? find_portal(s, name) : NULL;
    if (prepared) {
        rh_null_write_params(out, prepared->types, prepared->type_count, prepared->param_count);
        describe_rows(s, &prepared->answer, 0, out);
    } else if (portal) {
        describe_rows(s, &portal->answer, portal->binary_mask, out);
    } else if (what == 'S') {
        rh_null_session_error(s, "26000", "prepared statement does not exist", out);
    } else {
        rh_null_session_error(s, "34000", "portal does not exist", out);
    }
    return RH_NULL_READS;
}

static enum rh_null_turn take_execute(struct rh_null_session *s, struct rh_null_reader *body,
                                      struct rh_buf *out)
{
    struct rh_null_portal *portal = find_portal(s, rh_null_read_string(body));
    uint32_t limit = rh_null_read_be32(body);
    if (!portal) {
        rh_null_session_error(s, "34000", "portal does not exist", out);
        return RH_NULL_READS;
    }
    return rh_null_portal_run(s, portal, limit > INT32_MAX ? 0 : limit, out);
}

static enum rh_null_turn take_close(struct rh_null_session *s, struct rh_null_reader *body,
                                    struct rh_buf *out)
{
    char what = body->rest.len ? body->rest.data[0] : '\0';
    rh_null_read_skip(body, 1);
    struct rh_span name = rh_null_read_string(body);
    if (what == 'S' && name.len) {
        rh_null_prepared_forget(s, rh_hash(name));
    } else if (what == 'S') {
        s->unnamed_prepared.exists = false;
    } else if (name.len) {
        rh_free(rh_map_remove(&s->portals, rh_hash(name)));
    } else {
        s->unnamed_portal.exists = false;
    }
    rh_null_write_empty(out, '3');
    return RH_NULL_READS;
}

enum rh_null_turn rh_null_extended_take(struct rh_null_session *s, const struct rh_pg_event *ev,
                                        struct rh_buf *out)
{
    struct rh_null_reader body = {.rest = ev->body};
    enum rh_null_turn turn = RH_NULL_READS;
    if (ev->type == 'S') {
        s->skipping = false;
        rh_null_session_ready(s, out);
        return turn;
    }
    if (ev->type == 'H' || s->skipping) {
        return turn;
    }
    switch (ev->type) {
    case 'P':
        turn = take_parse(s, &body, out);
        break;
    case 'B':
        turn = take_bind(s, &body, out);
        break;
    case 'D':
        turn = take_describe(s, &body, out);
        break;
    case 'E':
        turn = take_execute(s, &body, out);
        break;
    default:
        turn = take_close(s, &body, out);
        break;
    }
    if (body.is_short && !ev->body_cut) {
        return rh_null_session_fatal(s, "08P01", "a message ends before its time", out);
    }
    return turn;
}
