/* capture/statement_class.c */
#include "capture/statement_class.h"

#include <string.h>
#include <strings.h>

bool rh_statement_has(const struct rh_statement_class *c, enum rh_sql_class klass)
{
    return c->bits & (UINT32_C(1) << klass);
}

static bool is_blank(char c)
{
    return c == ' ' || (c >= '\t' && c <= '\r');
}

static struct rh_span trim(struct rh_span s)
{
    while (s.len > 0 && is_blank(s.data[0])) {
        s.data++;
        s.len--;
    }
    while (s.len > 0 && (is_blank(s.data[s.len - 1]) || s.data[s.len - 1] == ';')) {
        s.len--;
    }
    return s;
}

/* The first four letters, lower case, as a number; 0 for what begins with no letter. */
static uint32_t first_letters(struct rh_span s)
{
    uint32_t v = 0;
    for (size_t i = 0; i < 4; i++) {
        unsigned char c = i < s.len ? (unsigned char) s.data[i] : ' ';
        if (c >= 'A' && c <= 'Z') {
            c |= 0x20;
        }
        v = v << 8 | (c >= 'a' && c <= 'z' ? c : ' ');
    }
    return v >> 24 == ' ' ? 0 : v;
}

#define LETTERS(a, b, c, d)                                                                        \
    ((uint32_t) (a) << 24 | (uint32_t) (b) << 16 | (uint32_t) (c) << 8 | (uint32_t) (d))

/* SELECT, INSERT, UPDATE: most of all commands, none of interest. */
static bool is_plain(struct rh_span s)
{
    char letters[4];
    if (s.len < sizeof letters) {
        return false;
    }
    for (size_t i = 0; i < sizeof letters; i++) {
        letters[i] = (char) (s.data[i] | 0x20);
    }
    return memcmp(letters, "sele", 4) == 0 || memcmp(letters, "inse", 4) == 0 ||
           memcmp(letters, "upda", 4) == 0;
}

/* Whether a single command that begins so may have a class of interest. */
static bool may_matter(uint32_t letters)
{
    switch (letters) {
    case 0: /* a comment, a parenthesis, nothing */
    case LETTERS('a', 'b', 'o', 'r'):
    case LETTERS('b', 'e', 'g', 'i'):
    case LETTERS('c', 'o', 'm', 'm'):
    case LETTERS('c', 'o', 'p', 'y'):
    case LETTERS('d', 'e', 'a', 'l'):
    case LETTERS('d', 'i', 's', 'c'):
    case LETTERS('e', 'n', 'd', ' '):
    case LETTERS('p', 'r', 'e', 'p'):
    case LETTERS('r', 'e', 'l', 'e'):
    case LETTERS('r', 'e', 's', 'e'):
    case LETTERS('r', 'o', 'l', 'l'):
    case LETTERS('s', 'a', 'v', 'e'):
    case LETTERS('s', 'e', 't', ' '):
    case LETTERS('s', 't', 'a', 'r'):
        return true;
    default:
        return false;
    }
}

#define BIT(name) (UINT32_C(1) << RH_SQL_CLASS_##name)

static const uint32_t session_classes = BIT(SET) | BIT(SET_ENCODING) | BIT(RESET) | BIT(RESET_ALL) |
                                        BIT(DISCARD_ALL) | BIT(PREPARE) | BIT(DEALLOCATE) |
                                        BIT(DEALLOCATE_ALL) | BIT(SESSION_AUTH);
static const uint32_t transaction_classes =
    BIT(BEGIN) | BIT(COMMIT) | BIT(ROLLBACK) | BIT(CHAIN) | BIT(SAVEPOINT) | BIT(SET_LOCAL);

/* The words that make up much of a log, alone. */
static bool classify_word(struct rh_span s, struct rh_statement_class *c)
{
    static const struct {
        char word[9];
        uint8_t len;
        uint8_t effect;
        uint32_t bits;
    } words[] = {
        {"begin", 5, RH_TXN_OPENS, BIT(BEGIN)},
        {"end", 3, RH_TXN_CLOSES, BIT(COMMIT)},
        {"commit", 6, RH_TXN_CLOSES, BIT(COMMIT)},
        {"rollback", 8, RH_TXN_CLOSES, BIT(ROLLBACK)},
    };
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++) {
        if (s.len == words[i].len && strncasecmp(s.data, words[i].word, s.len) == 0) {
            c->effect = (enum rh_txn_effect) words[i].effect;
            c->bits = words[i].bits;
            return true;
        }
    }
    return false;
}

