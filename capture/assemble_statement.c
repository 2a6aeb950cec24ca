/*
 * capture/assemble_statement.c
 *
 * Records about statements.  Which of them appear for one execution depends on the settings:
 *
 *   log_statement             statement, or execute, at its start
 *   log_min_duration_statement  duration with text at the end of parse, of bind, and of execute
 *   both                      parse, bind and execute as above; the last duration without text
 *   log_duration              durations without text
 *
 * so a session's pending statement goes from PARSED over BOUND to RUNNING and DONE, and any stage
 * may be the first.
 */
#include <string.h>

#include "capture/assembly.h"
#include "common/hash.h"

enum {
    /* A bind that comes later than this after the parse of a named statement is another round trip
     * of the client.  An unnamed one is prepared to be executed, however long that takes. */
    PARSE_GAP_MAX_MS = 50,
};
#define PARSE_GAP_MAX_NS (PARSE_GAP_MAX_MS * INT64_C(1000000))

static int flush(struct rh_assembler *a, struct rh_log_session *s, const struct rh_log_entry *e,
                 struct rh_error *err)
{
    if (!s->pending) {
        return 0;
    }
    struct rh_follow follow = {true, e->lxid, e->idle};
    return rh_assemble_flush(a, s, &follow, err);
}

static struct rh_pending *begin(struct rh_assembler *a, struct rh_log_session *s,
                                const struct rh_log_entry *e, enum rh_kind kind)
{
    struct rh_pending *p = rh_pending_get(&a->pool, kind);
    p->start_ns = p->stamp_ns = a->now_ns;
    p->lxid = e->lxid;
    p->may_cut = e->may_cut;
    struct rh_span application = rh_log_session_current_application(s);
    if (!s->application.data) {
        rh_log_session_set_application(s, application);
    } else if (!rh_span_equal(application, s->application)) {
        rh_pending_store(&a->pool, p, &p->application, application);
    }
    s->pending = p;
    return p;
}

static void complete(struct rh_assembler *a, struct rh_log_session *s, struct rh_pending *p,
                     uint32_t sqlstate)
{
    p->stage = RH_PENDING_DONE;
    p->sqlstate = sqlstate;
    p->stamp_ns = p->done_ns = a->now_ns;
    rh_assemble_hold(a, s, p);
}

/* The parameters as logged; those of the bind are the same as those of the execute. */
static void keep_params(struct rh_assembler *a, struct rh_pending *p, const struct rh_log_entry *e)
{
    if (!p->params.set && e->detail.len > 0) {
        rh_pending_store(&a->pool, p, &p->params, rh_logmsg_parameters(e->detail));
    }
}

/* Whether a bind or execute goes on with the pending statement. */
static bool goes_on(const struct rh_assembler *a, const struct rh_pending *p,
                    const struct rh_log_entry *e, struct rh_span label, struct rh_span text,
                    int64_t duration_ns)
{
    if (!p || p->kind != RH_KIND_EXECUTE || p->stage > RH_PENDING_BOUND) {
        return false;
    }
    if (p->lxid != 0 && e->lxid != 0 && p->lxid != e->lxid) {
        return false;
    }
    if (p->stage == RH_PENDING_PARSED && !rh_span_starts(label, "<unnamed>")) {
        int64_t begins = a->now_ns - (duration_ns > 0 ? duration_ns : 0);
        if (begins - p->stamp_ns > PARSE_GAP_MAX_NS) {
            return false;
        }
    }
    if (!p->text.set) {
        return true;
    }
    struct rh_span known = rh_pending_span(p, p->label);
    if (!known.data || !label.data) {
        return false;
    }
    bool same_label = rh_span_equal(known, label);
    if (!same_label && p->parse_named && label.len > known.len && label.data[known.len] == '/') {
        same_label = memcmp(label.data, known.data, known.len) == 0;
    }
    return same_label && rh_span_equal(rh_pending_span(p, p->text), text);
}

