/* formats/logmsg.c */
#include "formats/logmsg.h"

#include <ctype.h>
#include <string.h>

enum { ENGLISH = 0 };

void rh_logmsg_reader_init(struct rh_logmsg_reader *r)
{
    memset(r, 0, sizeof *r);
}

/* Take the piece off the start of *s. */
static bool take(struct rh_span *s, const char *piece)
{
    if (!piece || s->len == 0 || *piece != *s->data) {
        return false;
    }
    size_t n = strlen(piece);
    if (n > s->len || memcmp(s->data, piece, n) != 0) {
        return false;
    }
    s->data += n;
    s->len -= n;
    return true;
}

/* "1234.567": always with a point and three digits, whatever the language. */
static bool take_duration(struct rh_span *s, int64_t *ns)
{
    int64_t v = 0;
    size_t i = 0;
    while (i < s->len && i < 12 && s->data[i] >= '0' && s->data[i] <= '9') {
        v = v * 10 + (s->data[i++] - '0');
    }
    if (i == 0 || s->len - i < 4 || s->data[i] != '.') {
        return false;
    }
    for (size_t end = ++i + 3; i < end; i++) {
        if (s->data[i] < '0' || s->data[i] > '9') {
            return false;
        }
        v = v * 10 + (s->data[i] - '0');
    }
    *ns = v * 1000;
    *s = rh_span(s->data + i, s->len - i);
    return true;
}

static bool contains(struct rh_span s, const char *piece)
{
    return piece && memmem(s.data, s.len, piece, strlen(piece)) != NULL;
}

static bool set_body(struct rh_logmsg *m, enum rh_logmsg_class klass, struct rh_span body,
                     const char *separator)
{
    m->klass = klass;
    m->body = body;
    m->separator = separator;
    return true;
}

static bool classify_executed(const struct rh_logmsg_lang *lang, struct rh_span s,
                              struct rh_logmsg *m)
{
    /* In some languages the word for a fetch begins with the word for an execute. */
    if (take(&s, lang->fetch)) {
        return set_body(m, RH_LOGMSG_FETCH, s, ": ");
    }
    if (take(&s, lang->execute)) {
        return set_body(m, RH_LOGMSG_EXECUTE, s, ": ");
    }
    return false;
}

/* In some languages nothing but a blank stands before the name, so the piece behind it decides. */
static bool classify_named(const char *const piece[2], struct rh_span s, enum rh_logmsg_class klass,
                           struct rh_logmsg *m)
{
    return take(&s, piece[0]) && contains(s, piece[1]) && set_body(m, klass, s, piece[1]);
}

/* auto_explain and the fast path are not in the catalogues: English always. */
static bool classify_timed_english(struct rh_span s, struct rh_logmsg *m)
{
    if (take(&s, " ms  plan:")) {
        return set_body(m, RH_LOGMSG_PLAN, s, NULL);
    }
    if (take(&s, " ms  fastpath function call: ")) {
        return set_body(m, RH_LOGMSG_FUNCTION, s, NULL);
    }
    return false;
}

static bool classify_timed(const struct rh_logmsg_lang *lang, struct rh_span s, struct rh_span tag,
                           struct rh_logmsg *m)
{
    struct rh_span rest = s;
    if (take(&rest, lang->bare) && rest.len == 0) {
        m->klass = RH_LOGMSG_DURATION;
        return true;
    }
    rest = s;
    if (take(&rest, lang->timed_statement)) {
        return set_body(m, RH_LOGMSG_STATEMENT, rest, NULL);
    }
    rest = s;
    if (take(&rest, lang->timed) && classify_executed(lang, rest, m)) {
        return true;
    }
    if (rh_span_is(tag, "BIND")) {
        return classify_named(lang->bind, s, RH_LOGMSG_BIND, m) ||
               classify_named(lang->parse, s, RH_LOGMSG_PARSE, m) || classify_timed_english(s, m);
    }
    return classify_named(lang->parse, s, RH_LOGMSG_PARSE, m) ||
           classify_named(lang->bind, s, RH_LOGMSG_BIND, m) || classify_timed_english(s, m);
}