/* What has no class of its own, but changes what later statements meet. */
static bool is_lasting(struct rh_span command)
{
    struct rh_sql_scan scan;
    struct rh_sql_token token;
    rh_sql_scan_init(&scan, command, false);
    do {
        token = rh_sql_scan_next(&scan);
    } while (token.kind == RH_SQL_SPACE || token.kind == RH_SQL_COMMENT);
    switch (first_letters(rh_span(command.data + token.start, token.len))) {
    case LETTERS('c', 'o', 'm', 'm'):
        return token.len == 6; /* not COMMENT */
    case LETTERS('r', 'o', 'l', 'l'):
    case LETTERS('s', 'e', 't', ' '):
    case LETTERS('d', 'i', 's', 'c'):
        return true;
    default:
        return false;
    }
}

void rh_statement_classify(struct rh_span text, struct rh_statement_class *c)
{
    struct rh_span s = trim(text);
    c->bits = 0;
    c->effect = RH_TXN_STAYS;
    c->other = c->lasting = false;
    if ((is_plain(s) || !may_matter(first_letters(s))) && !(s.len && memchr(s.data, ';', s.len))) {
        c->other = true;
        return;
    }
    if (classify_word(s, c)) {
        return;
    }
    struct rh_sql_commands commands;
    struct rh_sql_command command;
    rh_sql_commands_init(&commands, s, false);
    while (rh_sql_commands_next(&commands, &command)) {
        c->bits |= UINT32_C(1) << command.klass;
        switch (command.klass) {
        case RH_SQL_CLASS_BEGIN:
            c->effect = RH_TXN_OPENS;
            break;
        case RH_SQL_CLASS_COMMIT:
        case RH_SQL_CLASS_ROLLBACK:
            c->effect = RH_TXN_CLOSES;
            break;
        case RH_SQL_CLASS_CHAIN:
            c->effect = RH_TXN_CHAINS;
            break;
        case RH_SQL_CLASS_OTHER:
            if (is_lasting(command.text)) {
                c->lasting = true;
            } else {
                c->other = true;
            }
            break;
        default:
            break;
        }
    }
}

bool rh_statement_is_control(const struct rh_statement_class *c)
{
    return c->bits != 0 && !c->other && !(c->bits & (BIT(EMPTY) | BIT(COPY_IN) | BIT(COPY_OUT)));
}

bool rh_statement_changes_session(const struct rh_statement_class *c)
{
    return c->bits & session_classes;
}

bool rh_statement_changes_transaction(const struct rh_statement_class *c)
{
    return c->bits & transaction_classes;
}

bool rh_statement_must_stay(const struct rh_statement_class *c, bool is_whole)
{
    return rh_statement_is_control(c) || rh_statement_changes_session(c) || c->lasting ||
           (rh_statement_changes_transaction(c) && !is_whole);
}

bool rh_statement_has_params(struct rh_span text)
{
    if (text.len == 0 || !memchr(text.data, '$', text.len)) {
        return false;
    }
    struct rh_sql_scan scan;
    rh_sql_scan_init(&scan, text, false);
    for (;;) {
        struct rh_sql_token token = rh_sql_scan_next(&scan);
        if (token.kind == RH_SQL_END) {
            return false;
        }
        if (token.kind == RH_SQL_PARAM) {
            return true;
        }
    }
}

static bool ends_with(struct rh_span s, const char *tail)
{
    size_t n = strlen(tail);
    return s.len >= n && memcmp(s.data + s.len - n, tail, n) == 0;
}

bool rh_statement_is_cut(struct rh_span text)
{
    if (ends_with(text, " [Your log message was truncated]")) {
        return true;
    }
    if (!ends_with(text, "...")) {
        return false;
    }
    /* Outside of a comment three dots at the end are no SQL; in a string, comment or quoted name
     * that does not end they are what the server puts behind a cut. */
    struct rh_sql_scan scan;
    rh_sql_scan_init(&scan, text, false);
    struct rh_sql_token last = {0};
    for (;;) {
        struct rh_sql_token token = rh_sql_scan_next(&scan);
        if (token.kind == RH_SQL_END) {
            break;
        }
        last = token;
    }
    return last.kind != RH_SQL_COMMENT || last.broken;
}
