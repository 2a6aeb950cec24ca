/* formats/logmsg.c */
#include "formats/logmsg.h"

#include <ctype.h>
#include <string.h>

enum { ENGLISH = 0 };

void rh_logmsg_reader_init(struct rh_logmsg_reader *r)
{
    memset(r, 0, sizeof *r);
}

/* How messages are compared with the pieces of a language. */
struct match {
    const struct rh_logmsg_lang *lang;
    struct rh_span tag;
    bool loose; /* letters may have suffered, see logmsg.h */
};

/* The code point at p, and its bytes in *n. */
static uint32_t code_point(const char *p, size_t *n)
{
    unsigned char c = (unsigned char) p[0];
    size_t more = c >= 0xf0 ? 3 : c >= 0xe0 ? 2 : c >= 0xc0 ? 1 : 0;
    uint32_t v = c & (more == 3 ? 0x07u : more == 2 ? 0x0fu : more == 1 ? 0x1fu : 0x7fu);
    for (size_t i = 1; i <= more; i++) {
        v = v << 6 | ((unsigned char) p[i] & 0x3fu);
    }
    *n = more + 1;
    return v;
}

/* Bytes of s that stand for a letter as a database without it writes it; 0 if they do not. */
static size_t loose_letter(uint32_t v, struct rh_span s)
{
    if (s.len > 0 && (s.data[0] == '?' || (v < 0x100 && (unsigned char) s.data[0] == v))) {
        return 1;
    }
    if (v == 0xab || v == 0xbb) { /* guillemets */
        return rh_span_starts(s, v == 0xab ? "<<" : ">>") ? 2 : 0;
    }
    /* Full-width punctuation. */
    return v > 0xff00 && v < 0xff5f && s.len > 0 && (unsigned char) s.data[0] == v - 0xfee0;
}

static bool take_loose(struct rh_span *s, const char *piece)
{
    struct rh_span rest = *s;
    while (*piece) {
        size_t n, used;
        uint32_t v = code_point(piece, &n);
        if (rest.len >= n && memcmp(rest.data, piece, n) == 0) {
            used = n;
        } else {
            used = v >= 0x80 ? loose_letter(v, rest) : 0;
        }
        if (used == 0) {
            return false;
        }
        piece += n;
        rest = rh_span(rest.data + used, rest.len - used);
    }
    *s = rest;
    return true;
}

