#include "common/secret.h"

#include <stdint.h>
#include <string.h>

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

#include "common/sql_lex.h"
#include "common/sql_word.h"

/* What the words of the current command so far make of strings that follow. */
enum context {
    CONTEXT_NONE,
    CONTEXT_MAKE,    /* CREATE or ALTER */
    CONTEXT_ROLE,    /* ... ROLE, USER, GROUP */
    CONTEXT_OPTIONS, /* ... USER MAPPING, SERVER, FOREIGN */
    CONTEXT_CONNECT, /* ... SUBSCRIPTION, SYSTEM; dblink */
};

enum { NESTING_MAX = 4 };

struct masker {
    struct rh_buf *out; /* NULL: only look */
    bool found;
};

static void put(struct masker *m, struct rh_span part)
{
    if (m->out) {
        rh_buf_add_span(m->out, part);
    }
}

static char lower(char c)
{
    return (char) (c >= 'A' && c <= 'Z' ? c | 0x20 : c);
}

static bool starts_with(struct rh_span s, const char *word)
{
    size_t n = strlen(word);
    if (s.len < n) {
        return false;
    }
    for (size_t i = 0; i < n; i++) {
        if (lower(s.data[i]) != word[i]) {
            return false;
        }
    }
    return true;
}

static bool ends_with(struct rh_span s, const char *word)
{
    size_t n = strlen(word);
    return s.len >= n && starts_with((struct rh_span){s.data + s.len - n, n}, word);
}

/* Where word begins in s at or behind `from`, or s.len. */
static size_t find_word(struct rh_span s, size_t from, const char *word)
{
    for (size_t i = from; i < s.len; i++) {
        if (lower(s.data[i]) == word[0] &&
            starts_with((struct rh_span){s.data + i, s.len - i}, word)) {
            return i;
        }
    }
    return s.len;
}

static size_t skip_blanks(struct rh_span s, size_t at)
{
    while (at < s.len && rh_lex_class_of(s.data[at]) == RH_LEX_SPACE) {
        at++;
    }
    return at;
}

/* Behind the next "password" or "passwd" and the blanks that follow it; 0 if there is none. */
static size_t next_password(struct rh_span s, size_t from)
{
    for (size_t i = find_word(s, from, "passw"); i < s.len; i = find_word(s, i + 1, "passw")) {
        struct rh_span rest = {s.data + i, s.len - i};
        if (starts_with(rest, "password")) {
            return skip_blanks(s, i + 8);
        }
        if (starts_with(rest, "passwd")) {
            return skip_blanks(s, i + 6);
        }
    }
    return 0;
}

static bool has_password_setting(struct rh_span s)
{
    for (size_t at = next_password(s, 0); at; at = next_password(s, at)) {
        if (at < s.len && s.data[at] == '=') {
            return true;
        }
    }
    return false;
}

/* SCHEME://USER:PASSWORD@ */
static bool has_uri_password(struct rh_span s, const char *scheme_end)
{
    for (size_t i = find_word(s, 0, scheme_end); i < s.len; i = find_word(s, i + 1, scheme_end)) {
        bool colon = false;
        for (size_t j = i + strlen(scheme_end); j < s.len; j++) {
            char c = s.data[j];
            if (c == '@' && colon) {
                return true;
            }
            if (c == '/' || c == '?' || c == '@' || rh_lex_class_of(c) == RH_LEX_SPACE) {
                break;
            }
            colon |= c == ':';
        }
    }
    return false;
}

static bool has_setting(struct rh_span s, const char *name)
{
    for (size_t i = find_word(s, 0, name); i < s.len; i = find_word(s, i + 1, name)) {
        size_t at = skip_blanks(s, i + strlen(name));
        if (at < s.len && s.data[at] == '=') {
            return true;
        }
    }
    return false;
}

/* PASSWORD with a quote behind it that is doubled or escaped: a command inside a string. */
static bool has_quoted_password(struct rh_span s)
{
    for (size_t at = next_password(s, 0); at; at = next_password(s, at)) {
        if (s.len - at >= 2 &&
            (memcmp(s.data + at, "''", 2) == 0 || memcmp(s.data + at, "\\'", 2) == 0)) {
            return true;
        }
    }
    return false;
}

static bool is_secret_anywhere(struct rh_span s)
{
    if (has_uri_password(s, "postgresql://") || has_uri_password(s, "postgres://")) {
        return true;
    }
    return has_password_setting(s) &&
           (has_setting(s, "host") || has_setting(s, "hostaddr") || has_setting(s, "dbname") ||
            has_setting(s, "user") || has_setting(s, "port"));
}

