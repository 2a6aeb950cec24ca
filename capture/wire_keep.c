/*
 * capture/wire_keep.c
 *
 * What the filters (capture/session_keep.h) leave of a session of the wire, so that a replay of
 * what is left is still a conversation: a statement that was prepared by what is left out is
 * prepared in front of its first use, and the Sync behind what is left out is kept behind what is
 * not.
 */
#include <string.h>

#include "capture/wire_session.h"
#include "common/alloc.h"
#include "common/hash.h"
#include "formats/pg_frontend.h"

/* ------------------------------------------------------------------------------------------------
 * Sessions
 */

/* The same one in every capture of it that saw it open. */
static uint64_t sample_key(const struct rh_wire_session *s)
{
    const struct rh_tcp_peer *client = &s->info.peer[RH_TCP_CLIENT];
    uint64_t key = rh_hash_stable(rh_span_cstr(client->address)) ^ client->port;
    return s->info.joined_midway ? key : key ^ ((uint64_t) s->info.opened_ns << 16);
}

void rh_wire_keep_connection(struct rh_wire_session *s)
{
    const struct rh_capture_filter *f = s->capture->filter;
    if (!f) {
        return;
    }
    if (!rh_capture_filter_sampled(f, sample_key(s))) {
        s->unwanted = RH_WIRE_UNWANTED;
    } else if (s->info.joined_midway && (f->users.count > 0 || f->databases.count > 0)) {
        s->unwanted = RH_WIRE_UNWANTED_UNKNOWN;
    }
}

void rh_wire_keep_startup(struct rh_wire_session *s)
{
    const struct rh_capture_filter *f = s->capture->filter;
    struct rh_session session = {0};
    if (f && s->unwanted == RH_WIRE_WANTED) {
        rh_wire_set_startup(s, &session, NULL, 0);
        s->unwanted = rh_capture_filter_session(f, session.user, session.database)
                          ? RH_WIRE_WANTED
                          : RH_WIRE_UNWANTED;
    }
}

bool rh_wire_is_in_window(const struct rh_wire_session *s)
{
    const struct rh_capture_filter *f = s->capture->filter;
    return !f || rh_capture_filter_time(f, s->last_ns);
}

/* ------------------------------------------------------------------------------------------------
 * Statements
 */

static struct rh_span application_of(const struct rh_wire_session *s)
{
    struct rh_session session = {0};
    if (s->application.data) {
        return rh_buf_span(&s->application);
    }
    rh_wire_set_startup(s, &session, NULL, 0);
    return session.application;
}

static bool has_step(struct rh_span steps, char letter)
{
    for (size_t i = 0; i < steps.len; i += 2) {
        if (steps.data[i] == letter) {
            return true;
        }
    }
    return false;
}

/* Messages without a text, such as Close: later ones depend on them. */
static bool is_bare(const struct rh_wire_group *g)
{
    return g->kind == RH_KIND_PROTOCOL && !g->text.set && !g->unknown;
}

static enum rh_keep judge(struct rh_wire_session *s, const struct rh_wire_group *g,
                          const struct rh_record *r)
{
    struct rh_statement_class klass;
    struct rh_span text = rh_wire_group_span(g, g->text);
    rh_statement_classify(text, &klass);
    struct rh_keep_question q = {
        .application = application_of(s),
        .start_ns = r->start_ns,
        .text = text,
        .klass = &klass,
        .record = r,
        .is_written = s->number != 0,
    };
    enum rh_keep keep = rh_session_keep_judge(&s->keep, s->capture->filter, &q);
    if (keep == RH_KEEP_NOT && is_bare(g) && s->number != 0) {
        return s->keep.fate == RH_TXN_FATE_WANTED    ? RH_KEEP
               : s->keep.fate == RH_TXN_FATE_FOREIGN ? RH_KEEP_ALONE
                                                     : RH_KEEP_NOT;
    }
    return keep;
}

/* What is kept has not seen this Parse. */
static void mark_unwritten(struct rh_wire_session *s, const struct rh_wire_group *g)
{
    if (g->parse_step != SIZE_MAX && g->statement.set) {
        rh_wire_names_mark(&s->names, rh_wire_group_span(g, g->statement), true);
        s->has_unwritten = true;
    }
}

static void put_sync(struct rh_wire_session *s, const struct rh_wire_group *g, bool ends)
{
    struct rh_record r;
    struct rh_span steps = rh_buf_span(&g->steps);
    char sync[2] = {'S', 0};
    for (size_t i = 0; i + 1 < steps.len; i += 2) {
        if (steps.data[i] == 'S') {
            sync[1] = steps.data[i + 1];
        }
    }
    rh_record_init(&r);
    r.kind = RH_KIND_PROTOCOL;
    r.start_ns = g->start_ns;
    r.steps = rh_span(sync, sizeof sync);
    r.txn = ends ? RH_TXN_ENDS : 0;
    r.outcome.sqlstate = 0;
    rh_wire_put_statement(s, &r);
}

