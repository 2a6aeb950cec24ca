#include "common/sql_scan.h"

#include <string.h>

#include "common/sql_lex.h"

#define LETTER (RH_LEX_WORD | RH_LEX_IN_WORD)
#define PREFIX (RH_LEX_PREFIX | RH_LEX_IN_WORD)
#define OPERATOR (RH_LEX_OPERATOR | RH_LEX_IN_OPERATOR)

/* Vertical tab is a blank since 16; before it was an error, so nothing is lost.  The slot bytes are
 * those of sql_template.h. */
/* clang-format off */
const uint8_t rh_lex_table[256] = {
    [0x00] = RH_LEX_SLOT, [0x01] = RH_LEX_SLOT,
    [' '] = RH_LEX_SPACE, ['\t'] = RH_LEX_SPACE, ['\n'] = RH_LEX_SPACE,
    ['\r'] = RH_LEX_SPACE, ['\f'] = RH_LEX_SPACE, ['\v'] = RH_LEX_SPACE,
    ['A'] = LETTER, ['B'] = PREFIX, ['C' ... 'D'] = LETTER, ['E'] = PREFIX,
    ['F' ... 'M'] = LETTER, ['N'] = PREFIX, ['O' ... 'T'] = LETTER, ['U'] = PREFIX,
    ['V' ... 'W'] = LETTER, ['X'] = PREFIX, ['Y' ... 'Z'] = LETTER,
    ['a'] = LETTER, ['b'] = PREFIX, ['c' ... 'd'] = LETTER, ['e'] = PREFIX,
    ['f' ... 'm'] = LETTER, ['n'] = PREFIX, ['o' ... 't'] = LETTER, ['u'] = PREFIX,
    ['v' ... 'w'] = LETTER, ['x'] = PREFIX, ['y' ... 'z'] = LETTER,
    ['_'] = LETTER, [0x80 ... 0xff] = LETTER,
    ['0' ... '9'] = RH_LEX_DIGIT | RH_LEX_IN_WORD,
    ['\''] = RH_LEX_QUOTE, ['"'] = RH_LEX_DOUBLE_QUOTE,
    ['$'] = RH_LEX_DOLLAR | RH_LEX_IN_WORD,
    ['~'] = OPERATOR, ['!'] = OPERATOR, ['@'] = OPERATOR, ['#'] = OPERATOR, ['^'] = OPERATOR,
    ['&'] = OPERATOR, ['|'] = OPERATOR, ['`'] = OPERATOR, ['?'] = OPERATOR, ['+'] = OPERATOR,
    ['-'] = OPERATOR, ['*'] = OPERATOR, ['/'] = OPERATOR, ['%'] = OPERATOR, ['<'] = OPERATOR,
    ['>'] = OPERATOR, ['='] = OPERATOR,
    ['('] = RH_LEX_PUNCT, [')'] = RH_LEX_PUNCT, ['['] = RH_LEX_PUNCT, [']'] = RH_LEX_PUNCT,
    [','] = RH_LEX_PUNCT, [';'] = RH_LEX_PUNCT,
    [':'] = RH_LEX_COLON, ['.'] = RH_LEX_DOT,
};
/* clang-format on */

enum string_style { STRING_PLAIN, STRING_ESCAPES, STRING_BITS };

static bool is_newline(char c)
{
    return c == '\n' || c == '\r';
}

/* From behind the opening quote to behind the closing one; NULL if there is none. */
static const char *string_body(const char *p, const char *end, enum string_style style)
{
    while (p < end) {
        char c = *p++;
        if (c == '\'') {
            if (style == STRING_BITS || p == end || *p != '\'') {
                return p;
            }
            p++;
        } else if (c == '\\' && style == STRING_ESCAPES) {
            if (p == end) {
                return NULL;
            }
            p++;
        }
    }
    return NULL;
}

/* A quote that only blanks and comments with a newline among them part from the string before it
 * continues that string: where it goes on, or NULL. */
static const char *string_continuation(const char *p, const char *end)
{
    bool newline = false;
    while (p < end) {
        if (rh_lex_class_of(*p) == RH_LEX_SPACE) {
            newline |= is_newline(*p);
            p++;
        } else if (*p == '-' && end - p >= 2 && p[1] == '-') {
            while (p < end && !is_newline(*p)) {
                p++;
            }
        } else {
            return newline && *p == '\'' ? p + 1 : NULL;
        }
    }
    return NULL;
}

static struct rh_lex_end string_rest(const char *p, const char *end, enum string_style style)
{
    for (;;) {
        p = string_body(p, end, style);
        if (!p) {
            return (struct rh_lex_end){end, RH_SQL_STRING, true};
        }
        const char *again = string_continuation(p, end);
        if (!again) {
            return rh_lex_at(p, RH_SQL_STRING);
        }
        p = again;
    }
}

struct rh_lex_end rh_lex_quoted(const char *p, const char *end)
{
    if (*p == '\'') {
        return string_rest(p + 1, end, STRING_PLAIN);
    }
    if (end - p >= 2 && p[1] == '\'') {
        switch (*p) {
        case 'e':
        case 'E':
            return string_rest(p + 2, end, STRING_ESCAPES);
        case 'b':
        case 'B':
        case 'x':
        case 'X':
            return string_rest(p + 2, end, STRING_BITS);
        case 'n':
        case 'N':
            return string_rest(p + 2, end, STRING_PLAIN);
        default:
            break;
        }
    }
    if ((*p == 'u' || *p == 'U') && end - p >= 3 && p[1] == '&') {
        if (p[2] == '\'') {
            return string_rest(p + 3, end, STRING_PLAIN);
        }
        if (p[2] == '"') {
            return rh_lex_double_quoted(p + 2, end);
        }
    }
    return rh_lex_at(rh_lex_word_end(p + 1, end), RH_SQL_WORD);
}

