#include "capture/session_keep.h"

#include "common/alloc.h"

void rh_session_keep_release(struct rh_session_keep *k)
{
    if (k->carried) {
        rh_session_state_release(k->carried);
        rh_free(k->carried);
        k->carried = NULL;
    }
}

struct rh_session_state *rh_session_keep_take(struct rh_session_keep *k)
{
    struct rh_session_state *state = k->carried;
    k->carried = NULL;
    return state;
}

static enum rh_txn_fate fate_of(const struct rh_capture_filter *filter,
                                const struct rh_keep_question *q)
{
    if (q->start_ns < filter->from_ns) {
        return RH_TXN_FATE_EARLY;
    }
    if (!rh_capture_filter_time(filter, q->start_ns)) {
        return RH_TXN_FATE_LATE;
    }
    return rh_capture_filter_application(filter, q->application) ? RH_TXN_FATE_WANTED
                                                                 : RH_TXN_FATE_FOREIGN;
}

static void carry(struct rh_session_keep *k, const struct rh_record *r)
{
    struct rh_record change = *r;
    change.statement_name = RH_SPAN_NONE; /* an execution tells its text, whoever prepared it */
    change.flags &= ~(uint32_t) RH_FLAG_SQL_EXECUTE;
    if (!k->carried) {
        k->carried = rh_malloc(sizeof *k->carried);
        rh_session_state_init(k->carried);
    }
    rh_session_state_apply(k->carried, &change);
}

/* Of a transaction that is not wanted. */
static enum rh_keep judge_unwanted(struct rh_session_keep *k, const struct rh_keep_question *q)
{
    if (k->fate == RH_TXN_FATE_LATE || !rh_statement_changes_session(q->klass) ||
        !rh_kind_is_statement(q->record->kind)) {
        return RH_KEEP_NOT;
    }
    if (!q->is_written) {
        carry(k, q->record);
        return RH_KEEP_NOT;
    }
    return k->fate == RH_TXN_FATE_FOREIGN && rh_statement_is_control(q->klass) &&
                   !rh_statement_changes_transaction(q->klass)
               ? RH_KEEP_ALONE
               : RH_KEEP_NOT;
}

enum rh_keep rh_session_keep_judge(struct rh_session_keep *k, struct rh_capture_filter *filter,
                                   const struct rh_keep_question *q)
{
    uint8_t txn = q->record->txn;
    if (!rh_capture_filter_is_partial(filter)) {
        return RH_KEEP;
    }
    if (txn & RH_TXN_BEGINS) {
        k->fate = fate_of(filter, q);
    }
    if (k->fate != RH_TXN_FATE_WANTED) {
        return judge_unwanted(k, q);
    }
    bool is_whole = (txn & RH_TXN_BEGINS) && (txn & RH_TXN_ENDS);
    return rh_statement_must_stay(q->klass, is_whole) || rh_capture_filter_text(filter, q->text)
               ? RH_KEEP
               : RH_KEEP_NOT;
}

void rh_session_keep_carried(struct rh_record *r, struct rh_span text, int64_t start_ns)
{
    rh_record_init(r);
    r->kind = RH_KIND_QUERY;
    r->start_ns = start_ns;
    r->flags = RH_FLAG_START_ESTIMATED;
    r->txn = RH_TXN_BEGINS | RH_TXN_ENDS;
    r->text = text;
    r->outcome.sqlstate = 0;
}
