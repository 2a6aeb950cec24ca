/*
 * common/fingerprint_writer.h
 *
 * The lower half of the fingerprint: writes items with canonical blanks and reduces what stands in
 * brackets when they close.  docs/FINGERPRINT.md has the rules, fingerprint.c those on single
 * words.
 *
 * Every open bracket has a frame, which judges with each item whether the list is still one of
 * constants only.  Reductions cut back or edit the end of what was written; nothing is kept beside
 * the output, and brackets deeper than RH_FP_DEPTH_MAX are written as they are.
 */
#ifndef RH_COMMON_FINGERPRINT_WRITER_H
#define RH_COMMON_FINGERPRINT_WRITER_H

#include <stdbool.h>
#include <stdint.h>

#include "common/buf.h"
#include "common/sql_word.h"

enum { RH_FP_DEPTH_MAX = 64 };

enum rh_fp_kind {
    RH_FP_NONE, /* before the first item, behind the last */
    RH_FP_WORD, /* written in lower case */
    RH_FP_QUOTED,
    RH_FP_CONSTANT, /* written as ? whatever its text */
    RH_FP_OPERATOR,
    RH_FP_PUNCT,
    RH_FP_OTHER,
};

/* `punct` of the tokens of two bytes. */
#define RH_FP_CAST 'C'   /* :: */
#define RH_FP_ASSIGN 'A' /* := */
#define RH_FP_RANGE 'R'  /* .. */

struct rh_fp_item {
    enum rh_fp_kind kind;
    char punct;            /* of PUNCT: its byte, or one of the above */
    bool is_sign;          /* of OPERATOR: + or - where an operator between operands cannot be */
    enum rh_sql_word word; /* of WORD */
    struct rh_span text;
};

enum rh_fp_bracket {
    RH_FP_PLAIN,
    RH_FP_GROUP,   /* parentheses that may be redundant */
    RH_FP_LIST,    /* IN ( */
    RH_FP_ARRAY,   /* ARRAY[ */
    RH_FP_SUBLIST, /* a row or array within one of the two above */
    RH_FP_ROW,     /* a row of VALUES */
    RH_FP_ANY,     /* ANY(, ALL( */
    RH_FP_CASTING, /* CAST( */
};

enum rh_fp_list_state {
    RH_FP_EXPECTS, /* an element */
    RH_FP_VALUE,   /* behind a constant */
    RH_FP_TYPE,    /* within the type it is cast to */
    RH_FP_IMPURE,  /* not a list of constants */
};

struct rh_fp_frame {
    enum rh_fp_bracket bracket;
    enum rh_fp_list_state state;
    char closer;
    uint64_t elements;
    size_t start;     /* in the output, of what is in the brackets */
    size_t row_start; /* ROW: the row before it in the output, */
    size_t row_len;   /* 0 if this is the first */
};

struct rh_fp_writer {
    struct rh_buf *out;
    struct rh_fp_item prev;
    bool pending_semicolon;
    /* Rows of VALUES: the last one, when nothing but a comma stands behind it. */
    enum { RH_FP_NO_ROW, RH_FP_BEHIND_ROW, RH_FP_BEHIND_COMMA } rows;
    size_t row_start;
    size_t row_len;
    uint32_t depth;
    uint64_t deeper; /* open brackets without a frame */
    struct rh_fp_frame frames[RH_FP_DEPTH_MAX];
};

void rh_fp_writer_init(struct rh_fp_writer *w, struct rh_buf *out);
void rh_fp_writer_put(struct rh_fp_writer *w, struct rh_fp_item item);
/* Reduce what is open as if it were closed: a text that was cut, or the template of a long one. */
void rh_fp_writer_finish(struct rh_fp_writer *w);

bool rh_fp_writer_at_top(const struct rh_fp_writer *w);
bool rh_fp_writer_in_cast(const struct rh_fp_writer *w);

static inline bool rh_fp_is_punct(const struct rh_fp_item *item, char punct)
{
    return item->kind == RH_FP_PUNCT && item->punct == punct;
}

static inline bool rh_fp_is_word(const struct rh_fp_item *item, enum rh_sql_word word)
{
    return item->kind == RH_FP_WORD && item->word == word;
}

#endif
