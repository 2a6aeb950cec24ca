#include "diff/observation.h"

#include <string.h>

static const int64_t SERVICE_MAX_NS = (INT64_C(1) << RH_SERVICE_BITS) - 1;

bool rh_statement_ref_before(const struct rh_statement_ref *a, const struct rh_statement_ref *b)
{
    if (a->part != b->part) {
        return a->part < b->part;
    }
    if (a->start_ns != b->start_ns) {
        return a->start_ns < b->start_ns;
    }
    if (a->session != b->session) {
        return a->session < b->session;
    }
    if (a->copy != b->copy) {
        return a->copy < b->copy;
    }
    return a->ordinal < b->ordinal;
}

/* to - from, at least 0; -1 if one is unknown. */
static int64_t time_between(int64_t from_ns, int64_t to_ns)
{
    int64_t span;
    if (from_ns == RH_TIME_UNKNOWN || to_ns == RH_TIME_UNKNOWN) {
        return -1;
    }
    if (to_ns <= from_ns) {
        return 0; /* the clock of a log may step back */
    }
    if (__builtin_sub_overflow(to_ns, from_ns, &span) || span > SERVICE_MAX_NS) {
        return SERVICE_MAX_NS;
    }
    return span;
}

/* The parts of an extended statement exclude what the client did between them. */
static int64_t workload_service(const struct rh_record *r)
{
    const int64_t parts[] = {r->outcome.parse_ns, r->outcome.bind_ns, r->outcome.execute_ns};
    int64_t sum = -1;

    for (size_t i = 0; i < sizeof parts / sizeof parts[0]; i++) {
        if (parts[i] >= 0) {
            int64_t part = parts[i] < SERVICE_MAX_NS ? parts[i] : SERVICE_MAX_NS;
            sum = sum < 0 ? part : sum + part;
        }
    }
    if (sum >= 0) {
        return sum < SERVICE_MAX_NS ? sum : SERVICE_MAX_NS;
    }
    if (r->flags & RH_FLAG_START_ESTIMATED) {
        return -1;
    }
    return time_between(r->start_ns, r->outcome.done_ns);
}

static int64_t run_lag(const struct rh_run_part *run)
{
    int64_t due = run->planned_ns;
    if (due == RH_TIME_UNKNOWN || run->sent_ns == RH_TIME_UNKNOWN) {
        return -1;
    }
    if (run->ready_ns != RH_TIME_UNKNOWN && run->ready_ns > due) {
        due = run->ready_ns;
    }
    int64_t late = time_between(due, run->sent_ns);
    int64_t wait = run->wait_ns > 0 ? run->wait_ns : 0;
    return late > wait ? late - wait : 0;
}

static int64_t run_behind(const struct rh_run_part *run)
{
    int64_t behind = time_between(run->planned_ns, run->ready_ns);
    return run->sent_ns != RH_TIME_UNKNOWN && behind > 0 ? behind : 0;
}

static enum rh_observed status_by_sqlstate(uint32_t sqlstate)
{
    if (sqlstate == 0) {
        return RH_OBSERVED_OK;
    }
    return sqlstate == RH_SQLSTATE_UNKNOWN ? RH_OBSERVED_UNKNOWN : RH_OBSERVED_ERROR;
}

static enum rh_observed run_status(const struct rh_record *r)
{
    enum rh_observed status = status_by_sqlstate(r->outcome.sqlstate);
    switch (r->run.fate) {
    case RH_FATE_SKIPPED:
    case RH_FATE_NOT_SENT:
        return RH_OBSERVED_MISSING;
    case RH_FATE_LOST: /* a FATAL error is an answer; an answer that broke off is none */
        return status == RH_OBSERVED_ERROR ? status : RH_OBSERVED_MISSING;
    case RH_FATE_NONE:
    case RH_FATE_DONE:
        break;
    }
    return status;
}

void rh_observation_put_outside(struct rh_observation *o)
{
    o->status = RH_OBSERVED_MISSING;
    o->fate = RH_FATE_NOT_SENT;
    o->reason = RH_REASON_OUTSIDE_WINDOW;
    o->sqlstate = 0;
}

bool rh_observation_make(struct rh_observation *o, const struct rh_record *r,
                         enum rh_file_kind kind)
{
    if (!rh_kind_has_ordinal(r->kind) || r->kind == RH_KIND_CANCEL) {
        return false;
    }
    memset(o, 0, sizeof *o);
    o->ref = (struct rh_statement_ref){
        .session = r->session, .copy = r->copy, .ordinal = r->ordinal, .start_ns = r->start_ns};
    o->is_statement = rh_kind_is_statement(r->kind);
    o->untyped = (r->flags & RH_FLAG_NO_TYPES) && r->param_count > 0;
    o->rows = r->outcome.rows;
    o->lag_ns = -1;
    if (kind == RH_FILE_RUN) {
        o->fate = r->run.fate;
        o->reason = r->run.reason;
        o->status = run_status(r);
        o->service_ns = time_between(r->run.sent_ns, r->outcome.done_ns);
        o->lag_ns = run_lag(&r->run);
        o->behind_ns = run_behind(&r->run);
        o->waited_for_order = r->run.wait_ns > 0;
    } else {
        o->status = status_by_sqlstate(r->outcome.sqlstate);
        o->service_ns = workload_service(r);
        /* A run keeps the flag of the workload, but its client waited for the commit. */
        o->commit_not_timed = r->flags & RH_FLAG_COMMIT_NOT_TIMED;
    }
    o->sqlstate = o->status == RH_OBSERVED_ERROR ? r->outcome.sqlstate : 0;
    return true;
}
