#include "replay/replay_summary.h"

#include <inttypes.h>

#include "common/noun.h"
#include "replay/target_text.h"

enum { STATES_SHOWN = 8 };

static void print_buf(struct rh_buf *buf, FILE *out)
{
    fputs(rh_buf_cstr(buf), out);
    rh_buf_release(buf);
}

static void print_sessions(const struct rh_replay_summary *m, FILE *out)
{
    const struct rh_tally *t = &m->result->tally;
    const struct rh_plan *plan = m->plan;
    fprintf(out, "sessions     %" PRIu64 " opened, %" PRIu64 " refused, %" PRIu64 " lost\n",
            t->sessions_opened, t->sessions_failed, t->sessions_lost);
    if (t->sessions_reconnected) {
        fprintf(out,
                "             %" PRIu64 " lost their connection and were connected again, %" PRIu64
                " time%s in all\n",
                t->sessions_reconnected, t->reconnects, rh_plural(t->reconnects));
    }
    struct rh_buf left_out;
    rh_buf_init(&left_out, 1000);
    rh_left_out_write(plan, true, &left_out);
    print_buf(&left_out, out);
    if (plan->closes_unknown) {
        fprintf(out, "             the capture saw no session close (log_disconnections): each was "
                     "closed after its last statement\n");
    }
}

static void print_states(const struct rh_replay_summary *m, FILE *out)
{
    struct rh_tally *t = &m->result->tally;
    rh_tally_sort_states(t);
    uint32_t shown = 0, others = 0;
    uint64_t other_count = t->states_beyond;
    for (uint32_t i = 0; i < t->state_count; i++) {
        char text[6];
        const struct rh_tally_state *state = &t->states[i];
        if (shown < STATES_SHOWN) {
            rh_sqlstate_unpack(state->sqlstate, text);
            fprintf(
                out, "             %9" PRIu64 "  %s%s\n", state->count, text[0] ? text : "?????",
                state->types_unknown ? ", perhaps as a log does not tell the types of parameters"
                                     : "");
            shown++;
        } else {
            others++;
            other_count += state->count;
        }
    }
    if (other_count) {
        fprintf(out, "             %9" PRIu64 "  of %" PRIu32 " other states\n", other_count,
                others);
    }
}

static void print_statements(const struct rh_replay_summary *m, FILE *out)
{
    const struct rh_tally *t = &m->result->tally;
    double seconds = (double) m->result->length_ns / 1e9;
    fprintf(out, "statements   %" PRIu64 " sent", t->statements_sent);
    if (seconds > 0) {
        fprintf(out, " in %.2f s (%.0f/s)", seconds, (double) t->statements_sent / seconds);
    }
    fprintf(out, ", %" PRIu64 " failed", t->statements_failed);
    if (t->production_known) {
        fprintf(out, " (of those sent, %" PRIu64 " failed in production)", t->production_failed);
    }
    fprintf(out, "\n");
    print_states(m, out);
    if (t->statements_lost) {
        fprintf(out, "             %9" PRIu64 "  lost with their connection\n", t->statements_lost);
    }
    if (t->prepares_sent) {
        fprintf(out, "             %" PRIu64 " PREPARE command%s added, as the log shows them\n",
                t->prepares_sent, rh_noun(t->prepares_sent, " was", "s were"));
    }
    if (t->cancels_sent) {
        fprintf(out, "             %" PRIu64 " cancel request%s\n", t->cancels_sent,
                rh_plural(t->cancels_sent));
    }
    if (t->cancels_failed) {
        fprintf(out, "             %" PRIu64 " cancel request%s did not get through\n",
                t->cancels_failed, rh_plural(t->cancels_failed));
    }
    if (t->setups_failed) {
        fprintf(out, "             %" PRIu64 " command%s to prepare or restore a session failed\n",
                t->setups_failed, rh_plural(t->setups_failed));
    }
}

/* Statements that no replay of this window can send are not missing from it. */
static void print_outside(const struct rh_tally *t, FILE *out)
{
    uint64_t outside = t->not_sent[RH_REASON_OUTSIDE_WINDOW];
    if (outside > 0) {
        fprintf(out,
                "outside      %9" PRIu64
                "  in transactions that were open at --from or --to, or when the capture began: "
                "not part of this replay\n",
                outside);
    }
}

