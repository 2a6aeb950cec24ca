/*
 * capture/assemble_record.c
 *
 * From a pending statement to its record.
 */
#include <string.h>

#include "capture/assembly.h"
#include "common/hash.h"
#include "common/secret.h"

static const struct rh_follow follow_unknown = {0};

void rh_assemble_hold(struct rh_assembler *a, struct rh_log_session *s, struct rh_pending *p)
{
    p->session = s;
    p->held_prev = a->held_last;
    p->held_next = NULL;
    if (a->held_last) {
        a->held_last->held_next = p;
    } else {
        a->held_first = p;
    }
    a->held_last = p;
}

void rh_assemble_unhold(struct rh_assembler *a, struct rh_pending *p)
{
    if (!p->session) {
        return;
    }
    if (p->held_prev) {
        p->held_prev->held_next = p->held_next;
    } else {
        a->held_first = p->held_next;
    }
    if (p->held_next) {
        p->held_next->held_prev = p->held_prev;
    } else {
        a->held_last = p->held_prev;
    }
    p->session = NULL;
}

/* Of two times; one that is not known is the earliest. */
static int64_t later(int64_t a_ns, int64_t b_ns)
{
    return a_ns > b_ns ? a_ns : b_ns;
}

static int put_session(struct rh_assembler *a, struct rh_log_session *s, int64_t closed_ns,
                       struct rh_error *err)
{
    struct rh_session session = {
        .number = s->number,
        .user = s->user,
        .database = s->database,
        .application = s->application,
        .client = s->client,
        .opened_ns = s->opened_ns,
        .closed_ns = closed_ns,
        .backend_pid = s->pid,
        .flags = s->flags,
    };
    return a->sink->session(a->sink->context, &session, err);
}

int rh_assemble_open(struct rh_assembler *a, struct rh_log_session *s, struct rh_error *err)
{
    if (s->written) {
        return 0;
    }
    s->written = true;
    if (s->opened_ns != RH_TIME_UNKNOWN && s->opened_ns < a->filter->from_ns) {
        s->flags |= RH_SESSION_JOINED_MIDWAY;
    }
    if (!s->application.data) {
        rh_log_session_set_application(s, rh_log_session_current_application(s));
    }
    a->stats->sessions++;
    a->stats->joined_midway += (s->flags & RH_SESSION_JOINED_MIDWAY) != 0;
    a->stats->logins_failed += (s->flags & RH_SESSION_LOGIN_FAILED) != 0;
    if (put_session(a, s, RH_TIME_UNKNOWN, err) != 0) {
        return -1;
    }
    if ((s->flags & RH_SESSION_JOINED_MIDWAY) || s->opened_ns == RH_TIME_UNKNOWN) {
        return 0;
    }
    s->opened_told = true;
    struct rh_record r;
    rh_record_init(&r);
    r.kind = RH_KIND_OPEN;
    r.session = s->number;
    r.start_ns = s->opened_ns;
    return a->sink->record(a->sink->context, &r, err);
}

int rh_assemble_gap(struct rh_assembler *a, struct rh_log_session *s, const char *what,
                    uint64_t count, int64_t at_ns, struct rh_error *err)
{
    struct rh_record r;
    rh_record_init_gap(&r, at_ns, count, what);
    if (s) {
        if (rh_assemble_open(a, s, err) != 0) {
            return -1;
        }
        r.session = s->number;
        r.start_ns = later(at_ns, s->opened_told ? s->opened_ns : at_ns);
    }
    return a->sink->record(a->sink->context, &r, err);
}

