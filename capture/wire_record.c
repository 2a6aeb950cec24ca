/*
 * capture/wire_record.c
 *
 * From a group of messages to its record.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "capture/wire_session.h"
#include "common/alloc.h"
#include "common/secret.h"
#include "formats/pg_write.h"

/* ------------------------------------------------------------------------------------------------
 * Sessions and gaps
 */

void rh_wire_set_startup(const struct rh_wire_session *s, struct rh_session *to,
                         struct rh_setting *settings, uint32_t max)
{
    struct rh_span rest = rh_pg_startup_rest(rh_buf_span(&s->startup));
    struct rh_span name;
    struct rh_span value;
    while (rh_pg_startup_next(&rest, &name, &value)) {
        if (rh_span_is(name, "user")) {
            to->user = value;
        } else if (rh_span_is(name, "database")) {
            to->database = value;
        } else if (rh_span_is(name, "application_name")) {
            to->application = value;
        } else if (to->startup_count < max) {
            settings[to->startup_count++] = (struct rh_setting){name, value};
        }
    }
    if (to->database.len == 0) {
        to->database = to->user; /* postmaster.c: the default */
    }
    to->startup = settings;
}

void rh_wire_put_session(struct rh_wire_session *s, int64_t closed_ns)
{
    enum { SETTINGS_MAX = 256 };
    struct rh_wire_capture *c = s->capture;
    struct rh_setting settings[SETTINGS_MAX];
    char client[sizeof s->info.peer[0].address + 8];
    int n = snprintf(client, sizeof client, "%s:%u", s->info.peer[RH_TCP_CLIENT].address,
                     (unsigned) s->info.peer[RH_TCP_CLIENT].port);
    struct rh_session session = {
        .number = s->number,
        .client = rh_span(client, (size_t) n),
        .opened_ns = s->info.joined_midway ? RH_TIME_UNKNOWN : s->info.opened_ns,
        .closed_ns = closed_ns,
        .backend_pid = s->pid,
        .flags = s->flags,
    };
    rh_wire_set_startup(s, &session, settings, SETTINGS_MAX);
    if (!c->failed && c->sink->session(c->sink->context, &session, &c->error) != 0) {
        c->failed = true;
    }
}

void rh_wire_put_record(struct rh_wire_session *s, struct rh_record *r)
{
    struct rh_wire_capture *c = s->capture;
    r->session = s->number;
    if (!c->failed && c->sink->record(c->sink->context, r, &c->error) != 0) {
        c->failed = true;
    }
}

static const char *const loss_text[RH_WIRE_LOSS_KINDS] = {
    [RH_PG_WIRE_LOSS_BODY] = "bytes within a message not captured",
    [RH_PG_WIRE_LOSS_GAP] = "bytes not captured",
    [RH_PG_WIRE_LOSS_NOT_UNDERSTOOD] = "bytes not understood",
    [RH_PG_WIRE_LOSS_PASSED] = "bytes passed over until messages began again",
};

void rh_wire_put_gap(struct rh_wire_session *s, const char *what, uint64_t count)
{
    struct rh_record r;
    rh_record_init_gap(&r, s->last_ns, count, what);
    s->capture->counts.gaps++;
    rh_wire_put_record(s, &r);
}

/* As a replay compares it with its target. */
static void see_server(struct rh_wire_server *server, const struct rh_tcp_peer *peer)
{
    char address[sizeof server->address];
    bool v6 = strchr(peer->address, ':') != NULL;
    snprintf(address, sizeof address, v6 ? "[%s]:%u" : "%s:%u", peer->address,
             (unsigned) peer->port);
    if (!server->address[0]) {
        memcpy(server->address, address, sizeof address);
    }
    server->elsewhere += strcmp(server->address, address) != 0;
}

