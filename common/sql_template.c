#include "common/sql_template.h"

#include <assert.h>
#include <endian.h>
#include <string.h>

#include "common/sql_literal.h"

struct splitter {
    const char *text;
    size_t copied; /* bytes of the text that are in the template or in a literal */
    char *out;
    struct rh_literals *literals;
};

/* Pieces between literals are short: two overlapping loads beat a call. */
static inline char *copy_short(char *to, const char *from, size_t n)
{
    if (n > 32) {
        memcpy(to, from, n);
    } else if (n >= 16) {
        memcpy(to, from, 16);
        memcpy(to + n - 16, from + n - 16, 16);
    } else if (n >= 8) {
        memcpy(to, from, 8);
        memcpy(to + n - 8, from + n - 8, 8);
    } else {
        for (size_t i = 0; i < n; i++) {
            to[i] = from[i];
        }
    }
    return to + n;
}

static inline void put_literal(struct splitter *s, size_t start, size_t len, char slot)
{
    s->out = copy_short(s->out, s->text + s->copied, start - s->copied);
    *s->out++ = slot;
    s->copied = start + len;
    s->literals->items[s->literals->count++] = (struct rh_span){s->text + start, len};
}

/* Put a literal; false when it was the last that fits and took the rest of the text. */
static inline bool take_literal(struct splitter *s, size_t start, size_t len, char slot,
                                size_t text_len)
{
    if (s->literals->count == RH_TEMPLATE_SLOTS_MAX - 1) {
        put_literal(s, start, text_len - start, RH_TEMPLATE_CONSTANT);
        s->literals->capped = true;
        return false;
    }
    put_literal(s, start, len, slot);
    return true;
}

/* The bytes of a token that equal a slot's. */
static bool take_raw_bytes(struct splitter *s, struct rh_sql_token t, size_t text_len)
{
    for (size_t i = t.start; i < t.start + t.len; i++) {
        if (rh_lex_class_of(s->text[i]) == RH_LEX_SLOT &&
            !take_literal(s, i, 1, RH_TEMPLATE_COMMENT, text_len)) {
            return false;
        }
    }
    return true;
}

void rh_template_split(struct rh_span text, struct rh_buf *tmpl, struct rh_literals *literals)
{
    rh_buf_clear(tmpl);
    literals->count = 0;
    literals->capped = false;
    char *start = rh_buf_reserve(tmpl, text.len);
    assert(start);
    struct rh_sql_literals scan;
    rh_sql_literals_init(&scan, text, false);
    struct splitter s = {scan.scan.data, 0, start, literals};
    for (bool more = true; more;) {
        struct rh_sql_literal l = rh_sql_literals_next(&scan);
        struct rh_sql_token t = l.token;
        if (l.is_literal) {
            char slot = t.kind == RH_SQL_COMMENT ? RH_TEMPLATE_COMMENT : RH_TEMPLATE_CONSTANT;
            more = take_literal(&s, t.start, t.len, slot, text.len);
        } else if (t.kind == RH_SQL_QUOTED_WORD || t.kind == RH_SQL_OTHER) {
            more = take_raw_bytes(&s, t, text.len);
        } else {
            more = t.kind != RH_SQL_END;
        }
    }
    s.out = copy_short(s.out, s.text + s.copied, text.len - s.copied);
    tmpl->len = (size_t) (s.out - start);
}

uint32_t rh_template_slot_count(struct rh_span tmpl)
{
    uint32_t count = 0;
    for (size_t i = 0; i < tmpl.len; i++) {
        count += rh_lex_class_of(tmpl.data[i]) == RH_LEX_SLOT;
    }
    return count;
}

/* Eight bytes at a time: slots are the bytes 0 and 1. */
static size_t find_slot(struct rh_span tmpl, size_t from)
{
    const uint64_t ones = UINT64_C(0x0101010101010101);
    size_t i = from;
    for (; tmpl.len - i >= sizeof ones; i += sizeof ones) {
        uint64_t word;
        memcpy(&word, tmpl.data + i, sizeof word);
        word = le64toh(word) & ~ones;
        uint64_t zero = (word - ones) & ~word & (ones << 7);
        if (zero) {
            return i + (size_t) __builtin_ctzll(zero) / 8;
        }
    }
    while (i < tmpl.len && rh_lex_class_of(tmpl.data[i]) != RH_LEX_SLOT) {
        i++;
    }
    return i;
}

int rh_template_join(struct rh_span tmpl, const struct rh_span *literals, uint32_t count,
                     struct rh_buf *out)
{
    size_t total = tmpl.len - count;
    if (count > tmpl.len) {
        return -1;
    }
    for (uint32_t i = 0; i < count; i++) {
        total += literals[i].len;
    }
    char *at = rh_buf_reserve(out, total);
    if (!at) {
        return -1;
    }
    const char *end = at + total;
    uint32_t used = 0;
    for (size_t copied = 0;; copied++) {
        size_t slot = find_slot(tmpl, copied);
        if (slot - copied > (size_t) (end - at)) {
            return -1;
        }
        at = copy_short(at, tmpl.data + copied, slot - copied);
        copied = slot;
        if (slot == tmpl.len) {
            break;
        }
        if (used == count || literals[used].len > (size_t) (end - at)) {
            return -1;
        }
        at = copy_short(at, literals[used].data, literals[used].len);
        used++;
    }
    if (used != count) {
        return -1;
    }
    out->len += total;
    return 0;
}
