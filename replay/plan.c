#include "replay/plan.h"

#include <assert.h>
#include <inttypes.h>
#include <stdlib.h>

#include "common/alloc.h"
#include "common/clock.h"
#include "replay/plan_window.h"
#include "replay/write_filter.h"

/* So many, copies included, are planned for: some 250 MB. */
enum { SESSIONS_MAX = 1000000 };

/* What the making of a plan needs and the plan does not. */
struct planner {
    struct rh_plan *plan;
    const struct rh_replay_options *options;
    struct rh_trace_file *file;
    bool scanned;
    struct rh_plan_scan scan;
    int64_t *events; /* openings and closings within the window, sorted */
    size_t event_count;
    size_t event_cap;
};

static bool in_window(const struct rh_plan *plan, int64_t t)
{
    return t != RH_TIME_UNKNOWN && t >= plan->from_ns && t < plan->to_ns;
}

/* Whether the session was there before the window (or before the capture) began. */
static bool ran_before(const struct rh_plan *plan, const struct rh_session *s)
{
    return s->opened_ns == RH_TIME_UNKNOWN || (s->flags & RH_SESSION_JOINED_MIDWAY) ||
           s->opened_ns < plan->from_ns;
}

static bool closed_known(const struct rh_session *s)
{
    return s->closed_ns != RH_TIME_UNKNOWN && !(s->flags & RH_SESSION_LEFT_OPEN);
}

static int compare_times(const void *a, const void *b)
{
    int64_t x = *(const int64_t *) a, y = *(const int64_t *) b;
    return (x > y) - (x < y);
}

static void collect_events(struct planner *p)
{
    const struct rh_plan *plan = p->plan;
    for (uint32_t i = 0; i < rh_trace_index_session_count(plan->index); i++) {
        const struct rh_session *s = rh_trace_index_session(plan->index, i);
        if (!ran_before(plan, s) && in_window(plan, s->opened_ns)) {
            RH_GROW(p->events, p->event_count, p->event_cap);
            p->events[p->event_count++] = s->opened_ns;
        }
        if (closed_known(s) && in_window(plan, s->closed_ns)) {
            RH_GROW(p->events, p->event_count, p->event_cap);
            p->events[p->event_count++] = s->closed_ns;
        }
    }
    if (p->event_count > 0) {
        qsort(p->events, p->event_count, sizeof *p->events, compare_times);
    }
}

/* Read the window's records, where something depends on them. */
static int scan_window(struct planner *p, struct rh_error *err)
{
    const struct rh_replay_options *o = p->options;
    p->scanned = o->from_ns != INT64_MIN || o->to_ns != INT64_MAX || o->skip_idle_ns > 0;
    if (!p->scanned) {
        p->plan->statement_count = rh_trace_file_totals(p->file).statements * p->plan->scale;
        return 0;
    }
    if (rh_plan_scan(&p->scan, p->file, p->plan->index, o, p->events, p->event_count, &p->plan->map,
                     err) != 0) {
        return -1;
    }
    p->plan->statement_count = p->scan.statement_count * p->plan->scale;
    return 0;
}

/* The first record of session i in the window, RH_TIME_UNKNOWN if it has none there. */
static int64_t first_record_ns(const struct planner *p, uint32_t i)
{
    if (!p->scanned) {
        return rh_trace_index_first_ns(p->plan->index, i);
    }
    return p->scan.seen[i].record_count ? p->scan.seen[i].first_ns : RH_TIME_UNKNOWN;
}

static bool in_scope(const struct planner *p, uint32_t i, const struct rh_session *s)
{
    if (first_record_ns(p, i) != RH_TIME_UNKNOWN) {
        return true;
    }
    if (!ran_before(p->plan, s)) {
        return in_window(p->plan, s->opened_ns);
    }
    return !closed_known(s) || s->closed_ns >= p->plan->from_ns;
}

static enum rh_reason never_opened(const struct rh_session *s)
{
    if (s->flags & RH_SESSION_REPLICATION) {
        return RH_REASON_REPLICATION;
    }
    bool is_closed = s->flags & (RH_SESSION_LOGIN_FAILED | RH_SESSION_ENCRYPTED);
    return is_closed ? RH_REASON_CONNECT_FAILED : RH_REASON_NONE;
}