/* Take the piece off the start of *s. */
static bool take(const struct match *k, struct rh_span *s, const char *piece)
{
    if (!piece || s->len == 0) {
        return false;
    }
    if (k->loose) {
        return take_loose(s, piece);
    }
    if (*piece != *s->data) {
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

/* The piece's first place in s. */
static bool find(const struct match *k, struct rh_span s, const char *piece, struct rh_span *found)
{
    if (!k->loose) {
        size_t n = strlen(piece);
        const char *p = memmem(s.data, s.len, piece, n);
        *found = rh_span(p, n);
        return p != NULL;
    }
    while (s.len > 0) {
        struct rh_span rest = s;
        if (take_loose(&rest, piece)) {
            *found = rh_span(s.data, (size_t) (rest.data - s.data));
            return true;
        }
        s = rh_span(s.data + 1, s.len - 1);
    }
    return false;
}

static bool set_body(struct rh_logmsg *m, enum rh_logmsg_class klass, struct rh_span body)
{
    m->klass = klass;
    m->body = body;
    return true;
}

static bool classify_executed(const struct match *k, struct rh_span s, struct rh_logmsg *m)
{
    m->separator = RH_SPAN_LITERAL(": ");
    struct rh_span fetched = s, executed = s;
    bool is_fetch = take(k, &fetched, k->lang->fetch);
    bool is_execute = take(k, &executed, k->lang->execute);
    /* In some languages the word for a fetch begins with the word for an execute; Korean's two are
     * the same once their letters are lost. */
    if (is_fetch && !(is_execute && executed.len == fetched.len)) {
        return set_body(m, RH_LOGMSG_FETCH, fetched);
    }
    return is_execute && set_body(m, RH_LOGMSG_EXECUTE, executed);
}

/* In some languages nothing but a blank stands before the name, so the piece behind it decides. */
static bool classify_named(const struct match *k, const char *const piece[2], struct rh_span s,
                           enum rh_logmsg_class klass, struct rh_logmsg *m)
{
    return take(k, &s, piece[0]) && find(k, s, piece[1], &m->separator) && set_body(m, klass, s);
}

/* auto_explain and the fast path are not in the catalogues: English always. */
static bool classify_timed_english(const struct match *k, struct rh_span s, struct rh_logmsg *m)
{
    if (take(k, &s, " ms  plan:")) {
        return set_body(m, RH_LOGMSG_PLAN, s);
    }
    if (take(k, &s, " ms  fastpath function call: ")) {
        return set_body(m, RH_LOGMSG_FUNCTION, s);
    }
    return false;
}

static bool classify_timed(const struct match *k, struct rh_span s, struct rh_logmsg *m)
{
    const struct rh_logmsg_lang *lang = k->lang;
    struct rh_span rest = s;
    if (take(k, &rest, lang->bare) && rest.len == 0) {
        m->klass = RH_LOGMSG_DURATION;
        return true;
    }
    /* The words for bind and execute may be the same once their letters are lost. */
    if (rh_span_is(k->tag, "PARSE") && classify_named(k, lang->parse, s, RH_LOGMSG_PARSE, m)) {
        return true;
    }
    if (rh_span_is(k->tag, "BIND") && classify_named(k, lang->bind, s, RH_LOGMSG_BIND, m)) {
        return true;
    }
    rest = s;
    if (take(k, &rest, lang->timed_statement)) {
        return set_body(m, RH_LOGMSG_STATEMENT, rest);
    }
    rest = s;
    if (take(k, &rest, lang->timed) && classify_executed(k, rest, m)) {
        return true;
    }
    return classify_named(k, lang->parse, s, RH_LOGMSG_PARSE, m) ||
           classify_named(k, lang->bind, s, RH_LOGMSG_BIND, m) || classify_timed_english(k, s, m);
}

struct session_row {
    const char *piece;
    enum rh_logmsg_class klass;
};

static bool classify_rows(const struct match *k, struct rh_span s, const struct session_row *rows,
                          size_t count, struct rh_logmsg *m)
{
    for (size_t i = 0; i < count; i++) {
        struct rh_span rest = s;
        if (take(k, &rest, rows[i].piece)) {
            return set_body(m, rows[i].klass, rest);
        }
    }
    return false;
}

static bool classify_session(const struct match *k, struct rh_span s, struct rh_logmsg *m)
{
    const struct session_row rows[] = {
        {k->lang->received, RH_LOGMSG_RECEIVED},
        {k->lang->authenticated, RH_LOGMSG_AUTHENTICATED},
        {k->lang->authorized, RH_LOGMSG_AUTHORIZED},
        {k->lang->disconnection, RH_LOGMSG_DISCONNECTION},
        {k->lang->lost_client, RH_LOGMSG_LOST_CLIENT},
    };
    return classify_rows(k, s, rows, sizeof rows / sizeof rows[0], m);
}

static bool classify_english_only(struct rh_span s, struct rh_logmsg *m)
{
    static const struct session_row rows[] = {
        {"fastpath function call: ", RH_LOGMSG_FUNCTION},
        {"AUDIT: ", RH_LOGMSG_AUDIT},
        {"replication connection authorized: user=", RH_LOGMSG_REPLICATION_AUTHORIZED},
        {"received replication command: ", RH_LOGMSG_REPLICATION_COMMAND},
    };
    const struct match k = {&rh_logmsg_langs[ENGLISH], RH_SPAN_NONE, false};
    return classify_rows(&k, s, rows, sizeof rows / sizeof rows[0], m);
}

static bool classify_in(const struct match *k, struct rh_span s, struct rh_logmsg *m)
{
    for (int i = 0; i < 2; i++) {
        struct rh_span rest = s;
        if (take(k, &rest, k->lang->duration_heads[i]) && take_duration(&rest, &m->duration_ns)) {
            m->timed = true;
            if (classify_timed(k, rest, m)) {
                return true;
            }
            m->timed = false;
            m->duration_ns = -1;
        }
    }
    struct rh_span rest = s;
    if (take(k, &rest, k->lang->statement)) {
        return set_body(m, RH_LOGMSG_STATEMENT, rest);
    }
    return classify_executed(k, s, m) || classify_session(k, s, m);
}

/* Bytes that a letter may have become. */
static bool may_be_loose(struct rh_span s)
{
    size_t n = s.len < 64 ? s.len : 64;
    for (size_t i = 0; i < n; i++) {
        if (s.data[i] == '?' || (unsigned char) s.data[i] >= 0x80) {
            return true;
        }
    }
    return false;
}

/* The two messages that make up most of an English log, as classify_in() has them. */
static bool classify_common(struct rh_span s, struct rh_logmsg *m)
{
    static const char statement[] = "statement: ", duration[] = "duration: ";
    enum { STATEMENT_LEN = sizeof statement - 1, DURATION_LEN = sizeof duration - 1 };
    if (s.len > STATEMENT_LEN && memcmp(s.data, statement, STATEMENT_LEN) == 0) {
        return set_body(m, RH_LOGMSG_STATEMENT,
                        rh_span(s.data + STATEMENT_LEN, s.len - STATEMENT_LEN));
    }
    if (s.len <= DURATION_LEN || memcmp(s.data, duration, DURATION_LEN) != 0) {
        return false;
    }
    struct rh_span rest = rh_span(s.data + DURATION_LEN, s.len - DURATION_LEN);
    if (!take_duration(&rest, &m->duration_ns) || rest.len != 3 ||
        memcmp(rest.data, " ms", 3) != 0) {
        m->duration_ns = -1;
        return false;
    }
    m->timed = true;
    m->klass = RH_LOGMSG_DURATION;
    return true;
}

void rh_logmsg_classify(struct rh_logmsg_reader *r, struct rh_span message, struct rh_span tag,
                        struct rh_logmsg *m)
{
    *m = (struct rh_logmsg){.klass = RH_LOGMSG_OTHER, .duration_ns = -1};
    if (r->lang == ENGLISH && classify_common(message, m)) {
        r->lang_seen = true;
        return;
    }
    struct match k = {&rh_logmsg_langs[r->lang], tag, false};
    if (classify_in(&k, message, m) || classify_english_only(message, m)) {
        r->lang_seen = true;
        return;
    }
    for (int loose = 0; loose <= may_be_loose(message); loose++) {
        k.loose = loose;
        /* The language at hand first: with letters lost several may fit. */
        for (uint32_t n = 0; n < rh_logmsg_lang_count; n++) {
            uint32_t i = n == 0 ? r->lang : n <= r->lang ? n - 1 : n;
            k.lang = &rh_logmsg_langs[i];
            if (classify_in(&k, message, m)) {
                r->lang = i;
                r->lang_seen = true;
                return;
            }
        }
    }
    *m = (struct rh_logmsg){.klass = RH_LOGMSG_OTHER, .duration_ns = -1};
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
    size_t n = m->body.len, sep_len = m->separator.len, unnamed_len = sizeof unnamed - 1;
    if (n >= unnamed_len + sep_len && memcmp(body, unnamed, unnamed_len) == 0 &&
        memcmp(body + unnamed_len, m->separator.data, sep_len) == 0) {
        *name = rh_span(body, unnamed_len);
        *text = rh_span(body + unnamed_len + sep_len, n - unnamed_len - sep_len);
        return;
    }
    if (known_text.data && n >= known_text.len + sep_len) {
        size_t name_len = n - known_text.len - sep_len;
        if (memcmp(body + name_len, m->separator.data, sep_len) == 0 &&
            (known_text.len == 0 ||
             memcmp(body + name_len + sep_len, known_text.data, known_text.len) == 0)) {
            *name = rh_span(body, name_len);
            *text = rh_span(body + name_len + sep_len, known_text.len);
            return;
        }
    }
    size_t first = n, pos = 0;
    for (;;) {
        const char *sep = memmem(body + pos, n - pos, m->separator.data, sep_len);
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
    const struct match k = {&rh_logmsg_langs[r->lang], RH_SPAN_NONE, true};
    if (take(&k, &rest, k.lang->prepare) || take(&k, &rest, rh_logmsg_langs[ENGLISH].prepare)) {
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
static struct rh_span portal_parameters(const struct match *k, struct rh_span s)
{
    struct rh_span rest = s;
    const char *suffix = k->lang->unnamed_portal[1];
    if (!take(k, &rest, k->lang->unnamed_portal[0])) {
        rest = s;
        suffix = k->lang->named_portal[2];
        struct rh_span mid;
        if (!take(k, &rest, k->lang->named_portal[0]) ||
            !find(k, rest, k->lang->named_portal[1], &mid)) {
            return RH_SPAN_NONE;
        }
        const char *behind = mid.data + mid.len;
        rest = rh_span(behind, rest.len - (size_t) (behind - rest.data));
    }
    if (!rh_span_starts(rest, "$1 = ")) {
        return RH_SPAN_NONE;
    }
    for (size_t n = 1; *suffix && n <= strlen(suffix) && n <= rest.len; n++) {
        struct rh_span tail = rh_span(rest.data + rest.len - n, n);
        if (take(k, &tail, suffix) && tail.len == 0) {
            rest.len -= n;
            break;
        }
    }
    return rest;
}

struct rh_span rh_logmsg_context_parameters(struct rh_span context)
{
    size_t at = 0;
    while (at < context.len) {
        struct rh_span line = rh_span(context.data + at, context.len - at);
        for (uint32_t i = 0; i < rh_logmsg_lang_count; i++) {
            const struct match k = {&rh_logmsg_langs[i], RH_SPAN_NONE, true};
            if (k.lang->unnamed_portal[0]) {
                struct rh_span list = portal_parameters(&k, line);
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

/* The text of version() is the same in all languages, unlike the words around it. */
struct rh_span rh_logmsg_server_version(struct rh_span message)
{
    static const char name[] = "PostgreSQL ";
    const char *at = memmem(message.data, message.len, name, sizeof name - 1);
    if (!at || !memmem(message.data, message.len, ", compiled by ", 14)) {
        return RH_SPAN_NONE;
    }
    at += sizeof name - 1;
    size_t rest = message.len - (size_t) (at - message.data);
    const char *blank = memchr(at, ' ', rest);
    if (!blank || *at < '0' || *at > '9') {
        return RH_SPAN_NONE;
    }
    return rh_span(at, (size_t) (blank - at));
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
