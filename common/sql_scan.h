/*
 * common/sql_scan.h
 *
 * PostgreSQL's lexical rules (src/backend/parser/scan.l, 8.4 to 18) as a forward scanner over
 * bytes: strings ('', E'', U&'', B'', X'', N'', $tag$..$tag$), quoted identifiers, nested block
 * comments, operators as scan.l cuts them, numbers (0x1F, 1_000, 1.5e-3, .5, 5.), parameters.
 * It never fails and never allocates: what is not terminated is one token up to the end, with
 * `broken` set.  standard_conforming_strings is taken to be on.
 */
#ifndef RH_COMMON_SQL_SCAN_H
#define RH_COMMON_SQL_SCAN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/span.h"

enum rh_sql_token_kind {
    RH_SQL_END,
    RH_SQL_SPACE,
    RH_SQL_COMMENT,
    RH_SQL_WORD,        /* unquoted identifier or keyword, as written */
    RH_SQL_QUOTED_WORD, /* "..." or U&"..." */
    RH_SQL_NUMBER,
    RH_SQL_STRING, /* any kind of string, bit string included, prefix included */
    RH_SQL_PARAM,  /* $1 */
    RH_SQL_OPERATOR,
    RH_SQL_PUNCT,         /* one of ( ) [ ] , ; : . and ::, :=, .. */
    RH_SQL_OTHER,         /* one byte that begins no token */
    RH_SQL_SLOT_CONSTANT, /* RH_TEMPLATE_CONSTANT in a template */
    RH_SQL_SLOT_COMMENT,  /* RH_TEMPLATE_COMMENT in a template */
};

struct rh_sql_token {
    enum rh_sql_token_kind kind;
    bool broken;
    size_t start;
    size_t len;
};

struct rh_sql_scan {
    const char *data;
    size_t len;
    size_t pos;
    bool is_template; /* the two slot bytes stand for literals */
};

void rh_sql_scan_init(struct rh_sql_scan *s, struct rh_span text, bool is_template);
/* The next token, SPACE and COMMENT included; RH_SQL_END for ever at the end. */
struct rh_sql_token rh_sql_scan_next(struct rh_sql_scan *s);

#endif
