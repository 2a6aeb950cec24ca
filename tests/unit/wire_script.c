#include "rh_test.h"

#include "wire_script.h"

#include <inttypes.h>
#include <string.h>

#include "common/alloc.h"
#include "formats/pg_frontend.h"
#include "formats/pg_write.h"

void rh_script_init(struct rh_script *s)
{
    memset(s, 0, sizeof *s);
    rh_buf_init(&s->bytes, 64 << 20);
    rh_buf_init(&s->out, 64 << 20);
}

void rh_script_release(struct rh_script *s)
{
    rh_buf_release(&s->bytes);
    rh_buf_release(&s->out);
}

void rh_script_clear(struct rh_script *s)
{
    rh_buf_clear(&s->bytes);
    rh_buf_clear(&s->out);
    s->turn_count = 0;
    s->joined_midway = s->no_steps = s->no_outcome = s->redact = s->exact = false;
    s->limits = (struct rh_wire_limits){0};
}

/* Bytes of one side in a row are one turn. */
static void turn(struct rh_script *s, enum rh_tcp_side side, size_t n)
{
    struct rh_script_turn *last = s->turn_count ? &s->turns[s->turn_count - 1] : NULL;
    if (!last || last->side != side) {
        assert_true(s->turn_count < RH_SCRIPT_TURNS_MAX);
        last = &s->turns[s->turn_count++];
        *last = (struct rh_script_turn){side, s->bytes.len - n, 0};
    }
    last->len += n;
}

void c_raw(struct rh_script *s, const void *data, size_t n)
{
    rh_buf_add(&s->bytes, data, n);
    turn(s, RH_TCP_CLIENT, n);
}

#define CLIENT(write)                                                                              \
    do {                                                                                           \
        size_t before = s->bytes.len;                                                              \
        assert_int_equal((write), 0);                                                              \
        turn(s, RH_TCP_CLIENT, s->bytes.len - before);                                             \
    } while (0)

static struct rh_span text(const char *t)
{
    return rh_span_cstr(t);
}

void c_startup(struct rh_script *s, uint32_t version, const char *user)
{
    struct rh_buf b;
    rh_buf_init(&b, 10000);
    rh_buf_addf(&b, "application_name%cscript%cuser%c%s%cdatabase%cdb%c%c", 0, 0, 0, user, 0, 0, 0,
                0);
    size_t before = s->bytes.len;
    rh_buf_add_be32(&s->bytes, (uint32_t) b.len + 8);
    rh_buf_add_be32(&s->bytes, version);
    rh_buf_add_span(&s->bytes, rh_buf_span(&b));
    turn(s, RH_TCP_CLIENT, s->bytes.len - before);
    rh_buf_release(&b);
}

void c_code(struct rh_script *s, uint32_t code)
{
    rh_buf_add_be32(&s->bytes, 8);
    rh_buf_add_be32(&s->bytes, code);
    turn(s, RH_TCP_CLIENT, 8);
}

void c_cancel(struct rh_script *s, uint32_t pid, const char *key, size_t key_len)
{
    CLIENT(rh_pg_write_cancel(&s->bytes, pid, rh_span(key, key_len), NULL));
}

void c_q(struct rh_script *s, const char *sql)
{
    CLIENT(rh_pg_write_query(&s->bytes, text(sql), NULL));
}

void c_p(struct rh_script *s, const char *name, const char *sql)
{
    CLIENT(rh_pg_write_parse(&s->bytes, text(name), text(sql), NULL, 0, NULL));
}

void c_b(struct rh_script *s, const char *portal, const char *name, const char *param)
{
    struct rh_param p = {.data = param, .len = param ? (uint32_t) strlen(param) : 0};
    struct rh_pg_bind bind = {.portal = text(portal),
                              .statement = text(name),
                              .params = &p,
                              .param_count = param != NULL};
    CLIENT(rh_pg_write_bind(&s->bytes, &bind, NULL));
}

void c_d(struct rh_script *s, char object, const char *name)
{
    CLIENT(rh_pg_write_describe(&s->bytes, (enum rh_pg_object) object, text(name), NULL));
}

void c_c(struct rh_script *s, char object, const char *name)
{
    CLIENT(rh_pg_write_close(&s->bytes, (enum rh_pg_object) object, text(name), NULL));
}