static void keep_label(struct rh_assembler *a, struct rh_pending *p, struct rh_span label)
{
    if (p->parse_named) {
        p->name_len = p->label.len;
        p->parse_named = false;
    }
    if (p->label.set && p->label.len == label.len) {
        return;
    }
    rh_pending_store(&a->pool, p, &p->label, label);
}

static int on_parse(struct rh_assembler *a, struct rh_log_session *s, const struct rh_log_entry *e,
                    const struct rh_logmsg *m, struct rh_error *err)
{
    if (flush(a, s, e, err) != 0) {
        return -1;
    }
    struct rh_pending *p = begin(a, s, e, RH_KIND_EXECUTE);
    struct rh_span label, text;
    rh_logmsg_split(m, RH_SPAN_NONE, &label, &text);
    p->stage = RH_PENDING_PARSED;
    p->has_parse = true;
    p->parse_named = true;
    p->parse_ns = m->duration_ns;
    p->start_ns = a->now_ns - m->duration_ns;
    rh_pending_store(&a->pool, p, &p->text, text);
    rh_pending_store(&a->pool, p, &p->label, label);
    return 0;
}

/* The pending statement that a bind or execute belongs to; a new one if there is none. */
static int take_up(struct rh_assembler *a, struct rh_log_session *s, const struct rh_log_entry *e,
                   const struct rh_logmsg *m, enum rh_kind kind, struct rh_error *err)
{
    struct rh_pending *p = s->pending;
    struct rh_span label, text;
    rh_logmsg_split(m, p ? rh_pending_span(p, p->text) : RH_SPAN_NONE, &label, &text);
    if (kind != RH_KIND_EXECUTE || !goes_on(a, p, e, label, text, m->duration_ns)) {
        if (flush(a, s, e, err) != 0) {
            return -1;
        }
        p = begin(a, s, e, kind);
        p->start_ns = a->now_ns - (m->timed ? m->duration_ns : 0);
    }
    if (!p->text.set) {
        rh_pending_store(&a->pool, p, &p->text, text);
    }
    p->stamp_ns = a->now_ns;
    keep_label(a, p, label);
    keep_params(a, p, e);
    return 0;
}

static int on_bind(struct rh_assembler *a, struct rh_log_session *s, const struct rh_log_entry *e,
                   const struct rh_logmsg *m, struct rh_error *err)
{
    if (s->pending && s->pending->stage == RH_PENDING_BOUND && flush(a, s, e, err) != 0) {
        return -1;
    }
    if (take_up(a, s, e, m, RH_KIND_EXECUTE, err) != 0) {
        return -1;
    }
    s->pending->stage = RH_PENDING_BOUND;
    s->pending->bind_ns = m->duration_ns;
    return 0;
}

static int limit_waiting(struct rh_assembler *a, struct rh_log_session *s, struct rh_error *err)
{
    return a->pool.bytes > a->waiting_bytes_max ? rh_assemble_flush_early(a, s, err) : 0;
}

static int on_execute(struct rh_assembler *a, struct rh_log_session *s,
                      const struct rh_log_entry *e, const struct rh_logmsg *m, enum rh_kind kind,
                      struct rh_error *err)
{
    if (take_up(a, s, e, m, kind, err) != 0) {
        return -1;
    }
    struct rh_pending *p = s->pending;
    if (m->timed) {
        p->execute_ns = m->duration_ns;
        complete(a, s, p, 0);
        return 0;
    }
    p->stage = RH_PENDING_RUNNING;
    return limit_waiting(a, s, err);
}

static int on_simple(struct rh_assembler *a, struct rh_log_session *s, const struct rh_log_entry *e,
                     const struct rh_logmsg *m, enum rh_kind kind, struct rh_error *err)
{
    if (flush(a, s, e, err) != 0) {
        return -1;
    }
    struct rh_pending *p = begin(a, s, e, kind);
    rh_pending_store(&a->pool, p, &p->text, m->body);
    if (kind == RH_KIND_QUERY && e->detail.len > 0) {
        rh_pending_store(&a->pool, p, &p->prepare,
                         rh_logmsg_prepare(&a->reader->messages, e->detail));
    }
    if (m->timed) {
        p->duration_ns = m->duration_ns;
        p->start_ns = a->now_ns - m->duration_ns;
        p->ended_known = kind == RH_KIND_QUERY;
        p->end_lxid = e->lxid;
        complete(a, s, p, 0);
        return 0;
    }
    p->idle = e->idle;
    p->stage = RH_PENDING_RUNNING;
    return limit_waiting(a, s, err);
}