struct rh_lex_end rh_lex_double_quoted(const char *p, const char *end)
{
    p++;
    while (p < end) {
        if (*p++ == '"') {
            if (p == end || *p != '"') {
                return rh_lex_at(p, RH_SQL_QUOTED_WORD);
            }
            p++;
        }
    }
    return (struct rh_lex_end){end, RH_SQL_QUOTED_WORD, true};
}

struct rh_lex_end rh_lex_dollar(const char *p, const char *end)
{
    const char *tag_end = p + 1;
    if (tag_end < end && rh_lex_class_of(*tag_end) == RH_LEX_DIGIT) {
        while (tag_end < end && rh_lex_class_of(*tag_end) == RH_LEX_DIGIT) {
            tag_end++;
        }
        return rh_lex_at(tag_end, RH_SQL_PARAM);
    }
    while (tag_end < end && *tag_end != '$' && rh_lex_table[(uint8_t) *tag_end] & RH_LEX_IN_WORD) {
        tag_end++;
    }
    if (tag_end == end || *tag_end != '$') {
        return rh_lex_at(p + 1, RH_SQL_OTHER);
    }
    size_t tag_len = (size_t) (tag_end + 1 - p);
    const char *at = tag_end + 1;
    while (tag_len <= (size_t) (end - at)) {
        at = memchr(at, '$', (size_t) (end - at));
        if (!at || tag_len > (size_t) (end - at)) {
            break;
        }
        if (memcmp(at, p, tag_len) == 0) {
            return rh_lex_at(at + tag_len, RH_SQL_STRING);
        }
        at++;
    }
    return (struct rh_lex_end){end, RH_SQL_STRING, true};
}

static struct rh_lex_end block_comment(const char *p, const char *end)
{
    size_t depth = 1;
    p += 2;
    while (end - p >= 2) {
        if (p[0] == '*' && p[1] == '/') {
            p += 2;
            if (--depth == 0) {
                return rh_lex_at(p, RH_SQL_COMMENT);
            }
        } else if (p[0] == '/' && p[1] == '*') {
            p += 2;
            depth++;
        } else {
            p++;
        }
    }
    return (struct rh_lex_end){end, RH_SQL_COMMENT, true};
}

static bool keeps_trailing_sign(char c)
{
    switch (c) {
    case '~':
    case '!':
    case '@':
    case '#':
    case '^':
    case '&':
    case '|':
    case '`':
    case '?':
    case '%':
        return true;
    default:
        return false;
    }
}

/* scan.l, rule {operator}: the longest run up to a comment; then + and - at its end are given
 * back, unless the run holds a character that standard SQL's operators do not have. */
struct rh_lex_end rh_lex_operator(const char *p, const char *end)
{
    const char *at = p;
    bool keeps = false;
    while (at < end && rh_lex_table[(uint8_t) *at] & RH_LEX_IN_OPERATOR) {
        if (end - at >= 2 && (at[0] == '-' || at[0] == '/')) {
            if (at[0] == '-' && at[1] == '-') {
                break;
            }
            if (at[0] == '/' && at[1] == '*') {
                break;
            }
        }
        keeps |= keeps_trailing_sign(*at);
        at++;
    }
    if (at == p) {
        if (*p == '/') {
            return block_comment(p, end);
        }
        while (at < end && !is_newline(*at)) {
            at++;
        }
        return rh_lex_at(at, RH_SQL_COMMENT);
    }
    while (!keeps && at - p > 1 && (at[-1] == '+' || at[-1] == '-')) {
        at--;
    }
    return rh_lex_at(at, RH_SQL_OPERATOR);
}

static bool is_digit_of(char c, int base)
{
    if (c >= '0' && c <= '9') {
        return c - '0' < base;
    }
    char lower = (char) (c | 0x20);
    return base == 16 && lower >= 'a' && lower <= 'f';
}

/* Digits with single underscores between (and before, where a prefix stands). */
static const char *digits(const char *p, const char *end, int base, bool after_prefix)
{
    const char *start = p;
    while (p < end) {
        if (is_digit_of(*p, base)) {
            p++;
        } else if (*p == '_' && (p > start || after_prefix) && end - p >= 2 &&
                   is_digit_of(p[1], base)) {
            p += 2;
        } else {
            break;
        }
    }
    return p;
}

static int prefix_base(char c)
{
    switch (c | 0x20) {
    case 'x':
        return 16;
    case 'o':
        return 8;
    case 'b':
        return 2;
    default:
        return 0;
    }
}

const char *rh_lex_number(const char *p, const char *end)
{
    if (*p == '0' && end - p >= 3 && prefix_base(p[1])) {
        const char *at = digits(p + 2, end, prefix_base(p[1]), true);
        if (at > p + 2) {
            return at;
        }
    }
    p = digits(p, end, 10, false);
    /* "1..10" is a range. */
    if (p < end && *p == '.' && !(end - p >= 2 && p[1] == '.')) {
        p = digits(p + 1, end, 10, false);
    }
    if (p < end && (*p | 0x20) == 'e') {
        const char *exponent = p + 1;
        if (exponent < end && (*exponent == '+' || *exponent == '-')) {
            exponent++;
        }
        const char *at = digits(exponent, end, 10, false);
        if (at > exponent) {
            return at;
        }
    }
    return p;
}

void rh_sql_scan_init(struct rh_sql_scan *s, struct rh_span text, bool is_template)
{
    *s = (struct rh_sql_scan){text.data ? text.data : "", text.len, 0, is_template};
}

struct rh_sql_token rh_sql_scan_next(struct rh_sql_scan *s)
{
    return rh_lex_next(s);
}