static bool is_secret_connection(struct rh_span s)
{
    return has_password_setting(s) || has_uri_password(s, "://");
}

/* A plain string whose last byte is an odd backslash: with standard_conforming_strings off its
 * closing quote was none. */
static bool may_go_on(struct rh_span s)
{
    size_t n = 0;
    while (s.len >= n + 3 && s.data[s.len - 2 - n] == '\\') {
        n++;
    }
    return s.data[0] == '\'' && n % 2 == 1;
}

static enum context context_after(enum context context, enum rh_sql_word word, struct rh_span text)
{
    if (word == RH_W_CREATE || word == RH_W_ALTER) {
        return CONTEXT_MAKE;
    }
    if (starts_with(text, "dblink")) {
        return CONTEXT_CONNECT;
    }
    if (context == CONTEXT_MAKE) {
        switch (word) {
        case RH_W_ROLE:
        case RH_W_USER:
        case RH_W_GROUP:
            return CONTEXT_ROLE;
        case RH_W_SERVER:
        case RH_W_FOREIGN:
            return CONTEXT_OPTIONS;
        case RH_W_SUBSCRIPTION:
        case RH_W_SYSTEM:
            return CONTEXT_CONNECT;
        default:
            return CONTEXT_NONE;
        }
    }
    return context == CONTEXT_ROLE && word == RH_W_MAPPING ? CONTEXT_OPTIONS : context;
}

/* Words that may stand behind a role of the name "password" or behind PASSWORD NULL's place. */
static bool is_role_clause(enum rh_sql_word word)
{
    switch (word) {
    case RH_W_NULL:
    case RH_W_VALID:
    case RH_W_SUPERUSER:
    case RH_W_NOSUPERUSER:
    case RH_W_CREATEDB:
    case RH_W_NOCREATEDB:
    case RH_W_CREATEROLE:
    case RH_W_NOCREATEROLE:
    case RH_W_INHERIT:
    case RH_W_NOINHERIT:
    case RH_W_LOGIN:
    case RH_W_NOLOGIN:
    case RH_W_REPLICATION:
    case RH_W_NOREPLICATION:
    case RH_W_BYPASSRLS:
    case RH_W_NOBYPASSRLS:
    case RH_W_CONNECTION:
    case RH_W_IN:
    case RH_W_ROLE:
    case RH_W_USER:
    case RH_W_ADMIN:
    case RH_W_SYSID:
    case RH_W_ENCRYPTED:
    case RH_W_UNENCRYPTED:
    case RH_W_PASSWORD:
    case RH_W_WITH:
    case RH_W_SET:
    case RH_W_RESET:
    case RH_W_RENAME:
    case RH_W_ADD:
    case RH_W_DROP:
        return true;
    default:
        return false;
    }
}

/* Whether this token, behind PASSWORD in CREATE ROLE, is the password. */
static bool is_role_password(enum rh_sql_token_kind kind, enum rh_sql_word word)
{
    switch (kind) {
    case RH_SQL_STRING:
    case RH_SQL_QUOTED_WORD:
    case RH_SQL_NUMBER:
        return true;
    case RH_SQL_WORD:
        return !is_role_clause(word);
    default:
        return false;
    }
}

static bool is_password_option(struct rh_span name)
{
    if (name.len >= 2 && name.data[name.len - 1] == '"') {
        name.len--;
    }
    return ends_with(name, "password") || ends_with(name, "passwd");
}

static bool is_secret_string(enum context context, struct rh_span text, struct rh_span prev)
{
    if (context == CONTEXT_OPTIONS && is_password_option(prev)) {
        return true;
    }
    if ((context == CONTEXT_OPTIONS || context == CONTEXT_CONNECT) && is_secret_connection(text)) {
        return true;
    }
    return is_secret_anywhere(text) || (text.data[0] != '$' && has_quoted_password(text));
}

static void mask_text(struct masker *m, struct rh_span text, int nesting);

/* What a dollar-quoted string holds is commands, as far as anybody can tell. */
static void mask_dollar_string(struct masker *m, struct rh_span text, bool broken, int nesting)
{
    const char *tag_end = memchr(text.data + 1, '$', text.len - 1);
    struct rh_span open = {text.data, (size_t) (tag_end + 1 - text.data)};
    struct rh_span close = {text.data + text.len - (broken ? 0 : open.len), broken ? 0 : open.len};
    struct rh_span body = {open.data + open.len, text.len - open.len - close.len};
    put(m, open);
    if (nesting < NESTING_MAX) {
        mask_text(m, body, nesting + 1);
    } else if (next_password(body, 0)) {
        put(m, RH_SPAN_LITERAL(RH_SECRET_MARKER));
        m->found = true;
    } else {
        put(m, body);
    }
    put(m, close);
}