static int textless_part(struct rh_assembler *a, struct rh_log_session *s,
                         const struct rh_log_entry *e, int64_t duration_ns, bool is_parse,
                         struct rh_error *err)
{
    struct rh_pending *p = s->pending;
    if (is_parse || !goes_on(a, p, e, RH_SPAN_NONE, RH_SPAN_NONE, duration_ns) || p->text.set ||
        p->stage == RH_PENDING_BOUND) {
        if (flush(a, s, e, err) != 0) {
            return -1;
        }
        p = begin(a, s, e, RH_KIND_EXECUTE);
        p->start_ns = a->now_ns - duration_ns;
    }
    p->stamp_ns = a->now_ns;
    if (is_parse) {
        p->stage = RH_PENDING_PARSED;
        p->has_parse = true;
        p->parse_ns = duration_ns;
    } else {
        p->stage = RH_PENDING_BOUND;
        p->bind_ns = duration_ns;
    }
    return 0;
}

/* A duration without text: of what was logged before, or of what was never logged. */
static int on_duration(struct rh_assembler *a, struct rh_log_session *s,
                       const struct rh_log_entry *e, int64_t duration_ns, struct rh_error *err)
{
    struct rh_pending *p = s->pending;
    if (rh_span_is(e->tag, "PARSE") || rh_span_is(e->tag, "BIND")) {
        return textless_part(a, s, e, duration_ns, *e->tag.data == 'P', err);
    }
    if (p && p->stage == RH_PENDING_RUNNING) {
        bool parts = p->kind == RH_KIND_EXECUTE || p->kind == RH_KIND_FETCH;
        if (p->written) {
            s->pending = NULL;
            rh_pending_put(&a->pool, p);
            /* It was the last to go out. */
            int64_t done_ns = parts ? a->now_ns : s->last_start_ns + duration_ns;
            return rh_assemble_outcome(a, s, done_ns, parts ? duration_ns : -1, 0, err);
        }
        if (parts) {
            p->execute_ns = duration_ns;
        } else {
            p->duration_ns = duration_ns;
            p->ended_known = p->kind == RH_KIND_QUERY;
            p->end_lxid = e->lxid;
        }
        complete(a, s, p, 0);
        return 0;
    }
    if (p && !p->text.set) {
        s->pending = NULL;
        rh_pending_put(&a->pool, p);
    } else if (flush(a, s, e, err) != 0) {
        return -1;
    }
    s->textless++;
    a->stats->textless++;
    return 0;
}

int rh_assemble_statement(struct rh_assembler *a, struct rh_log_session *s,
                          const struct rh_log_entry *e, const struct rh_logmsg *m,
                          struct rh_error *err)
{
    switch (m->klass) {
    case RH_LOGMSG_DURATION:
        return on_duration(a, s, e, m->duration_ns, err);
    case RH_LOGMSG_STATEMENT:
        return on_simple(a, s, e, m, RH_KIND_QUERY, err);
    case RH_LOGMSG_FUNCTION:
        return on_simple(a, s, e, m, RH_KIND_FUNCTION, err);
    case RH_LOGMSG_PARSE:
        return on_parse(a, s, e, m, err);
    case RH_LOGMSG_BIND:
        return on_bind(a, s, e, m, err);
    case RH_LOGMSG_EXECUTE:
        return on_execute(a, s, e, m, RH_KIND_EXECUTE, err);
    case RH_LOGMSG_FETCH:
        return on_execute(a, s, e, m, RH_KIND_FETCH, err);
    default:
        return 0;
    }
}