/* As production had them: once, however many copies there are. */
static void count_unopened(struct rh_plan *plan, const struct rh_plan_session *ps)
{
    uint32_t flags = ps->copy == 0 ? ps->session->flags : 0;
    if (flags & RH_SESSION_REPLICATION) {
        plan->replication_count++;
    } else if (flags & RH_SESSION_LOGIN_FAILED) {
        plan->login_failed_count++;
    } else if (flags & RH_SESSION_ENCRYPTED) {
        plan->encrypted_count++;
    }
}

static void plan_session(struct planner *p, uint32_t i, struct rh_plan_session *ps)
{
    struct rh_plan *plan = p->plan;
    const struct rh_session *s = rh_trace_index_session(plan->index, i);
    *ps = (struct rh_plan_session){
        .session = s,
        .trace_index = i,
        .is_initial = ran_before(plan, s),
        .unsent = never_opened(s),
        .open_ns = ran_before(plan, s) ? INT64_MIN : s->opened_ns,
        .close_ns =
            closed_known(s) && in_window(plan, s->closed_ns) ? s->closed_ns : RH_TIME_UNKNOWN,
        .end_ordinal = UINT64_MAX,
        .close_rank = UINT32_MAX,
        .opened_wall_ns = RH_TIME_UNKNOWN,
        .closed_wall_ns = RH_TIME_UNKNOWN,
    };
    /* A session cannot close before it opens, whatever the stamps say; the opener relies on it. */
    if (ps->close_ns != RH_TIME_UNKNOWN && ps->close_ns < ps->open_ns) {
        ps->close_ns = ps->open_ns;
    }
    ps->rest = ps->unsent;
    ps->restore = ps->is_initial && (plan->from_ns != INT64_MIN || plan->is_part ||
                                     (s->flags & RH_SESSION_JOINED_MIDWAY));
    ps->close_early = !closed_known(s) && (plan->closes_unknown || p->options->max_connections > 0);
    if (!p->scanned) {
        return;
    }
    const struct rh_plan_seen *seen = &p->scan.seen[i];
    if (ps->restore) {
        ps->first_ordinal = seen->is_settled || seen->is_inside ? seen->start_ordinal : 0;
    }
    bool ends_before = closed_known(s) && s->closed_ns < plan->to_ns;
    if (plan->to_ns != INT64_MAX && seen->open_ordinal > 0 && !ends_before) {
        ps->end_ordinal = seen->open_ordinal;
    }
}

static int compare_opening(const void *a, const void *b)
{
    const struct rh_plan_session *x = a, *y = b;
    if (x->open_ns != y->open_ns) {
        return x->open_ns < y->open_ns ? -1 : 1;
    }
    if (x->trace_index != y->trace_index) {
        return x->trace_index < y->trace_index ? -1 : 1;
    }
    return (x->copy > y->copy) - (x->copy < y->copy);
}

static int compare_closing(const void *a, const void *b, void *sessions)
{
    const struct rh_plan_session *all = sessions;
    const struct rh_plan_session *x = &all[*(const uint32_t *) a], *y = &all[*(const uint32_t *) b];
    if (x->close_ns != y->close_ns) {
        return x->close_ns < y->close_ns ? -1 : 1;
    }
    return (x > y) - (x < y);
}

/* Who had closed before whom opened, and how many were open at once. */
static void rank_closings(struct rh_plan *plan)
{
    plan->by_close = rh_calloc(plan->session_count + 1, sizeof *plan->by_close);
    for (uint32_t i = 0; i < plan->session_count; i++) {
        if (plan->sessions[i].close_ns != RH_TIME_UNKNOWN && !plan->sessions[i].unsent) {
            plan->by_close[plan->close_count++] = i;
        }
    }
    qsort_r(plan->by_close, plan->close_count, sizeof *plan->by_close, compare_closing,
            plan->sessions);
    for (uint32_t rank = 0; rank < plan->close_count; rank++) {
        plan->sessions[plan->by_close[rank]].close_rank = rank;
    }

    uint32_t closed = 0;
    for (uint32_t i = 0; i < plan->session_count; i++) {
        struct rh_plan_session *ps = &plan->sessions[i];
        if (ps->unsent) {
            continue;
        }
        while (closed < plan->close_count &&
               plan->sessions[plan->by_close[closed]].close_ns < ps->open_ns) {
            closed++;
        }
        ps->closed_before = closed;
        plan->openable_count++;
        if (plan->openable_count - closed > plan->peak_count) {
            plan->peak_count = plan->openable_count - closed;
        }
    }
}