static bool classify_session(const struct rh_logmsg_lang *lang, struct rh_span s,
                             struct rh_logmsg *m)
{
    const struct {
        const char *piece;
        enum rh_logmsg_class klass;
    } rows[] = {
        {lang->received, RH_LOGMSG_RECEIVED},       {lang->authenticated, RH_LOGMSG_AUTHENTICATED},
        {lang->authorized, RH_LOGMSG_AUTHORIZED},   {lang->disconnection, RH_LOGMSG_DISCONNECTION},
        {lang->lost_client, RH_LOGMSG_LOST_CLIENT},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct rh_span rest = s;
        if (take(&rest, rows[i].piece)) {
            return set_body(m, rows[i].klass, rest, NULL);
        }
    }
    return false;
}

static bool classify_english_only(struct rh_span s, struct rh_logmsg *m)
{
    static const struct {
        const char *piece;
        enum rh_logmsg_class klass;
    } rows[] = {
        {"fastpath function call: ", RH_LOGMSG_FUNCTION},
        {"AUDIT: ", RH_LOGMSG_AUDIT},
        {"replication connection authorized: user=", RH_LOGMSG_REPLICATION_AUTHORIZED},
        {"received replication command: ", RH_LOGMSG_REPLICATION_COMMAND},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct rh_span rest = s;
        if (take(&rest, rows[i].piece)) {
            return set_body(m, rows[i].klass, rest, NULL);
        }
    }
    return false;
}

static bool classify_in(const struct rh_logmsg_lang *lang, struct rh_span s, struct rh_span tag,
                        struct rh_logmsg *m)
{
    for (int i = 0; i < 2; i++) {
        struct rh_span rest = s;
        if (take(&rest, lang->duration_heads[i]) && take_duration(&rest, &m->duration_ns)) {
            m->timed = true;
            if (classify_timed(lang, rest, tag, m)) {
                return true;
            }
            m->timed = false;
            m->duration_ns = -1;
        }
    }
    struct rh_span rest = s;
    if (take(&rest, lang->statement)) {
        return set_body(m, RH_LOGMSG_STATEMENT, rest, NULL);
    }
    return classify_executed(lang, s, m) || classify_session(lang, s, m);
}

void rh_logmsg_classify(struct rh_logmsg_reader *r, struct rh_span message, struct rh_span tag,
                        struct rh_logmsg *m)
{
    m->klass = RH_LOGMSG_OTHER;
    m->timed = false;
    m->duration_ns = -1;
    m->body = RH_SPAN_NONE;
    m->separator = NULL;
    if (classify_in(&rh_logmsg_langs[r->lang], message, tag, m) ||
        classify_english_only(message, m)) {
        r->lang_seen = true;
        return;
    }
    for (uint32_t i = 0; i < rh_logmsg_lang_count; i++) {
        if (i != r->lang && classify_in(&rh_logmsg_langs[i], message, tag, m)) {
            r->lang = i;
            r->lang_seen = true;
            return;
        }
    }
}

static enum rh_log_severity severity_of_sqlstate(struct rh_span sqlstate)
{
    if (rh_span_starts(sqlstate, "00")) {
        return RH_LOG_SEVERITY_LOG;
    }
    if (rh_span_starts(sqlstate, "01") || rh_span_starts(sqlstate, "02")) {
        return RH_LOG_SEVERITY_WARNING;
    }
    return RH_LOG_SEVERITY_ERROR;
}

enum rh_log_severity rh_logmsg_severity(struct rh_logmsg_reader *r, struct rh_span word,
                                        struct rh_span sqlstate)
{
    if (word.len == 3 && memcmp(word.data, "LOG", 3) == 0) {
        return RH_LOG_SEVERITY_LOG;
    }
    if (word.len == r->severity_len && memcmp(word.data, r->severity_word, word.len) == 0) {
        return r->severity;
    }
    for (uint32_t i = 0; i < rh_logmsg_lang_count; i++) {
        for (int s = 0; s < RH_LOG_SEVERITY_COUNT; s++) {
            const char *name = rh_logmsg_langs[i].severities[s];
            if (name && rh_span_is(word, name)) {
                r->severity = (enum rh_log_severity) s;
                if (word.len < sizeof r->severity_word) {
                    memcpy(r->severity_word, word.data, word.len);
                    r->severity_len = (uint8_t) word.len;
                }
                return r->severity;
            }
        }
    }
    return severity_of_sqlstate(sqlstate);
}