/* Mask or copy one token.  False when the rest of the text went with it. */
static bool mask_token(struct masker *m, struct rh_span text, struct rh_sql_token t, bool secret,
                       int nesting)
{
    if (secret) {
        put(m, RH_SPAN_LITERAL(RH_SECRET_MARKER));
        m->found = true;
        return !may_go_on(text);
    }
    if (t.kind == RH_SQL_STRING && text.data[0] == '$') {
        mask_dollar_string(m, text, t.broken, nesting);
    } else {
        put(m, text);
    }
    return true;
}

static void mask_text(struct masker *m, struct rh_span text, int nesting)
{
    struct rh_sql_scan scan;
    rh_sql_scan_init(&scan, text, false);
    enum context context = CONTEXT_NONE;
    struct rh_span prev = RH_SPAN_LITERAL("");
    bool behind_password = false;
    for (;;) {
        struct rh_sql_token t = rh_sql_scan_next(&scan);
        struct rh_span part = {scan.data + t.start, t.len};
        if (t.kind == RH_SQL_END) {
            return;
        }
        if (t.kind == RH_SQL_SPACE || t.kind == RH_SQL_COMMENT) {
            put(m, part);
            continue;
        }
        enum rh_sql_word word = t.kind == RH_SQL_WORD ? rh_sql_word_find(part) : RH_W_UNKNOWN;
        bool secret = (behind_password && is_role_password(t.kind, word)) ||
                      (t.kind == RH_SQL_STRING && is_secret_string(context, part, prev));
        if (!mask_token(m, part, t, secret, nesting)) {
            return;
        }
        if (t.kind == RH_SQL_WORD) {
            context = context_after(context, word, part);
        } else if (rh_span_is(part, ";")) {
            context = CONTEXT_NONE;
        }
        behind_password = context == CONTEXT_ROLE &&
                          (word == RH_W_PASSWORD || (behind_password && rh_span_is(part, "=")));
        if (!rh_span_is(part, "=")) {
            prev = part;
        }
    }
}

/* The byte at text.data[at] is one of `wW:`: whether it is the last of "passw" or the first of
 * "://". */
static bool is_hint(struct rh_span text, size_t at)
{
    if (text.data[at] == ':') {
        return text.len - at >= 3 && text.data[at + 1] == '/' && text.data[at + 2] == '/';
    }
    return at >= 4 && starts_with((struct rh_span){text.data + at - 4, 4}, "pass");
}

/*
 * Every rule above needs "passw" or "://", of which `w` and `:` are rare enough to look for.
 */
static bool may_hold_secret(struct rh_span text)
{
    size_t at = 0;
#if defined(__SSE2__)
    const __m128i w = _mm_set1_epi8('w'), colon = _mm_set1_epi8(':'),
                  lower_bit = _mm_set1_epi8(0x20);
    for (; text.len - at >= sizeof w; at += sizeof w) {
        const __m128i v = _mm_loadu_si128((const __m128i *) (const void *) (text.data + at));
        uint32_t found = (uint32_t) _mm_movemask_epi8(
            _mm_or_si128(_mm_cmpeq_epi8(v, colon), _mm_cmpeq_epi8(_mm_or_si128(v, lower_bit), w)));
        for (; found; found &= found - 1) {
            if (is_hint(text, at + (unsigned) __builtin_ctz(found))) {
                return true;
            }
        }
    }
#endif
    for (; at < text.len; at++) {
        char c = text.data[at];
        if ((c == ':' || c == 'w' || c == 'W') && is_hint(text, at)) {
            return true;
        }
    }
    return false;
}

bool rh_secret_mask(struct rh_span text, struct rh_buf *masked)
{
    if (text.len == 0 || !may_hold_secret(text)) {
        return false;
    }
    /* *masked may be touched only if there is one, so a first pass looks. */
    struct masker look = {NULL, false};
    mask_text(&look, text, 0);
    if (!look.found) {
        return false;
    }
    rh_buf_clear(masked);
    struct masker write = {masked, false};
    mask_text(&write, text, 0);
    return true;
}