static uint32_t cancel_flags(const struct rh_log_entry *e)
{
    if (!rh_span_is(e->sqlstate, "57014")) {
        return 0;
    }
    if (rh_logmsg_is_cancel(e->message)) {
        return RH_FLAG_CANCELED;
    }
    return rh_logmsg_is_statement_timeout(e->message) ? RH_FLAG_STATEMENT_TIMEOUT : 0;
}

/* The statement of an error that no record before has told of. */
static enum rh_kind kind_of_error(const struct rh_log_entry *e, struct rh_span params)
{
    if (rh_span_is(e->tag, "PARSE") || rh_span_is(e->tag, "BIND") || params.data) {
        return RH_KIND_EXECUTE;
    }
    /* "there is no parameter $1" is said to a simple Query. */
    bool simple = rh_span_is(e->sqlstate, "42P02") || e->idle != RH_LOG_BUSY;
    return !simple && rh_statement_has_params(e->query) ? RH_KIND_EXECUTE : RH_KIND_QUERY;
}

/* An error without STATEMENT: of what runs, or of the commit at Sync of what has just ended. */
static int unplaced_error(struct rh_assembler *a, struct rh_log_session *s, uint32_t sqlstate,
                          uint32_t flags, struct rh_error *err)
{
    struct rh_pending *p = s->pending;
    if (p && p->written) {
        s->pending = NULL;
        rh_pending_put(&a->pool, p);
        return rh_assemble_outcome(a, s, a->now_ns, -1, sqlstate, err);
    }
    if (p && p->stage == RH_PENDING_RUNNING) {
        p->flags |= flags;
        complete(a, s, p, sqlstate);
    } else if (p && p->stage == RH_PENDING_DONE && p->kind == RH_KIND_EXECUTE && p->sqlstate == 0 &&
               !s->in_block) {
        p->sqlstate = sqlstate;
        p->done_ns = a->now_ns;
    } else {
        s->errors_unplaced++;
        a->stats->errors_without_text++;
    }
    return 0;
}

int rh_assemble_error(struct rh_assembler *a, struct rh_log_session *s,
                      const struct rh_log_entry *e, struct rh_error *err)
{
    uint32_t sqlstate = rh_sqlstate_pack(e->sqlstate);
    uint32_t flags = cancel_flags(e);
    struct rh_pending *p = s->pending;
    bool of_written = p && p->written && rh_hash(e->query) == p->text_hash;
    if (!e->query.data || of_written) {
        return unplaced_error(a, s, sqlstate, flags, err);
    }
    struct rh_span params = rh_logmsg_context_parameters(e->context);
    bool same = p && p->text.set && rh_span_equal(rh_pending_span(p, p->text), e->query);
    bool same_txn = p && (p->lxid == 0 || e->lxid == 0 || p->lxid == e->lxid);
    if (p && p->stage == RH_PENDING_RUNNING && same) {
        p->flags |= flags;
    } else if (p && p->stage <= RH_PENDING_BOUND && same_txn && (same || !p->text.set) &&
               !rh_span_is(e->tag, "PARSE")) {
        /* It failed in its bind or execute. */
        p->flags |= flags | RH_FLAG_ERROR_ONLY;
        if (!p->text.set) {
            rh_pending_store(&a->pool, p, &p->text, e->query);
        }
    } else {
        if (flush(a, s, e, err) != 0) {
            return -1;
        }
        p = begin(a, s, e, kind_of_error(e, params));
        p->flags |= flags | RH_FLAG_ERROR_ONLY | RH_FLAG_START_ESTIMATED;
        p->idle = p->kind == RH_KIND_QUERY ? e->idle : RH_LOG_BUSY;
        rh_pending_store(&a->pool, p, &p->text, e->query);
    }
    if (!p->params.set && params.data && p->kind == RH_KIND_EXECUTE) {
        rh_pending_store(&a->pool, p, &p->params, params);
        p->from_context = true;
    }
    complete(a, s, p, sqlstate);
    return 0;
}
