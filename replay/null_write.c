#include "replay/null_write.h"

#include <string.h>

#include "formats/record.h"

enum { OID_TEXT = 25, PROTOCOL_3 = 3 << 16 };

static size_t begin(struct rh_buf *out, char type)
{
    rh_buf_add_byte(out, (uint8_t) type);
    rh_buf_add_be32(out, 0);
    return out->len - 4;
}

static void end(struct rh_buf *out, size_t length_at)
{
    if (out->over) {
        return;
    }
    size_t n = out->len - length_at;
    char *at = out->data + length_at;
    at[0] = (char) (n >> 24);
    at[1] = (char) (n >> 16);
    at[2] = (char) (n >> 8);
    at[3] = (char) n;
}

static void add_text(struct rh_buf *out, const char *text)
{
    rh_buf_add(out, text, strlen(text) + 1);
}

/* "1xxx": a number for who wants one. */
static void add_fill(struct rh_buf *out, uint32_t width)
{
    char *at = rh_buf_reserve(out, width);
    if (at && width > 0) {
        memset(at, 'x', width);
        at[0] = '1';
        out->len += width;
    }
}

void rh_null_write_empty(struct rh_buf *out, char type)
{
    end(out, begin(out, type));
}

void rh_null_write_authenticated(struct rh_buf *out)
{
    size_t at = begin(out, 'R');
    rh_buf_add_be32(out, 0);
    end(out, at);
}

void rh_null_write_negotiate(struct rh_buf *out, uint32_t minor, const struct rh_span *options,
                             uint32_t count)
{
    size_t at = begin(out, 'v');
    rh_buf_add_be32(out, PROTOCOL_3 | minor);
    rh_buf_add_be32(out, count);
    for (uint32_t i = 0; i < count; i++) {
        rh_buf_add_span(out, options[i]);
        rh_buf_add_byte(out, 0);
    }
    end(out, at);
}

void rh_null_write_parameter(struct rh_buf *out, const char *name, struct rh_span value)
{
    size_t at = begin(out, 'S');
    add_text(out, name);
    rh_buf_add_span(out, value);
    rh_buf_add_byte(out, 0);
    end(out, at);
}

void rh_null_write_key(struct rh_buf *out, uint32_t pid, struct rh_span key)
{
    size_t at = begin(out, 'K');
    rh_buf_add_be32(out, pid);
    rh_buf_add_span(out, key);
    end(out, at);
}

void rh_null_write_ready(struct rh_buf *out, char status)
{
    size_t at = begin(out, 'Z');
    rh_buf_add_byte(out, (uint8_t) status);
    end(out, at);
}

/* Without printf: a tag is written for every statement. */
static void add_number(struct rh_buf *out, uint64_t value)
{
    char digits[20];
    size_t at = sizeof digits;
    do {
        digits[--at] = (char) ('0' + value % 10);
        value /= 10;
    } while (value > 0);
    rh_buf_add(out, digits + at, sizeof digits - at);
}

void rh_null_write_tag(struct rh_buf *out, const char *tag, int64_t count)
{
    size_t at = begin(out, 'C');
    rh_buf_add_cstr(out, tag);
    if (count >= 0) {
        rh_buf_add_byte(out, ' ');
        add_number(out, (uint64_t) count);
    }
    rh_buf_add_byte(out, 0);
    end(out, at);
}

void rh_null_write_error(struct rh_buf *out, const struct rh_null_error *error)
{
    char state[6];
    rh_sqlstate_unpack(error->sqlstate, state);
    const struct {
        char code;
        const char *text;
    } fields[] = {
        {'S', error->severity}, {'V', error->severity}, {'C', state}, {'M', error->message}};
    size_t at = begin(out, 'E');
    for (size_t i = 0; i < sizeof fields / sizeof fields[0]; i++) {
        rh_buf_add_byte(out, (uint8_t) fields[i].code);
        add_text(out, fields[i].text);
    }
    rh_buf_add_byte(out, 0);
    end(out, at);
}

void rh_null_write_params(struct rh_buf *out, const uint32_t *types, uint32_t type_count,
                          uint32_t count)
{
    size_t at = begin(out, 't');
    rh_buf_add_be16(out, (uint16_t) count);
    for (uint32_t i = 0; i < count; i++) {
        rh_buf_add_be32(out, i < type_count && types[i] ? types[i] : OID_TEXT);
    }
    end(out, at);
}

void rh_null_write_description(struct rh_buf *out, const struct rh_null_shape *shape)
{
    size_t at = begin(out, 'T');
    rh_buf_add_be16(out, (uint16_t) shape->columns);
    for (uint32_t i = 0; i < shape->columns; i++) {
        add_text(out, "?column?");
        rh_buf_add_be32(out, 0); /* of no table */
        rh_buf_add_be16(out, 0);
        rh_buf_add_be32(out, OID_TEXT);
        rh_buf_add_be16(out, UINT16_MAX); /* of any length */
        rh_buf_add_be32(out, UINT32_MAX); /* no modifier */
        rh_buf_add_be16(out, shape->binary_mask >> i & 1);
    }
    end(out, at);
}

/* The binary form of a text is the text. */
static void add_value(struct rh_buf *out, const struct rh_null_shape *shape, uint32_t column)
{
    if (column == 0 && shape->value) {
        rh_buf_add_cstr(out, shape->value);
    } else {
        add_fill(out, shape->width);
    }
}

static uint32_t value_length(const struct rh_null_shape *shape, uint32_t column)
{
    return column == 0 && shape->value ? (uint32_t) strlen(shape->value) : shape->width;
}

void rh_null_write_row(struct rh_buf *out, const struct rh_null_shape *shape)
{
    size_t at = begin(out, 'D');
    rh_buf_add_be16(out, (uint16_t) shape->columns);
    for (uint32_t i = 0; i < shape->columns; i++) {
        rh_buf_add_be32(out, value_length(shape, i));
        add_value(out, shape, i);
    }
    end(out, at);
}

void rh_null_write_copy(struct rh_buf *out, char type, uint32_t columns)
{
    size_t at = begin(out, type);
    rh_buf_add_byte(out, 0);
    rh_buf_add_be16(out, (uint16_t) columns);
    for (uint32_t i = 0; i < columns; i++) {
        rh_buf_add_be16(out, 0);
    }
    end(out, at);
}

void rh_null_write_copy_row(struct rh_buf *out, const struct rh_null_shape *shape)
{
    size_t at = begin(out, 'd');
    for (uint32_t i = 0; i < shape->columns; i++) {
        add_value(out, shape, i);
        rh_buf_add_byte(out, i + 1 < shape->columns ? '\t' : '\n');
    }
    end(out, at);
}

void rh_null_write_function(struct rh_buf *out, struct rh_span value)
{
    size_t at = begin(out, 'V');
    rh_buf_add_be32(out, (uint32_t) value.len);
    rh_buf_add_span(out, value);
    end(out, at);
}