/* Words with which a command begins, by their first letter, each ended by a blank. */
static const char *const command_words[26] = {
    ['a' - 'a'] = "abort alter analyze analyse ",
    ['b' - 'a'] = "begin ",
    ['c' - 'a'] = "call checkpoint close cluster comment commit copy create ",
    ['d' - 'a'] = "deallocate declare delete discard do drop ",
    ['e' - 'a'] = "end execute explain ",
    ['f' - 'a'] = "fetch ",
    ['g' - 'a'] = "grant ",
    ['i' - 'a'] = "import insert ",
    ['l' - 'a'] = "listen load lock ",
    ['m' - 'a'] = "merge move ",
    ['n' - 'a'] = "notify ",
    ['p' - 'a'] = "prepare ",
    ['r' - 'a'] = "reassign refresh reindex release repack reset revoke rollback ",
    ['s' - 'a'] = "savepoint security select set show start ",
    ['t' - 'a'] = "table truncate ",
    ['u' - 'a'] = "unlisten update ",
    ['v' - 'a'] = "vacuum values ",
    ['w' - 'a'] = "wait with ",
};

/* What begins with none of them has another ": " before it. */
static bool seems_sql(struct rh_span s)
{
    size_t i = 0;
    while (i < s.len &&
           (isspace((unsigned char) s.data[i]) || s.data[i] == '(' || s.data[i] == ';')) {
        i++;
    }
    if (i == s.len || s.data[i] == '/' || s.data[i] == '-') {
        return true;
    }
    char word[16];
    size_t n = 0;
    while (i + n < s.len && n < sizeof word && isalpha((unsigned char) s.data[i + n])) {
        word[n] = (char) tolower((unsigned char) s.data[i + n]);
        n++;
    }
    if (n == 0 || n == sizeof word || !command_words[word[0] - 'a']) {
        return false;
    }
    const char *p = command_words[word[0] - 'a'];
    while (*p) {
        if (strncmp(p, word, n) == 0 && p[n] == ' ') {
            return true;
        }
        p = strchr(p, ' ') + 1;
    }
    return false;
}

void rh_logmsg_split(const struct rh_logmsg *m, struct rh_span known_text, struct rh_span *name,
                     struct rh_span *text)
{
    static const char unnamed[] = "<unnamed>";
    const char *body = m->body.data;
    size_t n = m->body.len, sep_len = strlen(m->separator), unnamed_len = sizeof unnamed - 1;
    if (n >= unnamed_len + sep_len && memcmp(body, unnamed, unnamed_len) == 0 &&
        memcmp(body + unnamed_len, m->separator, sep_len) == 0) {
        *name = rh_span(body, unnamed_len);
        *text = rh_span(body + unnamed_len + sep_len, n - unnamed_len - sep_len);
        return;
    }
    if (known_text.data && n >= known_text.len + sep_len) {
        size_t name_len = n - known_text.len - sep_len;
        if (memcmp(body + name_len, m->separator, sep_len) == 0 &&
            (known_text.len == 0 ||
             memcmp(body + name_len + sep_len, known_text.data, known_text.len) == 0)) {
            *name = rh_span(body, name_len);
            *text = rh_span(body + name_len + sep_len, known_text.len);
            return;
        }
    }
    size_t first = n, pos = 0;
    for (;;) {
        const char *sep = memmem(body + pos, n - pos, m->separator, sep_len);
        if (!sep) {
            break;
        }
        size_t at = (size_t) (sep - body);
        if (first == n) {
            first = at;
        }
        if (seems_sql(rh_span(sep + sep_len, n - at - sep_len))) {
            first = at;
            break;
        }
        pos = at + 1;
    }
    size_t text_at = first == n ? n : first + sep_len;
    *name = rh_span(body, first);
    *text = rh_span(body + text_at, n - text_at);
}

