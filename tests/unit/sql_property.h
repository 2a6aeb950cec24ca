/*
 * tests/unit/sql_property.h
 *
 * What must hold for any bytes at all: of the scanner, the template, the fingerprint and the
 * classification.  Used by the unit tests and the fuzz target.
 */
#ifndef RH_TESTS_UNIT_SQL_PROPERTY_H
#define RH_TESTS_UNIT_SQL_PROPERTY_H

#include "common/fingerprint.h"
#include "common/sql_class.h"
#include "common/sql_scan.h"
#include "common/sql_template.h"

struct sql_property {
    struct rh_buf tmpl;
    struct rh_buf joined;
    struct rh_buf of_text;
    struct rh_buf of_template;
    struct rh_literals literals;
};

static inline void sql_property_init(struct sql_property *p)
{
    size_t max = (size_t) 64 << 20;
    rh_buf_init(&p->tmpl, max);
    rh_buf_init(&p->joined, max);
    rh_buf_init(&p->of_text, max);
    rh_buf_init(&p->of_template, max);
}

static inline void sql_property_release(struct sql_property *p)
{
    rh_buf_release(&p->tmpl);
    rh_buf_release(&p->joined);
    rh_buf_release(&p->of_text);
    rh_buf_release(&p->of_template);
}

/* The tokens cover the text without holes, and only the last may be broken. */
static inline const char *sql_property_scan(struct rh_span text, bool is_template)
{
    struct rh_sql_scan scan;
    rh_sql_scan_init(&scan, text, is_template);
    size_t pos = 0;
    struct rh_sql_token t;
    while ((t = rh_sql_scan_next(&scan)).kind != RH_SQL_END) {
        if (t.start != pos || t.len == 0 || t.len > text.len - pos) {
            return "the tokens do not cover the text";
        }
        pos += t.len;
        if (t.broken && pos != text.len) {
            return "a broken token is not the last";
        }
    }
    if (pos != text.len || t.start != text.len || rh_sql_scan_next(&scan).kind != RH_SQL_END) {
        return "the scanner does not end at the end";
    }
    return NULL;
}

/* The literals are the scanner's strings, numbers, comments and slot bytes, in their order; only
 * numbers may have a sign before them, or be left in the template where they are short. */
static inline const char *sql_property_literals(struct rh_span text, const struct rh_literals *l)
{
    struct rh_sql_scan scan;
    rh_sql_scan_init(&scan, text, false);
    uint32_t used = 0;
    struct rh_sql_token t;
    while (used < l->count && !(l->capped && used == l->count - 1) &&
           (t = rh_sql_scan_next(&scan)).kind != RH_SQL_END) {
        const char *start = text.data + t.start;
        struct rh_span item = l->items[used];
        bool whole = item.data == start && item.len == t.len;
        bool with_sign = item.data + 1 == start && item.len == t.len + 1 &&
                         (item.data[0] == '-' || item.data[0] == '+');
        if (t.kind == RH_SQL_STRING || t.kind == RH_SQL_COMMENT) {
            if (!whole) {
                return "a string or comment is not the literal";
            }
            used++;
        } else if (t.kind == RH_SQL_NUMBER) {
            if (!whole && !with_sign && t.len > 3) {
                return "a number is no literal";
            }
            used += whole || with_sign;
        } else if (t.kind == RH_SQL_OTHER || t.kind == RH_SQL_QUOTED_WORD) {
            for (size_t i = 0; i < t.len && used < l->count; i++) {
                used += start[i] == 0 || start[i] == 1;
            }
        }
    }
    return used < l->count - l->capped ? "a literal that the scanner does not see" : NULL;
}

/* NULL, or what does not hold. */
static inline const char *sql_property_check(struct sql_property *p, struct rh_span text)
{
    const char *wrong = sql_property_scan(text, false);
    if (wrong) {
        return wrong;
    }
    rh_template_split(text, &p->tmpl, &p->literals);
    struct rh_span tmpl = rh_buf_span(&p->tmpl);
    uint32_t count = p->literals.count;
    if (tmpl.len > text.len || count > RH_TEMPLATE_SLOTS_MAX ||
        rh_template_slot_count(tmpl) != count ||
        p->literals.capped != (count == RH_TEMPLATE_SLOTS_MAX)) {
        return "the template's bounds or slots";
    }
    wrong = sql_property_literals(text, &p->literals);
    if (wrong) {
        return wrong;
    }
    rh_buf_clear(&p->joined);
    if (rh_template_join(tmpl, p->literals.items, count, &p->joined) != 0 ||
        !rh_span_equal(rh_buf_span(&p->joined), rh_span(text.data ? text.data : "", text.len))) {
        return "joined is not what was split";
    }
    wrong = sql_property_scan(tmpl, true);
    if (wrong) {
        return wrong;
    }
    rh_buf_clear(&p->of_text);
    rh_buf_clear(&p->of_template);
    if (rh_fingerprint_normalise(text, false, &p->of_text) != 0 ||
        rh_fingerprint_normalise(tmpl, true, &p->of_template) != 0) {
        return "normalise failed";
    }
    if (p->of_text.len > 2 * text.len + 16) {
        return "the normalised text is too long";
    }
    if (p->literals.capped) {
        return NULL;
    }
    if (!rh_span_equal(rh_buf_span(&p->of_text), rh_buf_span(&p->of_template))) {
        return "text and template normalise differently";
    }
    uint32_t of_text = 0;
    uint32_t of_template = 0;
    if (rh_sql_classify(text, false, &of_text) != rh_sql_classify(tmpl, true, &of_template) ||
        of_text != of_template) {
        return "text and template classify differently";
    }
    return NULL;
}

#endif