static void print_reasons(const char *heading, const uint64_t counts[RH_REASON_COUNT], FILE *out)
{
    for (int i = 0; i < RH_REASON_COUNT; i++) {
        if (counts[i] == 0 || i == RH_REASON_OUTSIDE_WINDOW) {
            continue;
        }
        fprintf(out, "%-12s %9" PRIu64 "  %s\n", heading, counts[i],
                rh_reason_text((enum rh_reason) i));
        heading = "";
    }
}

static void print_lag(const struct rh_replay_summary *m, FILE *out)
{
    const struct rh_hist *lag = &m->result->tally.lag_ns;
    char p50[32], p95[32], p99[32], max[32];
    if (lag->count == 0) {
        return;
    }
    fprintf(out, "lag          p50 %s, p95 %s, p99 %s, max %s\n",
            rh_duration_text(rh_hist_quantile(lag, 0.50), p50),
            rh_duration_text(rh_hist_quantile(lag, 0.95), p95),
            rh_duration_text(rh_hist_quantile(lag, 0.99), p99), rh_duration_text(lag->max, max));
}

static void print_behind(const struct rh_replay_summary *m, FILE *out)
{
    const struct rh_hist *behind = &m->result->tally.behind_ns;
    char p50[32], p99[32], max[32];
    if (behind->count == 0) {
        return;
    }
    fprintf(out,
            "behind       %" PRIu64
            " waited past their time for the answer before them: p50 %s, p99 %s, max %s\n",
            behind->count, rh_duration_text(rh_hist_quantile(behind, 0.50), p50),
            rh_duration_text(rh_hist_quantile(behind, 0.99), p99),
            rh_duration_text(behind->max, max));
}

static void print_order(const struct rh_replay_summary *m, FILE *out)
{
    const struct rh_hist *order = &m->result->tally.order_ns;
    char p50[RH_DURATION_TEXT_SIZE], p99[RH_DURATION_TEXT_SIZE], max[RH_DURATION_TEXT_SIZE];
    if (order->count == 0) {
        return;
    }
    fprintf(
        out,
        "order        %" PRIu64 " waited for other transactions to end: p50 %s, p99 %s, max %s\n",
        order->count, rh_duration_text(rh_hist_quantile(order, 0.50), p50),
        rh_duration_text(rh_hist_quantile(order, 0.99), p99), rh_duration_text(order->max, max));
    if (m->result->tally.orders_broken > 0) {
        fprintf(out, "             %" PRIu64 " wait%s given up after --order-timeout\n",
                m->result->tally.orders_broken,
                rh_noun(m->result->tally.orders_broken, " was", "s were"));
    }
}

void rh_replay_summary_print(const struct rh_replay_summary *m, FILE *out)
{
    char text[RH_DURATION_TEXT_SIZE];
    int64_t removed_ns = rh_time_map_removed_ns(&m->plan->map);
    struct rh_buf target;
    rh_buf_init(&target, 1000);
    rh_target_write(m->target, &target);
    print_buf(&target, out);
    if (m->is_checked) {
        fprintf(out, "preflight    %u warning%s, %u note%s\n",
                m->findings->graded[RH_GRADE_WARNING],
                rh_plural(m->findings->graded[RH_GRADE_WARNING]),
                m->findings->graded[RH_GRADE_NOTE], rh_plural(m->findings->graded[RH_GRADE_NOTE]));
    } else {
        fprintf(out, "preflight    left out\n");
    }
    print_sessions(m, out);
    print_statements(m, out);
    print_reasons("unreplayable", m->result->tally.skipped, out);
    print_reasons("not sent", m->result->tally.not_sent, out);
    print_outside(&m->result->tally, out);
    print_lag(m, out);
    print_behind(m, out);
    print_order(m, out);
    if (m->result->tally.sessions_late > 0) {
        fprintf(out,
                "late         %" PRIu64
                " session%s began, or went on, a second or more after the time, at\n"
                "             most %s: no slot or no connection was to be had before\n",
                m->result->tally.sessions_late, rh_plural(m->result->tally.sessions_late),
                rh_duration_text(m->result->tally.latest_session_ns, text));
    }
    if (removed_ns > 0) {
        fprintf(out, "pauses       %s of the trace's time were cut in %zu place%s\n",
                rh_duration_text(removed_ns, text), m->plan->map.cut_count,
                rh_plural(m->plan->map.cut_count));
    }
    if (m->damaged_blocks) {
        fprintf(out,
                "damage       %" PRIu32 " block%s of the trace with %" PRIu64
                " record%s could not be read\n",
                m->damaged_blocks, rh_plural(m->damaged_blocks), m->damaged_records,
                rh_plural(m->damaged_records));
    }
    fprintf(out, "run          %s\n", m->run_path);
}