int rh_assemble_close(struct rh_assembler *a, struct rh_log_session *s, const char *how,
                      struct rh_error *err)
{
    int rc = rh_assemble_flush(a, s, &follow_unknown, err);
    int64_t closed_ns = later(s->last_stamp_ns, s->last_end_ns);
    bool has_something = s->authorized || (s->flags & RH_SESSION_LOGIN_FAILED) || s->textless > 0 ||
                         s->errors_unplaced > 0;
    if (rc == 0 && s->wanted && s->has_user && has_something &&
        !rh_capture_filter_is_partial(a->filter)) {
        rc = rh_assemble_open(a, s, err);
    }
    if (!s->has_user) {
        a->stats->probes++;
    }
    if (closed_ns >= a->filter->to_ns) {
        how = NULL;
    }
    if (rc == 0 && s->written) {
        if (s->textless > 0) {
            rc = rh_assemble_gap(a, s, "executions logged without their text", s->textless,
                                 s->last_stamp_ns, err);
        }
        if (rc == 0 && how) {
            struct rh_record r;
            rh_record_init(&r);
            r.kind = RH_KIND_CLOSE;
            r.session = s->number;
            r.start_ns = closed_ns;
            r.detail = rh_span_cstr(how);
            rc = a->sink->record(a->sink->context, &r, err);
        }
        if (!how) {
            s->flags |= RH_SESSION_LEFT_OPEN;
            a->stats->left_open++;
        }
        if (rc == 0) {
            rc = put_session(a, s, how ? closed_ns : RH_TIME_UNKNOWN, err);
        }
        a->sink->end_session(a->sink->context, s->number);
    }
    rh_ended_sessions_put(&a->ended, s->key, &s->seen);
    rh_log_sessions_remove(&a->sessions, s);
    return rc;
}

/* Cut values: the evidence of this list counts first, then what lies ahead in the window. */
static bool has_cut_value(struct rh_assembler *a, const struct rh_pending *p)
{
    struct rh_cut_evidence *c = p->from_context ? &a->cut_in_context : &a->cut;
    int64_t whole, dotted;
    rh_log_params_lengths(&a->params, &whole, &dotted);
    if (!p->may_cut) {
        return false;
    }
    rh_cut_evidence_add(c, whole, dotted);
    if (dotted < 0 || !rh_cut_evidence_judge(c, dotted)) {
        return false;
    }
    uint64_t ahead = a->reader->window_offset + a->reader->end;
    if (!p->from_context && c->run_count < 4 && a->looked_ahead != ahead) {
        a->looked_ahead = ahead;
        rh_cut_evidence_add(c, rh_log_reader_longest_value(a->reader), -1);
    }
    return rh_cut_evidence_judge(c, dotted);
}

static enum rh_reason set_params(struct rh_assembler *a, struct rh_pending *p, struct rh_record *r)
{
    if (p->params.set) {
        int rc = rh_log_params_parse(&a->params, p->bytes + p->params.at, p->params.len);
        r->params = a->params.items;
        r->param_count = a->params.count;
        r->flags |= RH_FLAG_NO_TYPES;
        return rc != 0 || has_cut_value(a, p) ? RH_REASON_CUT_PARAMETER : RH_REASON_NONE;
    }
    return rh_statement_has_params(r->text) ? RH_REASON_NO_PARAMETERS : RH_REASON_NONE;
}

static void set_label(const struct rh_log_session *s, const struct rh_pending *p,
                      struct rh_record *r)
{
    struct rh_span label = rh_pending_span(p, p->label);
    if (p->name_len > 0 && p->name_len <= label.len) {
        r->statement_name = rh_span(label.data, p->name_len);
        if (label.len > p->name_len) {
            r->portal_name = rh_span(label.data + p->name_len + 1, label.len - p->name_len - 1);
        }
    } else if (rh_span_starts(label, "<unnamed>/")) {
        r->statement_name = rh_span(label.data, 9);
        r->portal_name = rh_span(label.data + 10, label.len - 10);
    } else {
        rh_known_names_cut(&s->known, label, &r->statement_name, &r->portal_name);
    }
    if (rh_span_is(r->statement_name, "<unnamed>")) {
        r->statement_name = RH_SPAN_NONE;
    }
}

