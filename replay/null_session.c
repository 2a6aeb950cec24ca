#include "replay/null_session.h"

#include <string.h>

#include "common/alloc.h"
#include "common/hash.h"
#include "replay/null_session_parts.h"

/* Codes in place of a version: src/include/libpq/pqcomm.h. */
enum {
    CODE_CANCEL = 80877102,
    CODE_TLS = 80877103,
    CODE_GSS = 80877104,
    KEY_BYTES_3_0 = 4,
    UNKNOWN_OPTIONS_MAX = 16,
};

void rh_null_session_init(struct rh_null_session *s, const struct rh_null_options *options,
                          struct rh_null_counts *counts, uint32_t pid, uint64_t serial)
{
    *s = (struct rh_null_session){
        .options = options,
        .counts = counts,
        .pid = pid,
        .serial = serial,
        .phase = RH_NULL_STARTUP,
        .status = 'I',
    };
    rh_pg_scan_init(&s->scan, RH_PG_FRONTEND, RH_NULL_TEXT_MAX);
    s->scan.untyped = true;
    rh_buf_init(&s->rest, RH_NULL_TEXT_MAX);
    rh_map_init(&s->prepared);
    rh_map_init(&s->portals);
}

void rh_null_session_release(struct rh_null_session *s)
{
    rh_pg_scan_release(&s->scan);
    rh_buf_release(&s->rest);
    rh_null_prepared_forget_all(s);
    rh_null_portals_forget_all(s);
    rh_free(s->unnamed_prepared.types);
}

static void make_key(const struct rh_null_session *s, char key[RH_NULL_KEY_MAX])
{
    for (uint64_t i = 0; i < RH_NULL_KEY_MAX / sizeof(uint64_t); i++) {
        const uint64_t source[] = {s->options->seed, s->pid, s->serial, i};
        uint64_t part = rh_hash(rh_span((const char *) source, sizeof source));
        memcpy(key + i * sizeof part, &part, sizeof part);
    }
}

bool rh_null_session_has_key(const struct rh_null_session *s, struct rh_span key)
{
    char own[RH_NULL_KEY_MAX];
    make_key(s, own);
    return (key.len == KEY_BYTES_3_0 || key.len == RH_NULL_KEY_MAX) &&
           memcmp(own, key.data, key.len) == 0;
}

bool rh_null_session_cancel(struct rh_null_session *s)
{
    s->work.is_cancelled = s->work.stage != RH_NULL_IDLE;
    return s->work.is_cancelled;
}

/* The parameters that a driver looks at when it connects: guc_tables.c, GUC_REPORT. */
static void write_parameters(const struct rh_null_session *s, struct rh_span user,
                             struct rh_span application, struct rh_buf *out)
{
    static const char *const fixed[][2] = {
        {"server_encoding", "UTF8"},
        {"client_encoding", "UTF8"},
        {"DateStyle", "ISO, MDY"},
        {"TimeZone", "UTC"},
        {"IntervalStyle", "postgres"},
        {"integer_datetimes", "on"},
        {"is_superuser", "on"},
        {"standard_conforming_strings", "on"},
        {"in_hot_standby", "off"},
        {"default_transaction_read_only", "off"},
        {"search_path", "\"$user\", public"},
    };
    for (size_t i = 0; i < sizeof fixed / sizeof fixed[0]; i++) {
        rh_null_write_parameter(out, fixed[i][0], rh_span_cstr(fixed[i][1]));
    }
    rh_null_write_parameter(out, "server_version", rh_span_cstr(s->options->server_version));
    rh_null_write_parameter(out, "session_authorization", user);
    rh_null_write_parameter(out, "application_name", application);
}

/* What of a startup message counts. */
struct startup {
    struct rh_span user;
    struct rh_span application;
    bool is_replication;
    struct rh_span unknown[UNKNOWN_OPTIONS_MAX]; /* options of a later protocol */
    uint32_t unknown_count;
};

static int read_startup(struct rh_null_reader *body, struct startup *startup)
{
    *startup = (struct startup){.user = RH_SPAN_LITERAL(""), .application = RH_SPAN_LITERAL("")};
    for (;;) {
        struct rh_span name = rh_null_read_string(body);
        if (body->is_short || name.len == 0) {
            return body->is_short ? -1 : 0;
        }
        struct rh_span value = rh_null_read_string(body);
        if (rh_span_is(name, "user")) {
            startup->user = value;
        } else if (rh_span_is(name, "application_name")) {
            startup->application = value;
        } else if (rh_span_is(name, "replication")) {
            startup->is_replication = !rh_span_is(value, "false") && !rh_span_is(value, "off");
        } else if (rh_span_starts(name, "_pq_.") && startup->unknown_count < UNKNOWN_OPTIONS_MAX) {
            startup->unknown[startup->unknown_count++] = name;
        }
    }
}

