#include "diff/escape.h"

#include <stdbool.h>
#include <string.h>

#include "diff/human.h"

#define REPLACEMENT "\xef\xbf\xbd" /* U+FFFD */

int32_t rh_utf8_next(struct rh_span s, size_t *len)
{
    static const uint32_t smallest[] = {0, 0, 0x80, 0x800, 0x10000};
    const unsigned char *p = (const unsigned char *) s.data;
    size_t n = p[0] < 0x80 ? 1 : p[0] < 0xc2 ? 0 : p[0] < 0xe0 ? 2 : p[0] < 0xf0 ? 3 : 4;

    *len = 1;
    if (n == 1) {
        return p[0];
    }
    if (n == 0 || p[0] > 0xf4 || n > s.len) {
        return -1;
    }
    uint32_t c = p[0] & (0x7fU >> n);
    for (size_t i = 1; i < n; i++) {
        if ((p[i] & 0xc0) != 0x80) {
            return -1;
        }
        c = c << 6 | (p[i] & 0x3fU);
    }
    if (c < smallest[n] || c > 0x10ffff || (c >= 0xd800 && c <= 0xdfff)) {
        return -1;
    }
    *len = n;
    return (int32_t) c;
}

/* Controls but tab and line breaks, surrogates, and the two last of the plane: XML 1.0, 2.2. */
static bool is_text(int32_t c)
{
    return c == '\t' || c == '\n' || c == '\r' || (c >= 0x20 && c != 0xfffe && c != 0xffff);
}

void rh_escape_csv(struct rh_buf *out, struct rh_span s)
{
    rh_buf_add_byte(out, '"');
    if (s.len > 0 && memchr("=+-@\t\r", s.data[0], 6)) {
        rh_buf_add_byte(out, '\'');
    }
    for (size_t i = 0, len = 1; i < s.len; i += len) {
        int32_t c = rh_utf8_next(rh_span(s.data + i, s.len - i), &len);
        if (!is_text(c)) {
            rh_buf_add_cstr(out, REPLACEMENT);
            continue;
        }
        if (c == '"') {
            rh_buf_add_byte(out, '"');
        }
        rh_buf_add(out, s.data + i, len);
    }
    rh_buf_add_byte(out, '"');
}

void rh_escape_xml(struct rh_buf *out, struct rh_span s)
{
    for (size_t i = 0, len = 1; i < s.len; i += len) {
        int32_t c = rh_utf8_next(rh_span(s.data + i, s.len - i), &len);
        if (!is_text(c)) {
            rh_buf_add_cstr(out, REPLACEMENT);
        } else if (c < 0x20 || c == '&' || c == '<' || c == '>' || c == '"') {
            rh_buf_addf(out, "&#%d;", (int) c);
        } else {
            rh_buf_add(out, s.data + i, len);
        }
    }
}

static bool is_punctuation(char c)
{
    return (c >= '!' && c <= '/') || (c >= ':' && c <= '@') || (c >= '[' && c <= '`') ||
           (c >= '{' && c <= '~');
}

/* A backtick would end the code; a bar ends a cell of a table, and a backslash may stand before
 * one. */
static bool needs_references(struct rh_span s)
{
    return memchr(s.data, '`', s.len) || memchr(s.data, '|', s.len) || memchr(s.data, '\\', s.len);
}

void rh_escape_markdown(struct rh_buf *out, struct rh_span s, unsigned max_columns)
{
    struct rh_buf line;
    rh_buf_init(&line, 8 * (size_t) max_columns + 8);
    rh_human_text(&line, s, max_columns);
    struct rh_span text = rh_buf_span(&line);
    if (text.len > 0 && !needs_references(text)) {
        rh_buf_add_byte(out, '`');
        rh_buf_add_span(out, text);
        rh_buf_add_byte(out, '`');
    } else if (text.len > 0) {
        rh_buf_add_cstr(out, "<code>");
        for (size_t i = 0; i < text.len; i++) {
            if (is_punctuation(text.data[i])) {
                rh_buf_addf(out, "&#%d;", text.data[i]);
            } else {
                rh_buf_add(out, text.data + i, 1);
            }
        }
        rh_buf_add_cstr(out, "</code>");
    }
    rh_buf_release(&line);
}
