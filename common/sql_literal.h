/*
 * common/sql_literal.h
 *
 * The scanner with one judgement added: which tokens are literals.  The template and the
 * fingerprint both read through it, so they cannot disagree.
 *
 * Literals are strings of every kind and numbers, a sign included that stands right before the
 * number and cannot be an operator.  A number that names an output column (ORDER BY 1, 2 or
 * GROUP BY) is none: another number there is another query.
 */
#ifndef RH_COMMON_SQL_LITERAL_H
#define RH_COMMON_SQL_LITERAL_H

#include "common/sql_lex.h"

struct rh_sql_literals {
    struct rh_sql_scan scan;
    /* The last two tokens that are neither blank nor comment. */
    struct rh_sql_token prev;
    struct rh_sql_token prior;
    bool in_list; /* behind ORDER BY or GROUP BY, up to what ends it */
    int64_t list_depth;
};

struct rh_sql_literal {
    struct rh_sql_token token;
    bool is_literal; /* false for the slots of a template */
};

static inline void rh_sql_literals_init(struct rh_sql_literals *s, struct rh_span text,
                                        bool is_template)
{
    *s = (struct rh_sql_literals){0};
    rh_sql_scan_init(&s->scan, text, is_template);
}

/* Behind these two tokens (RH_SQL_END: none) a + or - cannot be an operator between operands. */
bool rh_sql_sign_may_follow(const char *text, struct rh_sql_token prior, struct rh_sql_token prev);

/* The slow parts of rh_sql_literals_next(). */
bool rh_sql_literals_is_position(const struct rh_sql_literals *s, struct rh_sql_token number);
void rh_sql_literals_track_list(struct rh_sql_literals *s, struct rh_sql_token t);
bool rh_sql_literals_begins_list(const struct rh_sql_literals *s);

/* A sign, the token just read, with a number right behind it: the number's end, else NULL. */
static inline const char *rh_sql_literals_signed_number(const struct rh_sql_literals *s,
                                                        struct rh_sql_token sign)
{
    const char *p = s->scan.data + s->scan.pos;
    const char *end = s->scan.data + s->scan.len;
    bool number = p < end && (rh_lex_class_of(*p) == RH_LEX_DIGIT ||
                              (*p == '.' && end - p >= 2 && rh_lex_class_of(p[1]) == RH_LEX_DIGIT));
    char c = s->scan.data[sign.start];
    if (!number || sign.len != 1 || (c != '-' && c != '+') ||
        !rh_sql_sign_may_follow(s->scan.data, s->prior, s->prev)) {
        return NULL;
    }
    return rh_lex_number(p, end);
}

static inline bool rh_sql_word_is_by(const char *word, size_t len)
{
    return len == 2 && (word[0] | 0x20) == 'b' && (word[1] | 0x20) == 'y';
}

/* Every token but blanks; RH_SQL_END at the end. */
static inline __attribute__((always_inline)) struct rh_sql_literal
rh_sql_literals_next(struct rh_sql_literals *s)
{
    while (s->scan.pos < s->scan.len &&
           rh_lex_class_of(s->scan.data[s->scan.pos]) == RH_LEX_SPACE) {
        s->scan.pos++;
    }
    struct rh_sql_literal l = {rh_lex_next(&s->scan), false};
    struct rh_sql_token *t = &l.token;
    switch (t->kind) {
    case RH_SQL_SLOT_COMMENT:
        return l;
    case RH_SQL_COMMENT:
        l.is_literal = true;
        return l;
    case RH_SQL_OTHER:
        if (rh_lex_class_of(s->scan.data[t->start]) == RH_LEX_SLOT) {
            return l;
        }
        break;
    case RH_SQL_STRING:
        l.is_literal = true;
        break;
    case RH_SQL_NUMBER:
        l.is_literal = !s->scan.is_template && !(s->in_list && rh_sql_literals_is_position(s, *t));
        break;
    case RH_SQL_OPERATOR: {
        const char *number_end = rh_sql_literals_signed_number(s, *t);
        if (number_end) {
            s->scan.pos = (size_t) (number_end - s->scan.data);
            t->kind = RH_SQL_NUMBER;
            t->len = s->scan.pos - t->start;
            l.is_literal = true;
        }
        break;
    }
    case RH_SQL_WORD:
        if (rh_sql_word_is_by(s->scan.data + t->start, t->len) && rh_sql_literals_begins_list(s)) {
            s->in_list = true;
            s->list_depth = 0;
        }
        break;
    default:
        break;
    }
    if (s->in_list) {
        rh_sql_literals_track_list(s, *t);
    }
    s->prior = s->prev;
    s->prev = *t;
    return l;
}

#endif