static enum rh_reason hold_reason(const struct rh_log_session *s, const struct rh_pending *p,
                                  const struct rh_statement_class *c, enum rh_reason params)
{
    if (s->flags & RH_SESSION_REPLICATION) {
        return RH_REASON_REPLICATION;
    }
    if (p->kind == RH_KIND_FUNCTION) {
        return RH_REASON_NO_ARGUMENTS;
    }
    if (params != RH_REASON_NONE && p->kind != RH_KIND_PROTOCOL) {
        return params;
    }
    if (rh_statement_has(c, RH_SQL_CLASS_SET_ENCODING)) {
        return RH_REASON_ENCODING;
    }
    if (rh_statement_has(c, RH_SQL_CLASS_COPY_IN)) {
        return RH_REASON_NO_COPY_DATA;
    }
    if (p->kind == RH_KIND_FETCH) {
        return RH_REASON_NO_ROW_LIMIT;
    }
    return RH_REASON_NONE;
}

static int64_t known(int64_t part_ns)
{
    return part_ns > 0 ? part_ns : 0;
}

/*
 * No statement starts before its session opened.  Where the opening is known to the second only,
 * the statement's start tells more; it wins unless the OPEN record is out.
 */
static int64_t fit_opening(struct rh_log_session *s, int64_t start_ns)
{
    if (s->opened_told || s->opened_exact) {
        return later(start_ns, s->opened_ns);
    }
    s->opened_ns = s->opened_ns > start_ns ? start_ns : s->opened_ns;
    return start_ns;
}

/*
 * A statement ends at the stamp of its duration and begins its duration before.  That of an
 * extended one is the sum of its parts: what the client did between them is not counted, and it is
 * sent as a whole.
 */
static void set_times(struct rh_log_session *s, const struct rh_pending *p, struct rh_record *r)
{
    struct rh_outcome *o = &r->outcome;
    int64_t sum = known(p->parse_ns) + known(p->bind_ns) + known(p->execute_ns);
    int64_t start = p->execute_ns >= 0 ? p->done_ns - sum : p->start_ns;
    start = later(fit_opening(s, start), s->last_start_ns); /* the ordinal wins */
    s->last_start_ns = start;
    r->start_ns = start;
    o->parse_ns = p->parse_ns;
    o->bind_ns = p->bind_ns;
    o->execute_ns = p->execute_ns;
    o->done_ns = p->done_ns;
    if (p->duration_ns >= 0) {
        o->done_ns = start + p->duration_ns;
    } else if (p->execute_ns >= 0 || (o->done_ns != RH_TIME_UNKNOWN && o->done_ns < start + sum)) {
        o->done_ns = start + sum;
    }
    s->last_end_ns = later(later(s->last_end_ns, start), o->done_ns);
}

static void count_statement(struct rh_assembler *a, const struct rh_pending *p,
                            const struct rh_record *r)
{
    struct rh_capture_stats *st = a->stats;
    st->kinds[r->kind]++;
    if (r->hold != RH_REASON_NONE) {
        st->held[r->hold]++;
    }
    if (!rh_kind_is_statement(r->kind)) {
        return;
    }
    uint32_t sqlstate = r->outcome.sqlstate;
    st->timed += p->duration_ns >= 0 || p->execute_ns >= 0;
    st->succeeded += sqlstate == 0;
    st->outcome_unknown += sqlstate == RH_SQLSTATE_UNKNOWN;
    if (sqlstate != 0 && sqlstate != RH_SQLSTATE_UNKNOWN) {
        st->failed++;
        rh_capture_stats_add_error(st, sqlstate);
    }
    st->error_only += (r->flags & RH_FLAG_ERROR_ONLY) != 0;
    st->commit_not_timed += (r->flags & RH_FLAG_COMMIT_NOT_TIMED) != 0;
}

/* A parse or bind that nothing followed.  A named parse is what clients do to prepare; whether an
 * unnamed one, or a bind, was executed is not known (each record may be sampled by itself). */
