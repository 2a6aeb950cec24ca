#include "replay/replay_summary.h"

#include <inttypes.h>

enum { STATES_SHOWN = 8 };

/* A duration with a unit that suits it. */
static const char *duration(int64_t ns, char text[32])
{
    if (ns < 1000) {
        snprintf(text, 32, "%" PRId64 " ns", ns);
    } else if (ns < 1000000) {
        snprintf(text, 32, "%.3g us", (double) ns / 1e3);
    } else if (ns < 1000000000) {
        snprintf(text, 32, "%.3g ms", (double) ns / 1e6);
    } else {
        snprintf(text, 32, "%.2f s", (double) ns / 1e9);
    }
    return text;
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
                " times in all\n",
                t->sessions_reconnected, t->reconnects);
    }
    if (plan->login_failed_count) {
        fprintf(out, "             %" PRIu32 " logins failed in production and were not repeated\n",
                plan->login_failed_count);
    }
    if (plan->replication_count) {
        fprintf(out, "             %" PRIu32 " replication sessions were left out\n",
                plan->replication_count);
    }
    if (plan->encrypted_count) {
        fprintf(out, "             %" PRIu32 " encrypted sessions were left out\n",
                plan->encrypted_count);
    }
    if (plan->closes_unknown) {
        fprintf(out, "             the capture saw no session close (log_disconnections): each was "
                     "closed after its last statement\n");
    }
}

static void print_states(const struct rh_replay_summary *m, FILE *out)
{
    struct rh_tally *t = &m->result->tally;
    uint64_t types_unknown = 0;
    rh_tally_sort_states(t);
    uint32_t shown = 0, others = 0;
    uint64_t other_count = t->states_beyond;
    for (uint32_t i = 0; i < t->state_count; i++) {
        char text[6];
        const struct rh_tally_state *state = &t->states[i];
        if (state->types_unknown) {
            types_unknown += state->count;
        } else if (shown < STATES_SHOWN) {
            rh_sqlstate_unpack(state->sqlstate, text);
            fprintf(out, "             %9" PRIu64 "  %s\n", state->count, text[0] ? text : "?????");
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
    if (types_unknown) {
        fprintf(out,
                "             %9" PRIu64
                "  types unknown: parameters whose types a log does not tell\n",
                types_unknown);
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
        fprintf(out,
                "             %" PRIu64 " PREPARE commands were added, as the log shows them\n",
                t->prepares_sent);
    }
    if (t->cancels_sent) {
        fprintf(out, "             %" PRIu64 " cancel requests\n", t->cancels_sent);
    }
    if (t->cancels_failed) {
        fprintf(out, "             %" PRIu64 " cancel requests did not get through\n",
                t->cancels_failed);
    }
    if (t->setups_failed) {
        fprintf(out, "             %" PRIu64 " commands that prepare or restore a session failed\n",
                t->setups_failed);
    }
}

/* Statements that no replay of this window can send are not missing from it. */
static void print_outside(const struct rh_tally *t, FILE *out)
{
    uint64_t outside = t->not_sent[RH_REASON_OUTSIDE_WINDOW];
    if (outside > 0) {
        fprintf(out,
                "outside      %9" PRIu64
                "  in transactions that were open at --from or --to: not part of this replay\n",
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
            duration(rh_hist_quantile(lag, 0.50), p50), duration(rh_hist_quantile(lag, 0.95), p95),
            duration(rh_hist_quantile(lag, 0.99), p99), duration(lag->max, max));
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
            behind->count, duration(rh_hist_quantile(behind, 0.50), p50),
            duration(rh_hist_quantile(behind, 0.99), p99), duration(behind->max, max));
}

void rh_replay_summary_print(const struct rh_replay_summary *m, FILE *out)
{
    char text[32];
    int64_t removed_ns = rh_time_map_removed_ns(&m->plan->map);
    fprintf(out, "target       %s, PostgreSQL %s, empty round trip %s\n", m->target->address,
            m->target->version[0] ? m->target->version : "of unknown version",
            duration(m->target->round_trip_ns, text));
    if (m->is_checked) {
        fprintf(out, "preflight    %u warnings, %u notes\n", m->findings->graded[RH_GRADE_WARNING],
                m->findings->graded[RH_GRADE_NOTE]);
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
    if (m->result->tally.sessions_late > 0) {
        fprintf(out,
                "late         %" PRIu64
                " sessions began, or went on, a second or more after their time, at\n"
                "             most %s: no slot or no connection was to be had before\n",
                m->result->tally.sessions_late, duration(m->result->tally.latest_session_ns, text));
    }
    if (removed_ns > 0) {
        fprintf(out, "pauses       %s of the trace's time were cut in %zu places\n",
                duration(removed_ns, text), m->plan->map.cut_count);
    }
    if (m->damaged_blocks) {
        fprintf(out,
                "damage       %" PRIu32 " blocks of the trace with %" PRIu64
                " records could not be read\n",
                m->damaged_blocks, m->damaged_records);
    }
    fprintf(out, "run          %s\n", m->run_path);
}
