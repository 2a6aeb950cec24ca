#include "front/record_json.h"

#include <stdio.h>

#include "front/kind_name.h"

static void add_hex(struct rh_json *j, const char *key, struct rh_span s)
{
    static const char digits[] = "0123456789abcdef";
    rh_json_key(j, key);
    rh_json_open_text(j);
    for (size_t i = 0; i < s.len; i++) {
        unsigned char c = (unsigned char) s.data[i];
        char pair[2] = {digits[c >> 4], digits[c & 15]};
        rh_buf_add(j->out, pair, sizeof pair);
    }
    rh_json_close_text(j);
}

static void put_text(struct rh_json *j, const char *key, struct rh_span s)
{
    rh_json_key(j, key);
    if (rh_json_text(j, s)) {
        char other[64];
        snprintf(other, sizeof other, "%s_is_not_utf8", key);
        rh_json_key(j, other);
        rh_json_bool(j, true);
        snprintf(other, sizeof other, "%s_hex", key);
        add_hex(j, other, s);
    }
}

static void put_text_if_any(struct rh_json *j, const char *key, struct rh_span s)
{
    if (s.len) {
        put_text(j, key, s);
    }
}

static void put_int(struct rh_json *j, const char *key, int64_t v)
{
    rh_json_key(j, key);
    rh_json_int(j, v);
}

static void put_time(struct rh_json *j, const char *key, int64_t ns)
{
    rh_json_key(j, key);
    rh_json_time(j, ns);
}

static void put_null(struct rh_json *j, const char *key)
{
    rh_json_key(j, key);
    rh_json_null(j);
}

/* Microseconds; with decimals only where the file has them. */
static void put_us(struct rh_json *j, const char *key, int64_t ns)
{
    rh_json_key(j, key);
    if (ns % 1000 == 0) {
        rh_json_int(j, ns / 1000);
    } else {
        rh_json_double(j, (double) ns / 1000, 3);
    }
}

/* to - from, null if one is unknown or the pair makes no sense. */
static void put_us_between(struct rh_json *j, const char *key, int64_t from_ns, int64_t to_ns)
{
    int64_t ns;
    if (from_ns == RH_TIME_UNKNOWN || to_ns == RH_TIME_UNKNOWN ||
        __builtin_sub_overflow(to_ns, from_ns, &ns)) {
        put_null(j, key);
    } else {
        put_us(j, key, ns);
    }
}

static void put_identity(struct rh_json *j, const struct rh_record *r,
                         const struct rh_session *session, bool is_run)
{
    bool numbered = rh_kind_has_ordinal(r->kind) || r->kind == RH_KIND_COPY_DATA;
    put_int(j, "session", r->session);
    if (is_run) {
        put_int(j, "copy", r->copy);
    }
    rh_json_key(j, "ordinal");
    if (numbered) {
        rh_json_int(j, (int64_t) r->ordinal);
    } else {
        rh_json_null(j);
    }
    rh_json_key(j, "kind");
    rh_json_cstr(j, rh_kind_name(r->kind));
    put_text(j, "user", session ? session->user : RH_SPAN_NONE);
    put_text(j, "database", session ? session->database : RH_SPAN_NONE);
    struct rh_span by_session = session ? session->application : RH_SPAN_NONE;
    put_text(j, "application", r->application.data ? r->application : by_session);
}

static void put_sql(struct rh_json *j, const struct rh_record *r, struct rh_buf *scratch)
{
    bool has_text = r->text.data || r->tmpl.data;
    if (!has_text || !rh_kind_has_ordinal(r->kind)) {
        put_null(j, "sql");
        return;
    }
    rh_buf_clear(scratch);
    if (rh_record_text(r, scratch) != 0) {
        put_null(j, "sql");
        return;
    }
    put_text(j, "sql", rh_buf_span(scratch));
}

static void put_param(struct rh_json *j, const struct rh_param *p)
{
    struct rh_span value = {p->data, p->len};
    if (p->data && p->format != 0) {
        rh_json_open(j, '{');
        add_hex(j, "hex", value);
        rh_json_close(j);
    } else if (!p->data || rh_json_is_utf8(value)) {
        rh_json_text(j, value);
    } else {
        rh_json_open(j, '{');
        rh_json_key(j, "text");
        rh_json_text(j, value);
        rh_json_key(j, "text_is_not_utf8");
        rh_json_bool(j, true);
        add_hex(j, "hex", value);
        rh_json_close(j);
    }
}

/* Unknown parameters are null; a statement without any has []. */
static void put_params(struct rh_json *j, const struct rh_record *r)
{
    if (!rh_kind_has_ordinal(r->kind) || r->hold == RH_REASON_NO_PARAMETERS) {
        put_null(j, "params");
        return;
    }
    rh_json_key(j, "params");
    rh_json_open(j, '[');
    for (uint32_t i = 0; i < r->param_count; i++) {
        put_param(j, &r->params[i]);
    }
    rh_json_close(j);
    bool typed = false;
    for (uint32_t i = 0; i < r->param_count; i++) {
        typed = typed || r->params[i].type != 0;
    }
    if (typed) {
        rh_json_key(j, "param_types");
        rh_json_open(j, '[');
        for (uint32_t i = 0; i < r->param_count; i++) {
            rh_json_int(j, r->params[i].type);
        }
        rh_json_close(j);
    }
}

static void put_part_us(struct rh_json *j, const char *key, int64_t ns)
{
    if (ns >= 0) {
        put_us(j, key, ns);
    }
}

