#include "common/json.h"

#include <assert.h>
#include <math.h>
#include <string.h>

#include "common/clock.h"

void rh_json_init(struct rh_json *j, struct rh_buf *out, bool pretty)
{
    *j = (struct rh_json){.out = out, .pretty = pretty};
}

static void json_break(struct rh_json *j)
{
    if (j->pretty) {
        rh_buf_add_byte(j->out, '\n');
        for (int i = 0; i < j->depth; i++) {
            rh_buf_add(j->out, "  ", 2);
        }
    }
}

/* What stands before an item of an object or array; nothing at the top level. */
static void json_separate(struct rh_json *j)
{
    if (j->depth == 0) {
        return;
    }
    if (j->has_items[j->depth - 1]) {
        rh_buf_add_byte(j->out, ',');
    }
    j->has_items[j->depth - 1] = true;
    json_break(j);
}

static void json_before_value(struct rh_json *j)
{
    if (j->after_key) {
        j->after_key = false;
        return;
    }
    assert(j->depth == 0 || j->closers[j->depth - 1] == ']');
    json_separate(j);
}

void rh_json_open(struct rh_json *j, char bracket)
{
    assert(bracket == '{' || bracket == '[');
    assert(j->depth < RH_JSON_DEPTH_MAX);
    json_before_value(j);
    rh_buf_add_byte(j->out, (uint8_t) bracket);
    j->closers[j->depth] = bracket == '{' ? '}' : ']';
    j->has_items[j->depth] = false;
    j->depth++;
}

void rh_json_close(struct rh_json *j)
{
    assert(j->depth > 0 && !j->after_key);
    j->depth--;
    if (j->has_items[j->depth]) {
        json_break(j);
    }
    rh_buf_add_byte(j->out, (uint8_t) j->closers[j->depth]);
}

static bool is_plain(unsigned char c)
{
    return c >= 0x20 && c < 0x7f && c != '"' && c != '\\';
}

static void add_escaped(struct rh_buf *out, unsigned char c)
{
    static const char letters[] = "\"\\\b\f\n\r\t";
    static const char escapes[] = "\"\\bfnrt";
    const char *found = c ? strchr(letters, c) : NULL;
    if (found) {
        char pair[2] = {'\\', escapes[found - letters]};
        rh_buf_add(out, pair, sizeof pair);
    } else {
        rh_buf_addf(out, "\\u%04x", (unsigned) c);
    }
}

/* Length of the UTF-8 sequence of more than one byte at s, 0 if there is no valid one (RFC 3629: no
 * overlong forms, no surrogates, nothing above U+10FFFF). */
static size_t utf8_sequence(const unsigned char *s, size_t n)
{
    unsigned char low = 0x80;
    unsigned char high = 0xbf;
    size_t len;
    if (s[0] >= 0xc2 && s[0] <= 0xdf) {
        len = 2;
    } else if (s[0] >= 0xe0 && s[0] <= 0xef) {
        len = 3;
        low = s[0] == 0xe0 ? 0xa0 : low;
        high = s[0] == 0xed ? 0x9f : high;
    } else if (s[0] >= 0xf0 && s[0] <= 0xf4) {
        len = 4;
        low = s[0] == 0xf0 ? 0x90 : low;
        high = s[0] == 0xf4 ? 0x8f : high;
    } else {
        return 0;
    }
    if (len > n || s[1] < low || s[1] > high) {
        return 0;
    }
    for (size_t i = 2; i < len; i++) {
        if (s[i] < 0x80 || s[i] > 0xbf) {
            return 0;
        }
    }
    return len;
}

/* True when bytes were replaced. */
static bool add_quoted(struct rh_buf *out, struct rh_span text)
{
    const unsigned char *s = (const unsigned char *) text.data;
    bool replaced = false;
    size_t i = 0;
    rh_buf_add_byte(out, '"');
    while (i < text.len) {
        size_t run = i;
        while (run < text.len && is_plain(s[run])) {
            run++;
        }
        rh_buf_add(out, s + i, run - i);
        i = run;
        if (i == text.len) {
            break;
        }
        if (s[i] < 0x80) {
            add_escaped(out, s[i++]);
            continue;
        }
        size_t sequence = utf8_sequence(s + i, text.len - i);
        if (sequence) {
            rh_buf_add(out, s + i, sequence);
            i += sequence;
        } else {
            rh_buf_add_cstr(out, "\\ufffd");
            replaced = true;
            i++;
        }
    }
    rh_buf_add_byte(out, '"');
    return replaced;
}

void rh_json_key(struct rh_json *j, const char *key)
{
    assert(j->depth > 0 && j->closers[j->depth - 1] == '}' && !j->after_key);
    json_separate(j);
    add_quoted(j->out, rh_span_cstr(key));
    rh_buf_add_byte(j->out, ':');
    if (j->pretty) {
        rh_buf_add_byte(j->out, ' ');
    }
    j->after_key = true;
}

void rh_json_null(struct rh_json *j)
{
    json_before_value(j);
    rh_buf_add_cstr(j->out, "null");
}

void rh_json_bool(struct rh_json *j, bool v)
{
    json_before_value(j);
    rh_buf_add_cstr(j->out, v ? "true" : "false");
}

void rh_json_int(struct rh_json *j, int64_t v)
{
    json_before_value(j);
    rh_buf_addf(j->out, "%lld", (long long) v);
}

void rh_json_double(struct rh_json *j, double v, int decimals)
{
    if (!isfinite(v)) {
        rh_json_null(j);
        return;
    }
    json_before_value(j);
    rh_buf_addf(j->out, "%.*f", decimals, v);
}

void rh_json_digits(struct rh_json *j, double v, int digits)
{
    if (!isfinite(v)) {
        rh_json_null(j);
        return;
    }
    json_before_value(j);
    rh_buf_addf(j->out, "%.*g", digits, v);
}

void rh_json_cstr(struct rh_json *j, const char *text)
{
    rh_json_text(j, rh_span_cstr(text));
}

bool rh_json_text(struct rh_json *j, struct rh_span s)
{
    if (!s.data) {
        rh_json_null(j);
        return false;
    }
    json_before_value(j);
    return add_quoted(j->out, s);
}

void rh_json_open_text(struct rh_json *j)
{
    json_before_value(j);
    rh_buf_add_byte(j->out, '"');
}

void rh_json_close_text(struct rh_json *j)
{
    rh_buf_add_byte(j->out, '"');
}

bool rh_json_is_utf8(struct rh_span s)
{
    const unsigned char *bytes = (const unsigned char *) s.data;
    size_t i = 0;
    while (i < s.len) {
        size_t sequence = bytes[i] < 0x80 ? 1 : utf8_sequence(bytes + i, s.len - i);
        if (sequence == 0) {
            return false;
        }
        i += sequence;
    }
    return true;
}

void rh_json_time(struct rh_json *j, int64_t wall_ns)
{
    if (wall_ns == INT64_MIN) {
        rh_json_null(j);
        return;
    }
    char text[RH_TIME_TEXT_SIZE];
    rh_json_cstr(j, rh_time_format(wall_ns, text));
}