static void leave_out(struct rh_wire_session *s, const struct rh_wire_group *g,
                      const struct rh_record *r)
{
    s->capture->counts.filtered += rh_kind_is_statement(r->kind);
    s->last_kept = false;
    mark_unwritten(s, g);
    if (s->kept_unsynced && has_step(rh_buf_span(&g->steps), 'S')) {
        bool ends = s->kept_in_transaction && (r->txn & RH_TXN_ENDS);
        put_sync(s, g, ends);
        s->kept_unsynced = false;
    }
    s->kept_in_transaction = s->kept_in_transaction && !(r->txn & RH_TXN_ENDS);
}

bool rh_wire_keep_group(struct rh_wire_session *s, const struct rh_wire_group *g,
                        struct rh_record *r)
{
    if (!s->capture->is_partial) {
        return true;
    }
    if (r->kind == RH_KIND_CANCEL) {
        return s->last_kept; /* it is for the statement before it */
    }
    switch (judge(s, g, r)) {
    case RH_KEEP:
        break;
    case RH_KEEP_ALONE:
        r->txn = RH_TXN_BEGINS | RH_TXN_ENDS;
        break;
    case RH_KEEP_NOT:
        leave_out(s, g, r);
        return false;
    }
    r->txn |= s->kept_in_transaction ? 0 : RH_TXN_BEGINS;
    return true;
}

static void put_carried(struct rh_wire_session *s, int64_t start_ns)
{
    struct rh_session_state *state = rh_session_keep_take(&s->keep);
    struct rh_record r;
    if (!state) {
        return;
    }
    if (state->incomplete) {
        rh_wire_put_gap(s, "settings made before the first statement that is kept", 1);
    }
    for (uint32_t i = 0; i < state->count; i++) {
        rh_session_keep_carried(&r, state->items[i].text, start_ns);
        s->capture->counts.carried++;
        rh_wire_put_statement(s, &r);
    }
    rh_session_state_release(state);
    rh_free(state);
}

/* The Parse of the statement that r uses, as a record of its own.  A Sync behind it would end a
 * pipeline that is under way. */
static void put_parse(struct rh_wire_session *s, const struct rh_wire_group *g,
                      const struct rh_record *user)
{
    struct rh_record r;
    struct rh_span types = rh_wire_group_span(g, g->types);
    rh_record_init(&r);
    r.kind = RH_KIND_PROTOCOL;
    r.start_ns = user->start_ns;
    r.flags = RH_FLAG_HAS_PARSE;
    r.text = user->text;
    r.hold = user->hold == RH_REASON_SECRET ? RH_REASON_SECRET : RH_REASON_NONE;
    r.statement_name = user->statement_name;
    r.steps = s->kept_unsynced ? RH_SPAN_LITERAL("P") : RH_SPAN_LITERAL("P\0S");
    r.steps.len++; /* the NUL: nothing awaited */
    r.txn = s->kept_in_transaction ? user->txn & RH_TXN_BLOCK : RH_TXN_BEGINS | RH_TXN_ENDS;
    r.outcome.sqlstate = 0;
    rh_wire_set_types(s->capture, types, &r);
    rh_wire_put_statement(s, &r);
}

static bool uses_unwritten(const struct rh_wire_session *s, const struct rh_wire_group *g)
{
    if (!s->has_unwritten || g->parse_step != SIZE_MAX || !g->statement.set) {
        return false;
    }
    struct rh_span steps = rh_buf_span(&g->steps);
    if (!g->has_bind && !has_step(steps, 't')) {
        return false;
    }
    const struct rh_wire_prepared *p =
        rh_wire_names_get(&s->names, rh_wire_group_span(g, g->statement));
    return p && p->unwritten && p->text.data;
}

void rh_wire_keep_before(struct rh_wire_session *s, const struct rh_wire_group *g,
                         const struct rh_record *r)
{
    if (!s->capture->is_partial) {
        return;
    }
    put_carried(s, r->start_ns);
    if (uses_unwritten(s, g)) {
        put_parse(s, g, r);
        rh_wire_names_mark(&s->names, r->statement_name, false);
    }
}

void rh_wire_keep_after(struct rh_wire_session *s, const struct rh_wire_group *g,
                        const struct rh_record *r)
{
    if (!s->capture->is_partial || r->kind == RH_KIND_CANCEL) {
        return;
    }
    s->last_kept = true;
    s->kept_in_transaction = !(r->txn & RH_TXN_ENDS);
    s->kept_unsynced = r->kind != RH_KIND_QUERY && r->kind != RH_KIND_FUNCTION &&
                       !has_step(rh_buf_span(&g->steps), 'S');
}