struct rh_span rh_logmsg_prepare(const struct rh_logmsg_reader *r, struct rh_span detail)
{
    struct rh_span rest = detail;
    if (take(&rest, rh_logmsg_langs[r->lang].prepare) ||
        take(&rest, rh_logmsg_langs[ENGLISH].prepare)) {
        return rest;
    }
    /* A statement's detail is nothing else, so the words do not matter. */
    const char *colon =
        detail.len ? memmem(detail.data, detail.len < 64 ? detail.len : 64, ": ", 2) : NULL;
    if (!colon) {
        return RH_SPAN_NONE;
    }
    size_t used = (size_t) (colon + 2 - detail.data);
    return rh_span(detail.data + used, detail.len - used);
}

struct rh_span rh_logmsg_parameters(struct rh_span detail)
{
    const char *first =
        detail.len ? memmem(detail.data, detail.len < 64 ? detail.len : 64, "$1 = ", 5) : NULL;
    return first ? rh_span(first, detail.len - (size_t) (first - detail.data)) : RH_SPAN_NONE;
}

/* The list in a context line that begins at s, in one language. */
static struct rh_span portal_parameters(const struct rh_logmsg_lang *lang, struct rh_span s)
{
    struct rh_span rest = s;
    const char *suffix = lang->unnamed_portal[1];
    if (!take(&rest, lang->unnamed_portal[0])) {
        rest = s;
        suffix = lang->named_portal[2];
        if (!take(&rest, lang->named_portal[0])) {
            return RH_SPAN_NONE;
        }
        const char *mid =
            memmem(rest.data, rest.len, lang->named_portal[1], strlen(lang->named_portal[1]));
        if (!mid) {
            return RH_SPAN_NONE;
        }
        mid += strlen(lang->named_portal[1]);
        rest = rh_span(mid, rest.len - (size_t) (mid - rest.data));
    }
    if (!rh_span_starts(rest, "$1 = ")) {
        return RH_SPAN_NONE;
    }
    size_t n = strlen(suffix);
    if (n > 0 && rest.len >= n && memcmp(rest.data + rest.len - n, suffix, n) == 0) {
        rest.len -= n;
    }
    return rest;
}

struct rh_span rh_logmsg_context_parameters(struct rh_span context)
{
    size_t at = 0;
    while (at < context.len) {
        struct rh_span line = rh_span(context.data + at, context.len - at);
        for (uint32_t i = 0; i < rh_logmsg_lang_count; i++) {
            if (rh_logmsg_langs[i].unnamed_portal[0]) {
                struct rh_span list = portal_parameters(&rh_logmsg_langs[i], line);
                if (list.data) {
                    return list;
                }
            }
        }
        const char *feed = memchr(line.data, '\n', line.len);
        at = feed ? (size_t) (feed + 1 - context.data) : context.len;
    }
    return RH_SPAN_NONE;
}

struct rh_span rh_logmsg_application(const struct rh_logmsg_reader *r, struct rh_span body)
{
    const char *words = rh_logmsg_langs[r->lang].application;
    const char *found = words ? memmem(body.data, body.len, words, strlen(words)) : NULL;
    if (!found) {
        return RH_SPAN_NONE;
    }
    found += strlen(words);
    struct rh_span name = rh_span(found, body.len - (size_t) (found - body.data));
    static const char *const behind[] = {" SSL enabled (", " GSS ("};
    for (size_t i = 0; i < sizeof behind / sizeof behind[0]; i++) {
        const char *end = memmem(name.data, name.len, behind[i], strlen(behind[i]));
        if (end) {
            name.len = (size_t) (end - name.data);
        }
    }
    return name;
}

bool rh_logmsg_is_cancel(struct rh_span message)
{
    for (uint32_t i = 0; i < rh_logmsg_lang_count; i++) {
        if (rh_logmsg_langs[i].cancel_user && rh_span_is(message, rh_logmsg_langs[i].cancel_user)) {
            return true;
        }
    }
    return false;
}

bool rh_logmsg_is_statement_timeout(struct rh_span message)
{
    for (uint32_t i = 0; i < rh_logmsg_lang_count; i++) {
        if (rh_logmsg_langs[i].cancel_timeout &&
            rh_span_is(message, rh_logmsg_langs[i].cancel_timeout)) {
            return true;
        }
    }
    return false;
}