void c_e(struct rh_script *s, const char *portal, int32_t limit)
{
    CLIENT(rh_pg_write_execute(&s->bytes, text(portal), limit, NULL));
}

void c_s(struct rh_script *s)
{
    CLIENT(rh_pg_write_sync(&s->bytes, NULL));
}

void c_h(struct rh_script *s)
{
    CLIENT(rh_pg_write_flush(&s->bytes, NULL));
}

void c_x(struct rh_script *s)
{
    CLIENT(rh_pg_write_terminate(&s->bytes, NULL));
}

void c_copy(struct rh_script *s, const char *data)
{
    CLIENT(rh_pg_write_copy_data(&s->bytes, text(data), NULL));
}

void c_copy_done(struct rh_script *s)
{
    CLIENT(rh_pg_write_copy_done(&s->bytes, NULL));
}

void c_copy_fail(struct rh_script *s, const char *why)
{
    CLIENT(rh_pg_write_copy_fail(&s->bytes, text(why), NULL));
}

void c_password(struct rh_script *s, const char *password)
{
    size_t n = strlen(password) + 1;
    rh_buf_add_byte(&s->bytes, 'p');
    rh_buf_add_be32(&s->bytes, (uint32_t) n + 4);
    rh_buf_add(&s->bytes, password, n);
    turn(s, RH_TCP_CLIENT, n + 5);
}

void s_raw(struct rh_script *s, const void *data, size_t n)
{
    rh_buf_add(&s->bytes, data, n);
    turn(s, RH_TCP_SERVER, n);
}

void s_m(struct rh_script *s, char type, const void *body, size_t n)
{
    rh_buf_add_byte(&s->bytes, (uint8_t) type);
    rh_buf_add_be32(&s->bytes, (uint32_t) n + 4);
    rh_buf_add(&s->bytes, body, n);
    turn(s, RH_TCP_SERVER, n + 5);
}

void s_list(struct rh_script *s, const char *types)
{
    for (; *types; types++) {
        if (*types == 'T' || *types == 't') {
            s_m(s, *types, "\0\0", 2); /* no columns, no parameters */
        } else {
            s_m(s, *types, "", 0);
        }
    }
}

void s_login(struct rh_script *s, uint32_t pid, const char *key, size_t key_len)
{
    struct rh_buf b;
    rh_buf_init(&b, 1000);
    rh_buf_add_be32(&b, pid);
    rh_buf_add(&b, key, key_len);
    s_m(s, 'R', "\0\0\0\0", 4);
    if (key_len > 0) {
        s_m(s, 'K', b.data, b.len);
    }
    s_z(s, 'I');
    rh_buf_release(&b);
}

void s_rows(struct rh_script *s, int count)
{
    for (int i = 0; i < count; i++) {
        s_m(s, 'D', "\0\1\0\0\0\2ab", 8);
    }
}

void s_c(struct rh_script *s, const char *tag)
{
    s_m(s, 'C', tag, strlen(tag) + 1);
}

void s_e(struct rh_script *s, const char *severity, const char *sqlstate)
{
    struct rh_buf b;
    rh_buf_init(&b, 1000);
    rh_buf_addf(&b, "S%s%cV%s%cC%s%cMmessage%c%c", severity, 0, severity, 0, sqlstate, 0, 0, 0);
    s_m(s, 'E', b.data, b.len);
    rh_buf_release(&b);
}

void s_z(struct rh_script *s, char status)
{
    s_m(s, 'Z', &status, 1);
}

void s_copy(struct rh_script *s, char type)
{
    s_m(s, type, "\0\0\1\0\0", 5);
}

void s_parameter(struct rh_script *s, const char *name, const char *value)
{
    struct rh_buf b;
    rh_buf_init(&b, 1000);
    rh_buf_addf(&b, "%s%c%s%c", name, 0, value, 0);
    s_m(s, 'S', b.data, b.len);
    rh_buf_release(&b);
}

/* ------------------------------------------------------------------------------------------------
 * Lines
 */

static void add_named(struct rh_buf *out, const char *before, struct rh_span name)
{
    if (name.len > 0) {
        rh_buf_addf(out, " %s%.*s", before, (int) name.len, name.data);
    }
}