void rh_wire_tell_session(struct rh_wire_session *s)
{
    struct rh_wire_capture *c = s->capture;
    if (s->unwanted != RH_WIRE_WANTED) {
        return;
    }
    if (s->number == 0) {
        if (c->filter && s->info.opened_ns < c->filter->from_ns) {
            s->flags |= RH_SESSION_JOINED_MIDWAY;
        }
        s->number = ++c->last_number;
        see_server(&c->server, &s->info.peer[RH_TCP_SERVER]);
        c->counts.sessions++;
        c->counts.joined_midway += (s->flags & RH_SESSION_JOINED_MIDWAY) != 0;
        rh_wire_put_session(s, RH_TIME_UNKNOWN);
        if (!(s->flags & RH_SESSION_JOINED_MIDWAY)) {
            struct rh_record r;
            rh_record_init(&r);
            r.kind = RH_KIND_OPEN;
            r.start_ns = s->info.opened_ns;
            rh_wire_put_record(s, &r);
        }
    }
    for (int i = 0; i < RH_WIRE_LOSS_KINDS; i++) {
        if (s->lost[i] > 0) {
            rh_wire_put_gap(s, loss_text[i], s->lost[i]);
            s->lost[i] = 0;
        }
    }
}

/* ------------------------------------------------------------------------------------------------
 * Records
 */

static void reserve(struct rh_wire_capture *c, uint32_t params, uint32_t formats)
{
    if (params > c->param_cap) {
        c->param_cap = params;
        c->params = rh_realloc(c->params, params, sizeof *c->params);
    }
    if (formats > c->format_cap) {
        c->format_cap = formats;
        c->formats = rh_realloc(c->formats, formats, sizeof *c->formats);
    }
}

static void set_types(struct rh_span types, struct rh_record *r, struct rh_param *params)
{
    struct rh_pg_parse parse = {.types = types, .type_count = (uint16_t) (types.len / 4)};
    for (uint32_t i = 0; i < r->param_count; i++) {
        params[i].type = rh_pg_parse_type(&parse, i);
    }
}

static void set_bind(struct rh_wire_capture *c, const struct rh_wire_group *g, struct rh_record *r)
{
    struct rh_pg_bound bound;
    if (rh_pg_bind_decode(rh_wire_group_span(g, g->body), &bound) != 0) {
        return; /* cut, and held for that */
    }
    reserve(c, bound.values.count, bound.result_format_count);
    rh_pg_values_read(&bound.values, c->params);
    rh_pg_result_formats_read(&bound, c->formats);
    r->params = c->params;
    r->param_count = bound.values.count;
    r->result_formats = c->formats;
    r->result_format_count = bound.result_format_count;
    set_types(rh_wire_group_span(g, g->types), r, c->params);
}

static void set_call(struct rh_wire_capture *c, const struct rh_wire_group *g, struct rh_record *r)
{
    struct rh_pg_call call;
    if (rh_pg_call_decode(rh_wire_group_span(g, g->body), &call) != 0) {
        return;
    }
    reserve(c, call.values.count, 1);
    rh_pg_values_read(&call.values, c->params);
    c->formats[0] = call.result_format;
    r->function_oid = call.function_oid;
    r->params = c->params;
    r->param_count = call.values.count;
    r->result_formats = c->formats;
    r->result_format_count = 1;
}

void rh_wire_set_types(struct rh_wire_capture *c, struct rh_span types, struct rh_record *r)
{
    uint32_t count = (uint32_t) (types.len / 4);
    reserve(c, count, 0);
    for (uint32_t i = 0; i < count; i++) {
        c->params[i] = (struct rh_param){0};
    }
    r->params = c->params;
    r->param_count = count;
    set_types(types, r, c->params);
}

/* Types up to the last known one, or one for each parameter (FORMAT.md, "Steps"). */
static void set_parse_step(struct rh_wire_group *g, const struct rh_record *r)
{
    struct rh_span types = rh_wire_group_span(g, g->types);
    size_t count = types.len / 4;
    bool ends_unknown = count > 0 && memcmp(types.data + types.len - 4, "\0\0\0\0", 4) == 0;
    if (ends_unknown && count == r->param_count) {
        g->steps.data[g->parse_step] = 'R';
    }
}