static enum rh_reason demote(struct rh_pending *p)
{
    if (p->stage > RH_PENDING_BOUND) {
        return RH_REASON_NONE;
    }
    p->kind = RH_KIND_PROTOCOL;
    p->sqlstate = 0;
    p->done_ns = p->stamp_ns;
    bool unnamed = rh_span_starts(rh_pending_span(p, p->label), "<unnamed>");
    return p->stage == RH_PENDING_BOUND || unnamed ? RH_REASON_NO_EXECUTION : RH_REASON_NONE;
}

static void forget_prepared(struct rh_log_session *s, const struct rh_statement_class *c)
{
    if (rh_statement_has(c, RH_SQL_CLASS_DISCARD_ALL) ||
        rh_statement_has(c, RH_SQL_CLASS_DEALLOCATE_ALL) ||
        rh_statement_has(c, RH_SQL_CLASS_DEALLOCATE)) {
        rh_known_names_clear(&s->known);
    }
}

/* The text, names and what follows from them. */
static void fill_statement(struct rh_assembler *a, struct rh_log_session *s, struct rh_pending *p,
                           const struct rh_statement_class *c, enum rh_reason demoted,
                           struct rh_record *r)
{
    bool failed = p->sqlstate != 0 && p->sqlstate != RH_SQLSTATE_UNKNOWN;
    enum rh_reason params = RH_REASON_NONE;
    if (p->kind == RH_KIND_EXECUTE || p->kind == RH_KIND_FETCH || p->kind == RH_KIND_PROTOCOL) {
        set_label(s, p, r);
        params = set_params(a, p, r);
        r->row_limit = p->kind == RH_KIND_PROTOCOL ? 0 : -1;
        bool fresh = (!failed || p->has_parse) && r->statement_name.len > 0 &&
                     rh_known_names_put(&s->known, r->statement_name, r->text);
        if (p->has_parse || fresh) {
            r->flags |= RH_FLAG_HAS_PARSE;
        }
    }
    r->hold = hold_reason(s, p, c, params);
    if (r->hold == RH_REASON_NONE) {
        r->hold = demoted;
    }
    if (rh_statement_is_cut(r->text)) {
        r->hold = RH_REASON_CUT_TEXT;
    }
    if (rh_secret_mask(r->text, &a->masked)) {
        r->text = rh_buf_span(&a->masked);
        r->hold = RH_REASON_SECRET;
    }
    r->prepare_text = rh_pending_span(p, p->prepare);
    if (r->prepare_text.data) {
        r->flags |= RH_FLAG_SQL_EXECUTE;
        if (rh_secret_mask(r->prepare_text, &a->masked_prepare)) {
            r->prepare_text = rh_buf_span(&a->masked_prepare);
            r->hold = RH_REASON_SECRET;
        }
    }
}

static int write_pending(struct rh_assembler *a, struct rh_log_session *s, struct rh_pending *p,
                         const struct rh_follow *follow, struct rh_error *err)
{
    struct rh_statement_class c;
    struct rh_record r;
    enum rh_reason demoted = demote(p);
    rh_record_init(&r);
    r.kind = p->kind;
    r.flags = p->flags;
    r.text = rh_pending_span(p, p->text);
    r.outcome.sqlstate = p->sqlstate;
    rh_statement_classify(r.text, &c);
    r.txn = rh_assemble_txn(s, p, &c, follow);
    fill_statement(a, s, p, &c, demoted, &r);
    if (p->kind == RH_KIND_EXECUTE && p->execute_ns >= 0 && !(r.txn & RH_TXN_BLOCK)) {
        r.flags |= RH_FLAG_COMMIT_NOT_TIMED;
    }
    if (p->sqlstate == 0 && p->kind != RH_KIND_PROTOCOL) {
        forget_prepared(s, &c);
    }
    if (p->application.set) {
        r.application = rh_pending_span(p, p->application);
    }
    switch (rh_assemble_judge(a, s, p, &c, &r)) {
    case RH_KEEP:
        break;
    case RH_KEEP_ALONE:
        r.txn = RH_TXN_BEGINS | RH_TXN_ENDS;
        break;
    case RH_KEEP_NOT:
        a->stats->filtered += rh_kind_is_statement(r.kind);
        if (r.flags & RH_FLAG_HAS_PARSE) {
            /* The trace has not seen this Parse: the next execution brings one. */
            rh_known_names_put(&s->known, r.statement_name, RH_SPAN_NONE);
        }
        return 0;
    }
    set_times(s, p, &r);
    if (rh_assemble_open(a, s, err) != 0 || rh_assemble_put_carried(a, s, r.start_ns, err) != 0) {
        return -1;
    }
    rh_assemble_redact(a, &r);
    r.session = s->number;
    r.ordinal = ++s->ordinal;
    count_statement(a, p, &r);
    return a->sink->record(a->sink->context, &r, err);
}