static void add_copies(struct planner *p, uint32_t i)
{
    struct rh_plan *plan = p->plan;
    for (uint32_t copy = 0; copy < plan->scale; copy++) {
        struct rh_plan_session *ps = &plan->sessions[plan->session_count++];
        plan_session(p, i, ps);
        ps->copy = copy;
        count_unopened(plan, ps);
    }
}

static int select_sessions(struct planner *p, struct rh_error *err)
{
    struct rh_plan *plan = p->plan;
    uint32_t count = rh_trace_index_session_count(plan->index);
    if (plan->scale > 1 && count > SESSIONS_MAX / plan->scale) {
        return rh_error_set(err, RH_ERR_USAGE,
                            "--scale=%" PRIu32 " of %" PRIu32
                            " sessions makes more than %d; a smaller one is needed",
                            plan->scale, count, SESSIONS_MAX);
    }
    plan->sessions = rh_calloc(count ? (size_t) count * plan->scale : 1, sizeof *plan->sessions);
    plan->closes_unknown = count > 1;
    for (uint32_t i = 0; i < count && plan->closes_unknown; i++) {
        plan->closes_unknown = !closed_known(rh_trace_index_session(plan->index, i));
    }
    for (uint32_t i = 0; i < count; i++) {
        if (in_scope(p, i, rh_trace_index_session(plan->index, i))) {
            add_copies(p, i);
        }
    }
    if (plan->session_count > 0) {
        qsort(plan->sessions, plan->session_count, sizeof *plan->sessions, compare_opening);
    }
    for (uint32_t i = 0; i < plan->session_count; i += plan->scale) {
        rh_map_put(&plan->by_number, plan->sessions[i].session->number, &plan->sessions[i]);
    }
    return 0;
}

/*
 * Where the schedule begins: with the first event, but no longer than this before the first
 * statement.  A session of a pool may have been opened many hours before it was first logged, and
 * the log tells its opening by the session's id.
 */
enum { LEAD_MAX_S = 5 };

static int64_t schedule_start(int64_t first_ns, int64_t first_record_ns)
{
    int64_t lead_ns = LEAD_MAX_S * RH_NS_PER_SEC;
    if (first_record_ns != INT64_MAX && rh_time_sub(first_record_ns, first_ns) > lead_ns) {
        return first_record_ns - lead_ns;
    }
    return first_ns;
}

/* The window's first and last event. */
static void find_span(struct planner *p)
{
    struct rh_plan *plan = p->plan;
    int64_t first_ns = INT64_MAX, first_statement_ns = INT64_MAX, last_ns = INT64_MIN;
    for (uint32_t i = 0; i < plan->session_count; i++) {
        const struct rh_plan_session *ps = &plan->sessions[i];
        int64_t record_ns = first_record_ns(p, ps->trace_index);
        if (!ps->is_initial && ps->open_ns < first_ns) {
            first_ns = ps->open_ns;
        }
        if (record_ns != RH_TIME_UNKNOWN && record_ns < first_statement_ns) {
            first_statement_ns = record_ns;
        }
        int64_t end_ns =
            p->scanned ? record_ns : rh_trace_index_last_ns(plan->index, ps->trace_index);
        if (end_ns != RH_TIME_UNKNOWN && end_ns > last_ns) {
            last_ns = end_ns;
        }
        if (ps->close_ns != RH_TIME_UNKNOWN && ps->close_ns > last_ns) {
            last_ns = ps->close_ns;
        }
    }
    if (p->scanned && p->scan.end_ns > last_ns) {
        last_ns = p->scan.end_ns;
    }
    first_ns = first_ns < first_statement_ns ? schedule_start(first_ns, first_statement_ns)
                                             : first_statement_ns;
    if (first_ns == INT64_MAX) {
        first_ns = plan->from_ns == INT64_MIN ? 0 : plan->from_ns;
    }
    if (last_ns > plan->to_ns) {
        last_ns = plan->to_ns;
    }
    plan->map.origin_ns = first_ns;
    plan->end_ns = last_ns < first_ns ? first_ns : last_ns;
}