static void add_outcome(struct rh_buf *out, const struct rh_outcome *o)
{
    char state[6];
    rh_sqlstate_unpack(o->sqlstate, state);
    rh_buf_addf(out, " -> %s", state[0] ? state : "?");
    add_named(out, "", o->tag);
    if (o->rows != RH_COUNT_UNKNOWN) {
        rh_buf_addf(out, " rows=%" PRIi64, o->rows);
    }
    if (o->results > 1) {
        rh_buf_addf(out, " results=%u", o->results);
    }
    if (o->tx_status) {
        rh_buf_addf(out, " %c", o->tx_status);
    }
}

static void add_steps(struct rh_buf *out, struct rh_span steps)
{
    rh_buf_add_cstr(out, " {");
    for (size_t i = 0; i + 1 < steps.len; i += 2) {
        rh_buf_add_byte(out, (uint8_t) steps.data[i]);
        if (steps.data[i + 1]) {
            rh_buf_addf(out, "%u", (unsigned) (uint8_t) steps.data[i + 1]);
        }
    }
    rh_buf_add_byte(out, '}');
}

static void add_marks(struct rh_buf *out, const struct rh_record *r)
{
    rh_buf_addf(out, " [%s%s%s]", r->txn & RH_TXN_BEGINS ? "b" : "",
                r->txn & RH_TXN_BLOCK ? "k" : "", r->txn & RH_TXN_ENDS ? "e" : "");
    if (r->flags & RH_FLAG_SKIPPED) {
        rh_buf_add_cstr(out, " skipped");
    }
    if (r->flags & RH_FLAG_CANCELED) {
        rh_buf_add_cstr(out, " canceled");
    }
    if (r->hold) {
        rh_buf_addf(out, " hold=%s", rh_reason_name(r->hold));
    }
}

static void add_params(struct rh_buf *out, const struct rh_record *r)
{
    for (uint32_t i = 0; i < r->param_count; i++) {
        const struct rh_param *p = &r->params[i];
        rh_buf_addf(out, "%s%s%.*s", i ? "," : " (", p->format ? "b:" : "",
                    p->data ? (int) p->len : 4, p->data ? p->data : "NULL");
        if (p->type) {
            rh_buf_addf(out, "::%u", p->type);
        }
    }
    rh_buf_add_cstr(out, r->param_count ? ")" : "");
}

static void add_record(struct rh_script *s, const struct rh_record *r)
{
    static const char *const names[] = {
        [RH_KIND_QUERY] = "query",       [RH_KIND_EXECUTE] = "execute",
        [RH_KIND_FUNCTION] = "function", [RH_KIND_FETCH] = "fetch",
        [RH_KIND_PROTOCOL] = "protocol", [RH_KIND_CANCEL] = "cancel",
        [RH_KIND_OPEN] = "open",         [RH_KIND_CLOSE] = "close",
        [RH_KIND_GAP] = "gap",           [RH_KIND_COPY_DATA] = "copy-data",
        [RH_KIND_OUTCOME] = "outcome",
    };
    struct rh_buf *out = &s->out;
    rh_buf_addf(out, "%u", r->session);
    if (r->ordinal) {
        rh_buf_addf(out, "/%" PRIu64, r->ordinal);
    }
    rh_buf_addf(out, " %s", names[r->kind]);
    if (r->kind == RH_KIND_GAP) {
        rh_buf_addf(out, " %.*s: %" PRIu64, (int) r->detail.len, r->detail.data, r->count);
    } else if (r->kind == RH_KIND_CLOSE) {
        rh_buf_addf(out, " %.*s", (int) r->detail.len, r->detail.data);
    } else if (r->kind == RH_KIND_COPY_DATA) {
        rh_buf_addf(out, " %zu bytes, %" PRIu64 " messages", r->detail.len, r->count);
    }
    add_named(out, "s:", r->statement_name);
    add_named(out, "p:", r->portal_name);
    if (r->text.data) {
        rh_buf_addf(out, " |%.*s|", (int) r->text.len, r->text.data);
    }
    add_params(out, r);
    if (r->row_limit) {
        rh_buf_addf(out, " limit=%i", r->row_limit);
    }
    if (!s->no_outcome && (rh_kind_has_ordinal(r->kind) || r->kind == RH_KIND_OUTCOME)) {
        add_outcome(out, &r->outcome);
        if (s->exact) {
            rh_buf_addf(out, " first=%" PRIi64 " done=%" PRIi64 " bytes=%" PRIi64,
                        r->outcome.first_ns, r->outcome.done_ns, r->outcome.bytes);
        }
    }
    if (rh_kind_has_ordinal(r->kind)) {
        add_marks(out, r);
    }
    if (r->steps.len > 0 && !s->no_steps) {
        add_steps(out, r->steps);
    }
    rh_buf_add_byte(out, '\n');
}

