#include "replay/unsent.h"

#include "common/clock.h"
#include "formats/trace_reader.h"

/* From when on there is something to write; INT64_MAX: nothing. */
static int64_t find_start(const struct rh_plan *plan)
{
    int64_t from_ns = INT64_MAX;
    for (uint32_t i = 0; i < plan->session_count; i++) {
        const struct rh_plan_session *ps = &plan->sessions[i];
        int64_t first_ns = rh_trace_index_first_ns(plan->index, ps->trace_index);
        if (ps->rest != RH_REASON_NONE && first_ns != RH_TIME_UNKNOWN && first_ns < from_ns) {
            from_ns = first_ns;
        }
    }
    return from_ns != INT64_MAX && from_ns < plan->from_ns ? plan->from_ns : from_ns;
}

static void make_unsent(const struct rh_plan *plan, const struct rh_plan_session *ps,
                        int64_t begin_wall_ns, struct rh_record *r)
{
    rh_plan_judge(plan, ps, r);
    if (r->run.fate == RH_FATE_NONE) {
        r->run.fate = RH_FATE_NOT_SENT;
        r->run.reason = ps->rest;
    }
    r->run.planned_ns = rh_time_add(r->run.planned_ns, begin_wall_ns);
    r->start_ns = r->run.planned_ns;
    rh_outcome_clear(&r->outcome);
}

static int write_records(struct rh_plan *plan, struct rh_trace_file *file,
                         struct rh_recorder *recorder, int64_t begin_wall_ns,
                         struct rh_tally *tally, struct rh_error *err)
{
    int64_t from_ns = find_start(plan);
    if (from_ns == INT64_MAX) {
        return 0;
    }
    struct rh_trace_reader *reader;
    struct rh_record r;
    if (rh_trace_reader_open(&reader, file, from_ns, plan->to_ns, err) != 0) {
        return -1;
    }
    int rc = 0;
    int got = 0;
    while (rc == 0 && (got = rh_trace_reader_next(reader, &r, err)) == 1) {
        struct rh_plan_session *ps = rh_map_get(&plan->by_number, r.session);
        for (uint32_t copy = 0; ps && rc == 0 && copy < plan->scale; copy++, ps++) {
            struct rh_record unsent = r;
            if (ps->rest == RH_REASON_NONE || !rh_kind_has_ordinal(r.kind) ||
                r.ordinal < ps->rest_ordinal) {
                continue;
            }
            make_unsent(plan, ps, begin_wall_ns, &unsent);
            rh_tally_add(tally, &unsent);
            rc = rh_recorder_write(recorder, ps, &unsent, err);
        }
    }
    rh_trace_reader_close(reader);
    return rc != 0 ? rc : got;
}

static int write_close(struct rh_recorder *recorder, struct rh_plan_session *ps,
                       struct rh_error *err)
{
    struct rh_record r;
    rh_record_init(&r);
    r.kind = RH_KIND_CLOSE;
    r.session = ps->session->number;
    r.copy = ps->copy;
    r.start_ns = ps->closed_wall_ns;
    r.detail = rh_span_cstr(ps->closed_how);
    return rh_recorder_write(recorder, ps, &r, err);
}

int rh_unsent_write(struct rh_plan *plan, struct rh_trace_file *file, struct rh_recorder *recorder,
                    int64_t begin_wall_ns, struct rh_tally *tally, struct rh_error *err)
{
    int rc = write_records(plan, file, recorder, begin_wall_ns, tally, err);
    for (uint32_t i = 0; rc == 0 && i < plan->session_count; i++) {
        if (plan->sessions[i].closed_how) {
            rc = write_close(recorder, &plan->sessions[i], err);
        }
    }
    return rc;
}