int rh_plan_new(struct rh_plan **out, struct rh_trace_file *file,
                const struct rh_trace_index *index, const struct rh_replay_options *options,
                struct rh_error *err)
{
    struct rh_plan *plan = rh_calloc(1, sizeof *plan);
    plan->index = index;
    plan->speed_is_max = options->speed.is_max;
    plan->has_steps = rh_trace_file_header(file)->vantage == RH_VANTAGE_WIRE;
    plan->scale = options->scale ? options->scale : 1;
    plan->from_ns = options->from_ns;
    plan->to_ns = options->to_ns;
    plan->is_part = rh_trace_header_setting(rh_trace_file_header(file), "continues").data != NULL;
    plan->read_only = options->read_only ? rh_write_filter_new() : NULL;
    rh_map_init(&plan->by_number);
    rh_time_map_init(&plan->map, 0, options->speed.factor);

    struct planner p = {.plan = plan, .options = options, .file = file};
    int rc = -1;
    if (options->skip_idle_ns > 0) {
        collect_events(&p);
    }
    if (scan_window(&p, err) != 0) {
        goto out;
    }
    if (select_sessions(&p, err) != 0) {
        goto out;
    }
    find_span(&p);
    rank_closings(plan);
    rc = 0;

out:
    if (p.scanned) {
        rh_plan_scan_release(&p.scan);
    }
    rh_free(p.events);
    if (rc != 0) {
        rh_plan_free(plan);
        plan = NULL;
    }
    *out = plan;
    return rc;
}

void rh_plan_free(struct rh_plan *plan)
{
    if (!plan) {
        return;
    }
    for (uint32_t i = 0; i < plan->session_count; i++) {
        rh_free(plan->sessions[i].closed_how);
    }
    rh_write_filter_free(plan->read_only);
    rh_time_map_release(&plan->map);
    rh_map_release(&plan->by_number);
    rh_free(plan->sessions);
    rh_free(plan->by_close);
    rh_free(plan);
}

static enum rh_reason hold_of(const struct rh_plan *plan, const struct rh_record *r)
{
    if (r->hold != RH_REASON_NONE) {
        return r->hold;
    }
    if (r->kind == RH_KIND_FETCH && r->row_limit < 0) {
        return RH_REASON_NO_ROW_LIMIT;
    }
    return plan->read_only && rh_write_filter_holds(plan->read_only, r) ? RH_REASON_READ_ONLY
                                                                        : RH_REASON_NONE;
}

void rh_plan_judge(const struct rh_plan *plan, const struct rh_plan_session *ps,
                   struct rh_record *r)
{
    r->copy = ps->copy;
    r->run = (struct rh_run_part){
        .fate = RH_FATE_NONE,
        .planned_ns = rh_time_map_offset_ns(&plan->map, r->start_ns),
        .sent_ns = RH_TIME_UNKNOWN,
        .ready_ns = RH_TIME_UNKNOWN,
    };
    if (ps->unsent != RH_REASON_NONE) {
        r->run.fate = RH_FATE_NOT_SENT;
        r->run.reason = ps->unsent;
    } else if (r->ordinal < ps->first_ordinal || r->ordinal >= ps->end_ordinal) {
        r->run.fate = RH_FATE_NOT_SENT;
        r->run.reason = RH_REASON_OUTSIDE_WINDOW;
    } else {
        r->run.reason = hold_of(plan, r);
        r->run.fate = r->run.reason == RH_REASON_NONE ? RH_FATE_NONE : RH_FATE_SKIPPED;
    }
}

int64_t rh_plan_length_ns(const struct rh_plan *plan)
{
    return rh_time_map_offset_ns(&plan->map, plan->end_ns);
}