static int take_session(void *context, const struct rh_session *session, struct rh_error *err)
{
    (void) context;
    (void) err;
    assert_true(session->number > 0);
    return 0;
}

static int take_record(void *context, const struct rh_record *r, struct rh_error *err)
{
    (void) err;
    if (rh_kind_has_ordinal(r->kind) && r->outcome.done_ns != RH_TIME_UNKNOWN) {
        assert_true(r->outcome.done_ns >= r->start_ns);
        assert_true(r->outcome.first_ns <= r->outcome.done_ns);
    }
    add_record(context, r);
    return 0;
}

static void take_end(void *context, uint32_t number)
{
    (void) context;
    (void) number;
}

void rh_script_sink(struct rh_script *s, struct rh_capture_sink *sink)
{
    *sink = (struct rh_capture_sink){s, take_session, take_record, take_end};
}

static void play_part(const struct rh_tcp_sink *tcp, void *connection, enum rh_tcp_side side,
                      int64_t now_ns, struct rh_span bytes, size_t piece)
{
    while (bytes.len > 0) {
        size_t n = piece && piece < bytes.len ? piece : bytes.len;
        /* A copy of its own, so that a look behind it is found. */
        char *copy = rh_malloc(n);
        memcpy(copy, bytes.data, n);
        tcp->data(connection, side, now_ns, rh_span(copy, n));
        rh_free(copy);
        bytes.data += n;
        bytes.len -= n;
    }
}

void rh_script_play(struct rh_script *s, size_t piece, const struct rh_script_hole *hole)
{
    struct rh_capture_sink sink;
    struct rh_tcp_sink tcp;
    struct rh_tcp_connection_info info = {
        .peer = {{"192.0.2.7", 40000}, {"192.0.2.1", 5432}},
        .opened_ns = 1000,
        .joined_midway = s->joined_midway,
    };
    int64_t now_ns = 1000;
    rh_buf_clear(&s->out);
    rh_script_sink(s, &sink);
    struct rh_wire_capture *c = rh_wire_capture_new(&sink, &s->limits);
    if (s->filter) {
        rh_wire_capture_filter(c, s->filter);
    }
    if (s->redact) {
        rh_wire_capture_redact(c);
    }
    rh_wire_capture_tcp_sink(c, &tcp);
    void *connection = tcp.open(tcp.context, &info);
    for (uint32_t i = 0; i < s->turn_count; i++) {
        const struct rh_script_turn *t = &s->turns[i];
        struct rh_span bytes = rh_span(s->bytes.data + t->at, t->len);
        now_ns += 1000;
        if (hole && hole->turn == i && hole->at < t->len) {
            size_t n = hole->len < t->len - hole->at ? hole->len : t->len - hole->at;
            play_part(&tcp, connection, t->side, now_ns, rh_span(bytes.data, hole->at), piece);
            tcp.gap(connection, t->side, now_ns, n);
            bytes = rh_span(bytes.data + hole->at + n, bytes.len - hole->at - n);
        }
        play_part(&tcp, connection, t->side, now_ns, bytes, piece);
    }
    tcp.close(connection, now_ns + 1000, RH_TCP_END_FIN);
    assert_int_equal(rh_wire_capture_finish(c, now_ns + 2000, NULL), 0);
    s->counts = *rh_wire_capture_counts(c);
    rh_wire_capture_free(c);
}

void rh_script_expect(struct rh_script *s, const char *lines)
{
    rh_script_play(s, 0, NULL);
    assert_string_equal(rh_buf_cstr(&s->out), lines);
    rh_script_clear(s);
}