static void put_outcome(struct rh_json *j, const struct rh_record *r, bool is_run)
{
    const struct rh_outcome *o = &r->outcome;
    char state[6];
    put_time(j, "start", r->start_ns);
    put_us_between(j, "duration_us", is_run ? r->run.sent_ns : r->start_ns, o->done_ns);
    put_text(j, "sqlstate",
             o->sqlstate == RH_SQLSTATE_UNKNOWN
                 ? RH_SPAN_NONE
                 : rh_span_cstr(rh_sqlstate_unpack(o->sqlstate, state)));
    rh_json_key(j, "rows");
    if (o->rows == RH_COUNT_UNKNOWN) {
        rh_json_null(j);
    } else {
        rh_json_int(j, o->rows);
    }
    put_part_us(j, "parse_us", o->parse_ns);
    put_part_us(j, "bind_us", o->bind_ns);
    put_part_us(j, "execute_us", o->execute_ns);
    put_text_if_any(j, "tag", o->tag);
    if (o->bytes != RH_COUNT_UNKNOWN) {
        put_int(j, "bytes", o->bytes);
    }
    if (o->results) {
        put_int(j, "results", o->results);
    }
    if (o->tx_status) {
        put_text(j, "tx_status", rh_span(&o->tx_status, 1));
    }
}

static void put_run(struct rh_json *j, const struct rh_record *r)
{
    const struct rh_run_part *run = &r->run;
    put_time(j, "planned", run->planned_ns);
    put_time(j, "sent", run->sent_ns);
    put_time(j, "first", r->outcome.first_ns);
    put_time(j, "done", r->outcome.done_ns);
    put_us(j, "wait_us", run->wait_ns);
    /* Late against the moment at which it could be sent: planned, or later when the answer it had
     * to wait for came later; its turn by --order is not the tool's lateness either. */
    int64_t possible_ns = run->planned_ns;
    if (run->ready_ns != RH_TIME_UNKNOWN && run->ready_ns > possible_ns) {
        possible_ns = run->ready_ns;
    }
    if (possible_ns != RH_TIME_UNKNOWN) {
        possible_ns += run->wait_ns;
    }
    put_us_between(j, "lag_us", possible_ns, run->sent_ns);
    put_text(j, "fate", rh_span_cstr(rh_fate_name(run->fate)));
    put_text(j, "reason", run->reason ? rh_span_cstr(rh_reason_name(run->reason)) : RH_SPAN_NONE);
}

static void put_bits(struct rh_json *j, const char *key, uint32_t bits, const char *const *names,
                     int count)
{
    if (bits == 0) {
        return;
    }
    rh_json_key(j, key);
    rh_json_open(j, '[');
    for (int i = 0; i < count; i++) {
        if (bits & 1U << i) {
            rh_json_cstr(j, names[i]);
        }
    }
    rh_json_close(j);
}

static void put_marks(struct rh_json *j, const struct rh_record *r)
{
    static const char *const txn_names[] = {"begins", "ends", "block"};
    static const char *const flag_names[] = {"commit-not-timed", "error-only", "no-types",
                                             "start-estimated",  "canceled",   "statement-timeout",
                                             "has-parse",        "sql-execute"};
    put_text_if_any(j, "statement_name", r->statement_name);
    put_text_if_any(j, "portal", r->portal_name);
    put_text_if_any(j, "prepare", r->prepare_text);
    if (r->row_limit > 0) {
        put_int(j, "row_limit", r->row_limit);
    }
    if (r->kind == RH_KIND_FUNCTION && r->function_oid) {
        put_int(j, "function_oid", r->function_oid);
    }
    put_bits(j, "txn", r->txn, txn_names, 3);
    put_bits(j, "flags", r->flags, flag_names, 8);
    if (r->hold != RH_REASON_NONE) {
        put_text(j, "not_replayable", rh_span_cstr(rh_reason_name(r->hold)));
    }
}

static void put_session(struct rh_json *j, const struct rh_session *session)
{
    static const char *const flag_names[] = {"joined-midway", "left-open", "replication",
                                             "login-failed",  "encrypted", "no-terminate",
                                             "reset"};
    put_text_if_any(j, "client", session->client);
    if (session->backend_pid) {
        put_int(j, "backend_pid", session->backend_pid);
    }
    put_bits(j, "session_flags", session->flags, flag_names, 7);
    for (uint32_t i = 0; i < session->startup_count; i++) {
        if (i == 0) {
            rh_json_key(j, "startup");
            rh_json_open(j, '[');
        }
        rh_json_open(j, '{');
        put_text(j, "name", session->startup[i].name);
        put_text(j, "value", session->startup[i].value);
        rh_json_close(j);
    }
    if (session->startup_count) {
        rh_json_close(j);
    }
}

void rh_record_json(struct rh_json *j, const struct rh_record *r, const struct rh_session *session,
                    bool is_run, struct rh_buf *scratch)
{
    rh_json_open(j, '{');
    put_identity(j, r, session, is_run);
    put_sql(j, r, scratch);
    put_params(j, r);
    put_outcome(j, r, is_run);
    if (is_run && rh_kind_has_ordinal(r->kind)) {
        put_run(j, r);
    }
    put_marks(j, r);
    if (r->kind == RH_KIND_OPEN && session) {
        put_session(j, session);
    }
    if (r->kind == RH_KIND_OPEN) {
        put_text_if_any(j, "how", r->detail);
    }
    if (r->kind == RH_KIND_CLOSE || r->kind == RH_KIND_GAP) {
        put_text(j, r->kind == RH_KIND_GAP ? "missing" : "how", r->detail);
    }
    if (r->kind == RH_KIND_GAP) {
        put_int(j, "count", (int64_t) r->count);
    }
    if (r->kind == RH_KIND_COPY_DATA) {
        put_text(j, "data", r->detail);
    }
    rh_json_close(j);
}
