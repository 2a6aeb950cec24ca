#include "common/sql_literal.h"

#include "common/sql_word.h"

static struct rh_span token_text(const char *text, struct rh_sql_token t)
{
    return (struct rh_span){text + t.start, t.len};
}

static bool is_punct(const char *text, struct rh_sql_token t, const char *punct)
{
    return t.kind == RH_SQL_PUNCT && rh_span_is(token_text(text, t), punct);
}

static bool ends_operand(const char *text, struct rh_sql_token t)
{
    switch (t.kind) {
    case RH_SQL_END:
    case RH_SQL_OPERATOR:
        return false;
    case RH_SQL_PUNCT:
        return is_punct(text, t, ")") || is_punct(text, t, "]");
    case RH_SQL_WORD: {
        enum rh_sql_word word = rh_sql_word_find(token_text(text, t));
        return !(rh_sql_word_flags(word) & RH_WORD_SIGN);
    }
    default:
        return true;
    }
}

bool rh_sql_sign_may_follow(const char *text, struct rh_sql_token prior, struct rh_sql_token prev)
{
    if (prev.kind == RH_SQL_WORD) {
        if (is_punct(text, prior, ".")) {
            return false; /* t.limit: behind a point every word is a name */
        }
        if (rh_sql_word_find(token_text(text, prev)) == RH_W_BETWEEN) {
            /* The operator has an operand, or NOT, before it; a column of that name has not. */
            return ends_operand(text, prior) ||
                   (prior.kind == RH_SQL_WORD &&
                    rh_sql_word_find(token_text(text, prior)) == RH_W_NOT);
        }
    }
    if (prev.kind == RH_SQL_PUNCT &&
        (is_punct(text, prev, ".") || is_punct(text, prev, "::") || is_punct(text, prev, ".."))) {
        return false;
    }
    return !ends_operand(text, prev);
}

bool rh_sql_literals_begins_list(const struct rh_sql_literals *s)
{
    if (s->prev.kind != RH_SQL_WORD || is_punct(s->scan.data, s->prior, ".")) {
        return false;
    }
    enum rh_sql_word word = rh_sql_word_find(token_text(s->scan.data, s->prev));
    return word == RH_W_ORDER || word == RH_W_GROUP;
}

/* A list ends with the bracket around it, with its command, and where a query follows (UNION SELECT
 * a, 2).  Clauses that may follow have no comma with a bare number behind it. */
void rh_sql_literals_track_list(struct rh_sql_literals *s, struct rh_sql_token t)
{
    if (t.kind == RH_SQL_WORD) {
        if (t.len == 6 && rh_sql_word_find(token_text(s->scan.data, t)) == RH_W_SELECT) {
            s->in_list = s->list_depth > 0;
        }
    } else if (t.kind == RH_SQL_PUNCT) {
        switch (s->scan.data[t.start]) {
        case '(':
        case '[':
            s->list_depth++;
            break;
        case ')':
        case ']':
            s->list_depth--;
            break;
        case ';':
            s->list_depth = -1;
            break;
        default:
            break;
        }
        s->in_list = s->list_depth >= 0;
    }
}

/* Up to three digits, alone between BY or a comma and what can follow an item of the list. */
bool rh_sql_literals_is_position(const struct rh_sql_literals *s, struct rh_sql_token number)
{
    enum { DIGITS_MAX = 3 };
    const char *text = s->scan.data;
    if (s->list_depth != 0 || number.len > DIGITS_MAX) {
        return false;
    }
    bool begins_item =
        is_punct(text, s->prev, ",") ||
        (s->prev.kind == RH_SQL_WORD && rh_sql_word_is_by(text + s->prev.start, s->prev.len));
    for (size_t i = 0; i < number.len; i++) {
        begins_item &= rh_lex_class_of(text[number.start + i]) == RH_LEX_DIGIT;
    }
    if (!begins_item) {
        return false;
    }
    struct rh_sql_scan ahead = s->scan;
    struct rh_sql_token next;
    do {
        next = rh_lex_next(&ahead);
    } while (next.kind == RH_SQL_SPACE || next.kind == RH_SQL_COMMENT ||
             (next.kind == RH_SQL_OTHER && rh_lex_class_of(text[next.start]) == RH_LEX_SLOT));
    return next.kind == RH_SQL_END || next.kind == RH_SQL_WORD || is_punct(text, next, ",") ||
           is_punct(text, next, ")") || is_punct(text, next, ";");
}
