/*
 * common/sql_lex.h
 *
 * The inside of the SQL scanner, inline for the loops that see every statement.  Everybody else
 * uses sql_scan.h.
 *
 * One table tells of each byte what may begin with it and whether it may stand inside a word or an
 * operator.  Tokens that are common and short are cut here; the rest are calls.
 */
#ifndef RH_COMMON_SQL_LEX_H
#define RH_COMMON_SQL_LEX_H

#include "common/sql_scan.h"

enum rh_lex_class {
    RH_LEX_OTHER,
    RH_LEX_SPACE,
    RH_LEX_WORD,
    RH_LEX_PREFIX, /* a letter that with a quote behind it begins a string: b e n u x */
    RH_LEX_DIGIT,
    RH_LEX_QUOTE,
    RH_LEX_DOUBLE_QUOTE,
    RH_LEX_DOLLAR,
    RH_LEX_OPERATOR,
    RH_LEX_PUNCT,
    RH_LEX_COLON,
    RH_LEX_DOT,
    RH_LEX_SLOT,
    RH_LEX_CLASS_MASK = 0x0f,
    RH_LEX_IN_WORD = 0x10,
    RH_LEX_IN_OPERATOR = 0x20,
};

extern const uint8_t rh_lex_table[256];

static inline enum rh_lex_class rh_lex_class_of(char c)
{
    return rh_lex_table[(uint8_t) c] & RH_LEX_CLASS_MASK;
}

/* A token's end; each of these is called at the token's first byte, and end lies behind it. */
struct rh_lex_end {
    const char *at;
    enum rh_sql_token_kind kind;
    bool broken;
};

/* `'`, or a letter of RH_LEX_PREFIX: a string, a word, or U&"...". */
struct rh_lex_end rh_lex_quoted(const char *p, const char *end);
struct rh_lex_end rh_lex_double_quoted(const char *p, const char *end);
/* `$`: a parameter, a dollar-quoted string, or the lone byte. */
struct rh_lex_end rh_lex_dollar(const char *p, const char *end);
/* Two or more operator characters: an operator or a comment. */
struct rh_lex_end rh_lex_operator(const char *p, const char *end);
/* A digit, or a point with a digit behind it. */
const char *rh_lex_number(const char *p, const char *end);

static inline struct rh_lex_end rh_lex_at(const char *at, enum rh_sql_token_kind kind)
{
    return (struct rh_lex_end){at, kind, false};
}

static inline const char *rh_lex_word_end(const char *p, const char *end)
{
    while (p < end && rh_lex_table[(uint8_t) *p] & RH_LEX_IN_WORD) {
        p++;
    }
    return p;
}

static inline struct rh_lex_end rh_lex_digits(const char *p, const char *end)
{
    const char *at = p + 1;
    while (at < end && rh_lex_class_of(*at) == RH_LEX_DIGIT) {
        at++;
    }
    if (at < end && (rh_lex_table[(uint8_t) *at] & RH_LEX_IN_WORD || *at == '.')) {
        at = rh_lex_number(p, end);
    }
    return rh_lex_at(at, RH_SQL_NUMBER);
}

static inline __attribute__((always_inline)) struct rh_lex_end
rh_lex_token(const char *p, const char *end, bool is_template)
{
    const char *next = p + 1;
    switch (rh_lex_class_of(*p)) {
    case RH_LEX_SPACE:
        while (next < end && rh_lex_class_of(*next) == RH_LEX_SPACE) {
            next++;
        }
        return rh_lex_at(next, RH_SQL_SPACE);
    case RH_LEX_PREFIX:
        if (next < end && (*next == '\'' || *next == '&')) {
            return rh_lex_quoted(p, end);
        }
        return rh_lex_at(rh_lex_word_end(next, end), RH_SQL_WORD);
    case RH_LEX_WORD:
        return rh_lex_at(rh_lex_word_end(next, end), RH_SQL_WORD);
    case RH_LEX_DIGIT:
        return rh_lex_digits(p, end);
    case RH_LEX_QUOTE:
        return rh_lex_quoted(p, end);
    case RH_LEX_DOUBLE_QUOTE:
        return rh_lex_double_quoted(p, end);
    case RH_LEX_DOLLAR:
        return rh_lex_dollar(p, end);
    case RH_LEX_OPERATOR:
        if (next < end && rh_lex_table[(uint8_t) *next] & RH_LEX_IN_OPERATOR) {
            return rh_lex_operator(p, end);
        }
        return rh_lex_at(next, RH_SQL_OPERATOR);
    case RH_LEX_PUNCT:
        return rh_lex_at(next, RH_SQL_PUNCT);
    case RH_LEX_COLON:
        return rh_lex_at(next + (next < end && (*next == ':' || *next == '=')), RH_SQL_PUNCT);
    case RH_LEX_DOT:
        if (next < end && rh_lex_class_of(*next) == RH_LEX_DIGIT) {
            return rh_lex_at(rh_lex_number(p, end), RH_SQL_NUMBER);
        }
        return rh_lex_at(next + (next < end && *next == '.'), RH_SQL_PUNCT);
    case RH_LEX_SLOT:
        if (is_template) {
            return rh_lex_at(next, *p ? RH_SQL_SLOT_COMMENT : RH_SQL_SLOT_CONSTANT);
        }
        return rh_lex_at(next, RH_SQL_OTHER);
    default:
        return rh_lex_at(next, RH_SQL_OTHER);
    }
}

/* rh_sql_scan_next(), inline. */
static inline __attribute__((always_inline)) struct rh_sql_token rh_lex_next(struct rh_sql_scan *s)
{
    struct rh_sql_token t = {.start = s->pos};
    if (s->pos < s->len) {
        const char *p = s->data + s->pos;
        struct rh_lex_end e = rh_lex_token(p, s->data + s->len, s->is_template);
        t.kind = e.kind;
        t.broken = e.broken;
        t.len = (size_t) (e.at - p);
        s->pos += t.len;
    }
    return t;
}

#endif