/* In a session seen from its beginning a name that is not known is the client's own error. */
static bool is_not_prepared(const struct rh_wire_session *s, const struct rh_wire_group *g)
{
    uint32_t state = g->outcome.sqlstate;
    return s->names_unsure && (g->unknown || rh_wire_executes_unknown(s, g)) &&
           state != rh_sqlstate_pack(RH_SPAN_LITERAL("26000")) &&
           state != rh_sqlstate_pack(RH_SPAN_LITERAL("34000"));
}

static enum rh_reason hold_of(const struct rh_wire_session *s, const struct rh_wire_group *g)
{
    if (g->idle_target) {
        return RH_REASON_CANCEL_NOT_NEEDED;
    }
    if (g->cut) {
        return g->has_bind || g->kind == RH_KIND_FUNCTION ? RH_REASON_CUT_PARAMETER
                                                          : RH_REASON_CUT_TEXT;
    }
    if (is_not_prepared(s, g)) {
        return RH_REASON_NOT_PREPARED;
    }
    return g->copy_cut ? RH_REASON_NO_COPY_DATA : RH_REASON_NONE;
}

/* All but parameters and formats. */
static void set_said(struct rh_wire_session *s, struct rh_wire_group *g, struct rh_record *r)
{
    struct rh_wire_capture *c = s->capture;
    r->text = rh_wire_group_span(g, g->text);
    r->statement_name = rh_wire_group_span(g, g->statement);
    r->portal_name = rh_wire_group_span(g, g->portal);
    r->row_limit = g->row_limit;
    r->hold = hold_of(s, g);
    if (s->application_changed) {
        r->application = rh_buf_span(&s->application);
    }
    r->flags |= g->parse_step != SIZE_MAX ? RH_FLAG_HAS_PARSE : 0;
    r->flags |= g->skipped ? RH_FLAG_SKIPPED : 0;
    r->flags |= g->canceled && g->outcome.sqlstate == rh_sqlstate_pack(RH_SPAN_LITERAL("57014"))
                    ? RH_FLAG_CANCELED
                    : 0;
    if (r->text.data && rh_secret_mask(r->text, &c->masked)) {
        r->text = rh_buf_span(&c->masked);
        r->hold = RH_REASON_SECRET;
    }
}

static void set_values(struct rh_wire_capture *c, struct rh_wire_group *g, struct rh_record *r)
{
    if (g->has_bind) {
        set_bind(c, g, r);
    } else if (g->kind == RH_KIND_FUNCTION) {
        set_call(c, g, r);
    } else if (g->parse_step != SIZE_MAX) {
        rh_wire_set_types(c, rh_wire_group_span(g, g->types), r);
    }
    if (g->parse_step != SIZE_MAX) {
        set_parse_step(g, r);
    }
    r->steps = rh_buf_span(&g->steps);
}

static void redact(struct rh_wire_capture *c, struct rh_record *r)
{
    if (r->text.data) {
        rh_redactor_text(&c->redactor, r->text, &c->redacted);
        r->text = rh_buf_span(&c->redacted);
    }
    rh_redactor_params(c->params, r->param_count);
    r->hold = RH_REASON_REDACTED;
}

void rh_wire_put_statement(struct rh_wire_session *s, struct rh_record *r)
{
    struct rh_wire_capture_counts *n = &s->capture->counts;
    s->not_prepared += r->hold == RH_REASON_NOT_PREPARED;
    if (s->capture->redact) {
        redact(s->capture, r);
    }
    r->ordinal = ++s->ordinal;
    n->kinds[r->kind]++;
    n->held[r->hold] += r->hold != RH_REASON_NONE;
    rh_wire_put_record(s, r);
}