static enum rh_null_turn log_in(struct rh_null_session *s, uint32_t version,
                                struct rh_null_reader *body, struct rh_buf *out)
{
    struct startup startup;
    char key[RH_NULL_KEY_MAX];
    uint32_t minor = version & 0xffff;
    if (version >> 16 != 3) {
        return rh_null_session_fatal(s, "0A000", "unsupported frontend protocol", out);
    }
    if (read_startup(body, &startup) != 0) {
        return rh_null_session_fatal(s, "08P01", "invalid startup packet layout", out);
    }
    if (startup.user.len == 0) {
        return rh_null_session_fatal(s, "28000",
                                     "no PostgreSQL user name specified in startup packet", out);
    }
    if (startup.is_replication) {
        return rh_null_session_fatal(s, "0A000", "the null server has no replication", out);
    }
    if (s->is_refused) {
        return rh_null_session_fatal(s, "53300", "sorry, too many clients already", out);
    }
    if (minor > 2 || startup.unknown_count > 0) {
        rh_null_write_negotiate(out, minor < 2 ? minor : 2, startup.unknown, startup.unknown_count);
    }
    s->phase = RH_NULL_COMMANDS;
    make_key(s, key);
    rh_null_write_authenticated(out);
    write_parameters(s, startup.user, startup.application, out);
    rh_null_write_key(out, s->pid, rh_span(key, minor >= 2 ? RH_NULL_KEY_MAX : KEY_BYTES_3_0));
    rh_null_session_ready(s, out);
    return RH_NULL_READS;
}

static enum rh_null_turn take_startup(struct rh_null_session *s, const struct rh_pg_event *ev,
                                      struct rh_buf *out)
{
    struct rh_null_reader body = {.rest = ev->body};
    uint32_t code = rh_null_read_be32(&body);
    switch (code) {
    case CODE_TLS:
    case CODE_GSS:
        rh_buf_add_byte(out, 'N');
        s->scan.untyped = true;
        return RH_NULL_READS;
    case CODE_CANCEL:
        s->cancel_pid = rh_null_read_be32(&body);
        s->cancel_key_len = (uint32_t) body.rest.len;
        if (body.rest.len <= RH_NULL_KEY_MAX) {
            memcpy(s->cancel_key, body.rest.data, body.rest.len);
        }
        s->phase = RH_NULL_ENDED;
        return RH_NULL_CANCELS;
    default:
        return log_in(s, code, &body, out);
    }
}

static enum rh_null_turn take_query(struct rh_null_session *s, const struct rh_pg_event *ev,
                                    struct rh_buf *out)
{
    struct rh_span text = ev->body;
    const char *nul = text.len ? memchr(text.data, '\0', text.len) : NULL;
    if (!ev->body_cut && nul != text.data + text.len - 1) {
        return rh_null_session_fatal(s, "08P01", "invalid string in message", out);
    }
    text.len = nul ? (size_t) (nul - text.data) : text.len;
    s->unnamed_prepared.exists = false; /* as exec_simple_query() does it */
    return rh_null_query_begin(s, text, out);
}

static enum rh_null_turn take_function(struct rh_null_session *s, struct rh_buf *out)
{
    s->in_query = true; /* an error is followed by ReadyForQuery, not by a skip */
    s->counts->statements++;
    if (s->status == 'E') {
        rh_null_session_error(s, "25P02", RH_NULL_FAILED_TEXT, out);
        return RH_NULL_READS;
    }
    s->in_query = false;
    rh_null_write_function(out, RH_SPAN_LITERAL("1"));
    rh_null_session_ready(s, out);
    return RH_NULL_READS;
}

