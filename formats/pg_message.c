#include "formats/pg_message.h"

#include <stddef.h>
#include <string.h>

#include "formats/packet_bytes.h"
#include "formats/record.h"

/* The string at the front of *body, without its NUL; *body moves behind it.  No data: not ended. */
static struct rh_span string_take(struct rh_span *body)
{
    const char *nul = body->len ? memchr(body->data, '\0', body->len) : NULL;
    if (!nul) {
        return RH_SPAN_NONE;
    }
    struct rh_span s = rh_span(body->data, (size_t) (nul - body->data));
    body->data += s.len + 1;
    body->len -= s.len + 1;
    return s;
}

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

/* Take " 123" off the end of *s; -1 when there is none or it does not fit. */
static int64_t count_take(struct rh_span *s)
{
    size_t at = s->len;
    while (at > 0 && is_digit(s->data[at - 1])) {
        at--;
    }
    if (at == s->len || at < 2 || s->data[at - 1] != ' ') {
        return RH_COUNT_UNKNOWN;
    }
    int64_t value = 0;
    for (size_t i = at; i < s->len; i++) {
        if (__builtin_mul_overflow(value, 10, &value) ||
            __builtin_add_overflow(value, s->data[i] - '0', &value)) {
            return RH_COUNT_UNKNOWN;
        }
    }
    s->len = at - 1;
    return value;
}

int rh_pg_tag_decode(struct rh_span body, struct rh_pg_tag *tag)
{
    struct rh_span text = string_take(&body);
    if (!text.data || body.len > 0) {
        return -1;
    }
    tag->name = text;
    tag->rows = count_take(&tag->name);
    /* INSERT has an OID before its count: cmdtag.c, always 0 since version 12. */
    if (tag->rows != RH_COUNT_UNKNOWN && rh_span_starts(tag->name, "INSERT ")) {
        count_take(&tag->name);
    }
    return 0;
}

/* Where the field with this code goes; NULL for one that is not kept. */
static struct rh_span *report_field(struct rh_pg_report *r, char code)
{
    switch (code) {
    case 'V':
        return &r->severity;
    case 'C':
        return &r->sqlstate;
    case 'M':
        return &r->message;
    case 'D':
        return &r->detail;
    case 'H':
        return &r->hint;
    case 'W':
        return &r->where;
    case 's':
        return &r->schema;
    case 't':
        return &r->table;
    case 'c':
        return &r->column;
    case 'n':
        return &r->constraint;
    default:
        return NULL;
    }
}

static int32_t position_read(struct rh_span value)
{
    int32_t position = 0;
    for (size_t i = 0; i < value.len; i++) {
        if (!is_digit(value.data[i]) || __builtin_mul_overflow(position, 10, &position) ||
            __builtin_add_overflow(position, value.data[i] - '0', &position)) {
            return 0;
        }
    }
    return position;
}

int rh_pg_report_decode(struct rh_span body, bool cut, struct rh_pg_report *report)
{
    *report = (struct rh_pg_report){0};
    struct rh_span localised = RH_SPAN_NONE;
    while (body.len > 0 && body.data[0] != '\0') {
        char code = body.data[0];
        body.data++;
        body.len--;
        struct rh_span value = string_take(&body);
        if (!value.data && !cut) {
            return -1;
        }
        if (!value.data) {
            value = body;
            body.len = 0;
        }
        struct rh_span *field = report_field(report, code);
        if (field) {
            *field = value;
        } else if (code == 'S') {
            localised = value;
        } else if (code == 'P') {
            report->position = position_read(value);
        }
    }
    if (!cut && body.len != 1) {
        return -1; /* the NUL that ends the fields is missing, or something follows it */
    }
    if (!report->severity.data) {
        report->severity = localised;
    }
    return 0;
}

bool rh_pg_report_is_fatal(const struct rh_pg_report *report)
{
    return rh_span_is(report->severity, "FATAL") || rh_span_is(report->severity, "PANIC");
}

char rh_pg_ready_decode(struct rh_span body)
{
    char status = '\0';
    if (body.len == 1 && (body.data[0] == 'I' || body.data[0] == 'T' || body.data[0] == 'E')) {
        status = body.data[0];
    }
    return status;
}

int rh_pg_parameter_decode(struct rh_span body, struct rh_span *name, struct rh_span *value)
{
    *name = string_take(&body);
    *value = string_take(&body);
    return name->data && value->data && body.len == 0 ? 0 : -1;
}

int rh_pg_key_decode(struct rh_span body, uint32_t *pid, struct rh_span *key)
{
    if (body.len < 4 + 4 || body.len > 4 + 256) {
        return -1;
    }
    *pid = rh_be32(body.data);
    *key = rh_span(body.data + 4, body.len - 4);
    return 0;
}

int rh_pg_row_decode(struct rh_span body, struct rh_span *values, uint32_t max)
{
    if (body.len < 2) {
        return -1;
    }
    int columns = (uint8_t) body.data[0] << 8 | (uint8_t) body.data[1];
    size_t at = 2;
    for (int i = 0; i < columns; i++) {
        if (body.len - at < 4) {
            return -1;
        }
        uint32_t len = rh_be32(body.data + at);
        at += 4;
        bool is_null = len == UINT32_MAX;
        if (!is_null && len > body.len - at) {
            return -1;
        }
        if ((uint32_t) i < max) {
            values[i] = is_null ? RH_SPAN_NONE : rh_span(body.data + at, len);
        }
        at += is_null ? 0 : len;
    }
    return at == body.len ? columns : -1;
}

int rh_pg_copy_decode(struct rh_span body, struct rh_pg_copy *copy)
{
    if (body.len < 3) {
        return -1;
    }
    copy->format = (uint8_t) body.data[0];
    copy->columns = (uint16_t) ((uint8_t) body.data[1] << 8 | (uint8_t) body.data[2]);
    /* A body cut by the scanner's bound may lack formats; more than announced is wrong. */
    return copy->format > 1 || body.len > 3 + (size_t) copy->columns * 2 ? -1 : 0;
}

int rh_pg_notification_decode(struct rh_span body, struct rh_pg_notification *n)
{
    if (body.len < 4) {
        return -1;
    }
    n->pid = rh_be32(body.data);
    body.data += 4;
    body.len -= 4;
    n->channel = string_take(&body);
    n->payload = string_take(&body);
    return n->channel.data && n->payload.data && body.len == 0 ? 0 : -1;
}