static void count_outcome(struct rh_wire_session *s, enum rh_kind kind, uint32_t sqlstate)
{
    if (rh_kind_is_statement(kind)) {
        bool failed = sqlstate != 0 && sqlstate != RH_SQLSTATE_UNKNOWN;
        s->capture->counts.failed += failed;
        if (failed) {
            rh_capture_stats_add_error(&s->capture->stats, sqlstate);
        }
        s->capture->counts.outcome_unknown += sqlstate == RH_SQLSTATE_UNKNOWN;
    }
}

/* What was sent behind the COPY data is part of the steps of the group's record, or, where that is
 * written already, of the last COPY data's. */
void rh_wire_write_copy(struct rh_wire_session *s, struct rh_wire_group *g)
{
    bool has_steps = g->told && g->steps.len > 0;
    if (s->capture->redact) {
        rh_buf_clear(&g->copy);
        g->copy_messages = 0;
    }
    if ((g->copy.len == 0 && !has_steps) || g->ordinal == 0) {
        return;
    }
    struct rh_record r;
    rh_record_init(&r);
    r.kind = RH_KIND_COPY_DATA;
    r.ordinal = g->ordinal;
    r.start_ns = s->last_ns;
    r.detail = rh_buf_span(&g->copy);
    r.count = g->copy_messages;
    if (has_steps) {
        r.steps = rh_buf_span(&g->steps);
    }
    rh_wire_put_record(s, &r);
    rh_buf_clear(&g->copy);
    rh_buf_clear(&g->steps);
    g->copy_messages = 0;
}

static void write_outcome(struct rh_wire_session *s, struct rh_wire_group *g)
{
    struct rh_record r;
    rh_record_init(&r);
    r.kind = RH_KIND_OUTCOME;
    r.ordinal = g->ordinal;
    r.start_ns = g->start_ns;
    r.outcome = g->outcome;
    rh_wire_put_record(s, &r);
}

void rh_wire_write_group(struct rh_wire_session *s, struct rh_wire_group *g, uint8_t txn)
{
    if (g->told) {
        if (g->ordinal == 0) {
            return; /* left out by a filter */
        }
        rh_wire_write_copy(s, g);
        count_outcome(s, g->kind, g->outcome.sqlstate);
        if (g->outcome.done_ns != RH_TIME_UNKNOWN || g->outcome.sqlstate != RH_SQLSTATE_UNKNOWN) {
            write_outcome(s, g);
        }
        return;
    }
    struct rh_record r;
    rh_record_init(&r);
    rh_wire_resolve(s, g);
    r.kind = g->kind;
    r.start_ns = g->start_ns;
    r.txn = txn;
    r.outcome = g->outcome;
    set_said(s, g, &r);
    if (!rh_wire_keep_group(s, g, &r)) {
        return;
    }
    rh_wire_tell_session(s);
    rh_wire_keep_before(s, g, &r);
    set_values(s->capture, g, &r);
    rh_wire_put_statement(s, &r);
    rh_wire_keep_after(s, g, &r);
    g->ordinal = r.ordinal;
    if (g->settled) {
        count_outcome(s, g->kind, g->outcome.sqlstate);
    }
    rh_wire_write_copy(s, g);
}

void rh_wire_write_early(struct rh_wire_session *s, bool release)
{
    for (struct rh_wire_group *g = s->first; g; g = g->next) {
        if (!g->told) {
            /* Of the last one: it is likely that a command alone leaves its transaction as it was.
             */
            char ready = g->next || !g->synced ? '\0' : s->in_block ? 'T' : 'I';
            bool is_known = s->was_ready || !s->info.joined_midway;
            uint8_t txn = is_known ? rh_wire_txn(s, g, ready) : 0;
            bool settled = g->settled;
            g->settled = false; /* its outcome is counted when it is written */
            rh_wire_write_group(s, g, txn);
            g->settled = settled;
            g->told = true;
            rh_buf_clear(&g->steps);
            s->capture->counts.written_early++;
        } else {
            rh_wire_write_copy(s, g);
        }
        if (release) {
            rh_buf_release(&g->bytes);
            g->released = true;
            g->statement = g->portal = g->text = g->types = g->body = (struct rh_wire_part){0};
        }
    }
}
