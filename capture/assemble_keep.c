/*
 * capture/assemble_keep.c
 *
 * What the filters leave of a session.  Transactions are wanted or not as a whole, by the time and
 * the application of their first statement; patterns then choose among the statements of wanted
 * ones.  A statement that changes its session or transaction is never left out of what is kept: a
 * replay without its COMMIT would hold locks, one without its SET would do other work.  What
 * unwanted transactions changed in their session is carried to the first statement that is kept.
 */
#include <string.h>

#include "capture/assembly.h"
#include "common/alloc.h"

static enum rh_txn_fate fate_of(struct rh_assembler *a, const struct rh_log_session *s,
                                const struct rh_pending *p)
{
    struct rh_span application =
        p->application.set ? rh_pending_span(p, p->application) : s->application;
    if (p->start_ns < a->filter->from_ns) {
        return RH_TXN_FATE_EARLY;
    }
    if (!rh_capture_filter_time(a->filter, p->start_ns)) {
        return RH_TXN_FATE_LATE;
    }
    return rh_capture_filter_application(a->filter, application) ? RH_TXN_FATE_WANTED
                                                                 : RH_TXN_FATE_FOREIGN;
}

static void carry(struct rh_log_session *s, const struct rh_record *r)
{
    struct rh_record change = *r;
    change.statement_name = RH_SPAN_NONE; /* an execution tells its text, whoever prepared it */
    change.flags &= ~(uint32_t) RH_FLAG_SQL_EXECUTE;
    if (!s->carried) {
        s->carried = rh_malloc(sizeof *s->carried);
        rh_session_state_init(s->carried);
    }
    rh_session_state_apply(s->carried, &change);
}

/* Of a transaction that is not wanted. */
static enum rh_keep judge_unwanted(struct rh_log_session *s, const struct rh_statement_class *c,
                                   const struct rh_record *r)
{
    if (s->txn_fate == RH_TXN_FATE_LATE || !rh_statement_changes_session(c) ||
        !rh_kind_is_statement(r->kind)) {
        return RH_KEEP_NOT;
    }
    if (!s->written) {
        carry(s, r);
        return RH_KEEP_NOT;
    }
    return s->txn_fate == RH_TXN_FATE_FOREIGN && rh_statement_is_control(c) &&
                   !rh_statement_changes_transaction(c)
               ? RH_KEEP_ALONE
               : RH_KEEP_NOT;
}

enum rh_keep rh_assemble_judge(struct rh_assembler *a, struct rh_log_session *s,
                               const struct rh_pending *p, const struct rh_statement_class *c,
                               const struct rh_record *r)
{
    if (!rh_capture_filter_is_partial(a->filter)) {
        return RH_KEEP;
    }
    if (r->txn & RH_TXN_BEGINS) {
        s->txn_fate = fate_of(a, s, p);
    }
    if (s->txn_fate != RH_TXN_FATE_WANTED) {
        return judge_unwanted(s, c, r);
    }
    bool is_whole = (r->txn & RH_TXN_BEGINS) && (r->txn & RH_TXN_ENDS);
    return rh_statement_must_stay(c, is_whole) ||
                   rh_capture_filter_text(a->filter, rh_pending_span(p, p->text))
               ? RH_KEEP
               : RH_KEEP_NOT;
}

/* A SET or PREPARE that ran before what is kept, as a statement of its own without a duration. */
static int put_carried(struct rh_assembler *a, struct rh_log_session *s, struct rh_span text,
                       int64_t start_ns, struct rh_error *err)
{
    struct rh_record r;
    rh_record_init(&r);
    r.kind = RH_KIND_QUERY;
    r.session = s->number;
    r.ordinal = ++s->ordinal;
    r.start_ns = start_ns;
    r.flags = RH_FLAG_START_ESTIMATED;
    r.txn = RH_TXN_BEGINS | RH_TXN_ENDS;
    r.text = text;
    r.outcome.sqlstate = 0;
    rh_assemble_redact(a, &r);
    a->stats->kinds[RH_KIND_QUERY]++;
    a->stats->succeeded++;
    a->stats->carried++;
    a->stats->held[r.hold] += r.hold != RH_REASON_NONE;
    return a->sink->record(a->sink->context, &r, err);
}

int rh_assemble_put_carried(struct rh_assembler *a, struct rh_log_session *s, int64_t start_ns,
                            struct rh_error *err)
{
    struct rh_session_state *state = s->carried;
    int rc = 0;
    if (!state) {
        return 0;
    }
    s->carried = NULL;
    if (state->incomplete) {
        rc = rh_assemble_gap(a, s, "settings made before the first statement that is kept", 1,
                             start_ns, err);
    }
    for (uint32_t i = 0; i < state->count && rc == 0; i++) {
        rc = put_carried(a, s, state->items[i].text, start_ns, err);
    }
    rh_session_state_release(state);
    rh_free(state);
    return rc;
}

void rh_assemble_redact(struct rh_assembler *a, struct rh_record *r)
{
    if (!a->redact) {
        return;
    }
    if (r->text.data) {
        rh_redactor_text(&a->redactor, r->text, &a->redacted);
        r->text = rh_buf_span(&a->redacted);
    }
    if (r->prepare_text.data) {
        rh_redactor_text(&a->redactor, r->prepare_text, &a->redacted_prepare);
        r->prepare_text = rh_buf_span(&a->redacted_prepare);
    }
    rh_redactor_params(a->params.items, r->param_count);
    r->hold = RH_REASON_REDACTED;
}
