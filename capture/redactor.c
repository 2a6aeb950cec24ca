#include "capture/redactor.h"

#include <string.h>

#include "common/sql_scan.h"

enum { TEXT_MAX = 128 * 1024 * 1024 };

#define REST_PLACEHOLDER "'x'"

void rh_redactor_init(struct rh_redactor *r)
{
    rh_buf_init(&r->tmpl, TEXT_MAX);
    r->literals.count = 0;
}

void rh_redactor_release(struct rh_redactor *r)
{
    rh_buf_release(&r->tmpl);
}

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

/* With standard_conforming_strings off a backslash hides the quote behind it. */
static bool has_hidden_quote(struct rh_span s)
{
    if (s.data[0] == 'E' || s.data[0] == 'e' || s.data[0] == '$') {
        return false;
    }
    for (size_t i = 0; i + 1 < s.len; i++) {
        if (s.data[i] == '\\') {
            if (s.data[i + 1] == '\'') {
                return true;
            }
            i++;
        }
    }
    return false;
}

static const char *placeholder(struct rh_span s)
{
    switch (s.len > 0 ? s.data[0] : 0) {
    case '+':
    case '-':
    case '.':
        return "0";
    case 'b':
    case 'B':
        return "B'0'";
    case 'x':
    case 'X':
        return "X'0'";
    default:
        return s.len > 0 && is_digit(s.data[0]) ? "0" : "'x'";
    }
}

/* Put what stands for a literal; false when it stands for all that follows. */
static bool put_literal(struct rh_redactor *r, uint32_t i, char slot, struct rh_buf *out)
{
    struct rh_span s = r->literals.items[i];
    if (slot == RH_TEMPLATE_COMMENT) {
        if (s.len == 1) {
            rh_buf_add_span(out, s); /* a raw byte that looks like a slot */
        } else {
            rh_buf_add_cstr(out, "/* */");
        }
        return true;
    }
    if ((r->literals.capped && i + 1 == r->literals.count) || has_hidden_quote(s)) {
        rh_buf_add_cstr(out, REST_PLACEHOLDER);
        return false;
    }
    rh_buf_add_cstr(out, placeholder(s));
    return true;
}

/* Up to where the template's names can be trusted. */
static size_t trusted_len(struct rh_span tmpl)
{
    if (tmpl.len == 0 || !memchr(tmpl.data, '"', tmpl.len)) {
        return tmpl.len;
    }
    struct rh_sql_scan scan;
    struct rh_sql_token token;
    rh_sql_scan_init(&scan, tmpl, true);
    while ((token = rh_sql_scan_next(&scan)).kind != RH_SQL_END) {
        if (token.kind == RH_SQL_QUOTED_WORD && token.broken) {
            return token.start;
        }
    }
    return tmpl.len;
}

void rh_redactor_text(struct rh_redactor *r, struct rh_span text, struct rh_buf *out)
{
    rh_buf_clear(out);
    rh_template_split(text, &r->tmpl, &r->literals);
    struct rh_span tmpl = rh_buf_span(&r->tmpl);
    size_t len = trusted_len(tmpl), at = 0;
    uint32_t literal = 0;
    bool more = true;
    for (size_t i = 0; i < len && more; i++) {
        if (tmpl.data[i] == RH_TEMPLATE_CONSTANT || tmpl.data[i] == RH_TEMPLATE_COMMENT) {
            rh_buf_add(out, tmpl.data + at, i - at);
            more = put_literal(r, literal++, tmpl.data[i], out);
            at = i + 1;
        }
    }
    if (more) {
        rh_buf_add(out, tmpl.data + at, len - at);
    }
    if (more && len < tmpl.len) {
        rh_buf_add_cstr(out, REST_PLACEHOLDER);
    }
}

static bool is_number(const struct rh_param *p)
{
    size_t i = p->len > 0 && (p->data[0] == '-' || p->data[0] == '+');
    size_t digits = 0;
    for (; i < p->len; i++) {
        char c = p->data[i];
        digits += is_digit(c);
        if (!is_digit(c) && c != '.' && !(digits > 0 && (c == 'e' || c == 'E')) &&
            !(digits > 0 && (c == '-' || c == '+') &&
              (p->data[i - 1] == 'e' || p->data[i - 1] == 'E'))) {
            return false;
        }
    }
    return digits > 0;
}

void rh_redactor_params(struct rh_param *params, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        if (params[i].data) {
            params[i].data = is_number(&params[i]) ? "0" : "x";
            params[i].len = 1;
            params[i].format = 0;
        }
    }
}