static enum rh_null_turn take_message(struct rh_null_session *s, const struct rh_pg_event *ev,
                                      struct rh_buf *out)
{
    if (s->phase == RH_NULL_STARTUP) {
        return take_startup(s, ev, out);
    }
    switch (ev->type) {
    case 'P':
    case 'B':
    case 'D':
    case 'E':
    case 'C':
    case 'H':
    case 'S':
        return rh_null_extended_take(s, ev, out);
    case 'X':
        s->phase = RH_NULL_ENDED;
        return RH_NULL_ENDS;
    case 'c': /* the client ends a COPY that failed here */
    case 'f':
        return RH_NULL_READS;
    case 'Q':
        return s->skipping ? RH_NULL_READS : take_query(s, ev, out);
    case 'F':
        return s->skipping ? RH_NULL_READS : take_function(s, out);
    default:
        return rh_null_session_fatal(s, "08P01", "invalid frontend message type", out);
    }
}

/* The head of a message while COPY data is taken. */
static enum rh_null_turn copy_message(struct rh_null_session *s, struct rh_buf *out)
{
    const uint8_t *head = s->copy_head;
    uint32_t length =
        (uint32_t) head[1] << 24 | (uint32_t) head[2] << 16 | (uint32_t) head[3] << 8 | head[4];
    bool is_known =
        head[0] == 'd' || head[0] == 'c' || head[0] == 'f' || head[0] == 'H' || head[0] == 'S';
    if (!is_known || length < 4) {
        return rh_null_session_fatal(s, "08P01", "unexpected message during COPY from stdin", out);
    }
    s->copy_left = length - 4;
    return RH_NULL_READS;
}

static void count_lines(struct rh_null_session *s, const char *data, size_t n)
{
    const char *end = data + n;
    while ((data = memchr(data, '\n', (size_t) (end - data))) != NULL) {
        s->work.count++;
        data++;
    }
}

/*
 * COPY data, in pieces cut anywhere.  The scanner passes it unseen, and the tag tells how many
 * lines there were.
 */
static enum rh_null_turn take_copy(struct rh_null_session *s, const char *data, size_t n,
                                   size_t *used, struct rh_buf *out)
{
    enum rh_null_turn turn = RH_NULL_READS;
    const char *at = data, *end = data + n;
    while (at < end && s->copy_head_len < sizeof s->copy_head) {
        s->copy_head[s->copy_head_len++] = (uint8_t) *at++;
        if (s->copy_head_len == sizeof s->copy_head) {
            turn = copy_message(s, out);
        }
    }
    if (s->copy_head_len == sizeof s->copy_head && turn == RH_NULL_READS) {
        char type = (char) s->copy_head[0];
        size_t left = (size_t) (end - at), take = left < s->copy_left ? left : s->copy_left;
        if (type == 'd') {
            count_lines(s, at, take);
        }
        at += take;
        s->copy_left -= (uint32_t) take;
        if (s->copy_left == 0) {
            s->copy_head_len = 0;
            if (type == 'c' || type == 'f') {
                turn = rh_null_work_copied(s, type == 'f', out);
            }
        }
    }
    *used = (size_t) (at - data);
    return turn;
}

static enum rh_null_turn take_one(struct rh_null_session *s, const char *data, size_t n,
                                  size_t *used, struct rh_buf *out)
{
    struct rh_pg_event ev;
    struct rh_error err;
    if (s->phase == RH_NULL_COPYING) {
        return take_copy(s, data, n, used, out);
    }
    ptrdiff_t took = rh_pg_scan_next(&s->scan, data, n, &ev, &err);
    if (took < 0) {
        *used = n;
        return rh_null_session_fatal(s, "08P01", err.text, out);
    }
    *used = (size_t) took;
    return ev.type ? take_message(s, &ev, out) : RH_NULL_READS;
}

enum rh_null_turn rh_null_session_take(struct rh_null_session *s, const char *data, size_t n,
                                       size_t *used, struct rh_buf *out)
{
    enum rh_null_turn turn = s->phase == RH_NULL_ENDED ? RH_NULL_ENDS : RH_NULL_READS;
    size_t at = 0;
    while (at < n && turn == RH_NULL_READS) {
        size_t one;
        turn = take_one(s, data + at, n - at, &one, out);
        at += one;
        if (turn == RH_NULL_READS && out->len >= RH_NULL_OUT_HIGH) {
            turn = RH_NULL_WRITES;
        }
    }
    *used = at;
    return turn;
}

enum rh_null_turn rh_null_session_resume(struct rh_null_session *s, struct rh_buf *out)
{
    return s->phase == RH_NULL_ENDED ? RH_NULL_ENDS : rh_null_work_resume(s, out);
}