int rh_assemble_flush(struct rh_assembler *a, struct rh_log_session *s,
                      const struct rh_follow *follow, struct rh_error *err)
{
    struct rh_pending *p = s->pending;
    if (!p) {
        return 0;
    }
    s->pending = NULL;
    rh_assemble_unhold(a, p);
    int rc = 0;
    if (p->stage == RH_PENDING_RUNNING && follow->known && !p->gap) {
        p->sqlstate = 0; /* a later record of the session follows, and it is no error of this one */
    }
    if (p->written) {
        if (p->sqlstate == 0) {
            rc = rh_assemble_outcome(a, s, RH_TIME_UNKNOWN, -1, 0, err);
        }
    } else if (!p->text.set) {
        /* A bare duration of a parse or bind, with nothing behind it. */
        a->stats->textless_prepares++;
    } else if (s->wanted) {
        rc = write_pending(a, s, p, follow, err);
    } else {
        a->stats->filtered += p->stage > RH_PENDING_BOUND && rh_kind_is_statement(p->kind);
    }
    rh_pending_put(&a->pool, p);
    return rc;
}

int rh_assemble_flush_early(struct rh_assembler *a, struct rh_log_session *s, struct rh_error *err)
{
    struct rh_pending *p = s->pending;
    uint64_t before = s->ordinal;
    if (!s->wanted || p->stage != RH_PENDING_RUNNING || p->written ||
        !rh_kind_is_statement(p->kind)) {
        return 0;
    }
    int rc = write_pending(a, s, p, &follow_unknown, err);
    s->unfinished_ordinal = s->ordinal > before ? s->ordinal : 0;
    p->written = true;
    /* Only its bytes were in the way. */
    struct rh_pending *stub = rh_pending_get(&a->pool, p->kind);
    stub->stage = p->stage;
    stub->written = true;
    stub->start_ns = p->start_ns;
    stub->stamp_ns = p->stamp_ns;
    stub->lxid = p->lxid;
    stub->text_hash = rh_hash(rh_pending_span(p, p->text));
    s->pending = stub;
    rh_pending_put(&a->pool, p);
    return rc;
}

int rh_assemble_outcome(struct rh_assembler *a, struct rh_log_session *s, int64_t done_ns,
                        int64_t execute_ns, uint32_t sqlstate, struct rh_error *err)
{
    if (s->unfinished_ordinal == 0) {
        return 0;
    }
    struct rh_record r;
    rh_record_init(&r);
    r.kind = RH_KIND_OUTCOME;
    r.session = s->number;
    r.ordinal = s->unfinished_ordinal;
    r.start_ns = s->last_start_ns;
    r.outcome.done_ns = done_ns;
    r.outcome.execute_ns = execute_ns;
    r.outcome.sqlstate = sqlstate;
    s->unfinished_ordinal = 0;
    s->last_end_ns = later(s->last_end_ns, done_ns);
    struct rh_capture_stats *st = a->stats;
    st->outcome_unknown--;
    st->succeeded += sqlstate == 0;
    st->timed += done_ns != RH_TIME_UNKNOWN && sqlstate == 0;
    if (sqlstate != 0) {
        st->failed++;
        rh_capture_stats_add_error(st, sqlstate);
    }
    return a->sink->record(a->sink->context, &r, err);
}
