#include "replay/tally.h"

#include <stdio.h>
#include <stdlib.h>

void rh_tally_init(struct rh_tally *t)
{
    *t = (struct rh_tally){0};
    rh_hist_init(&t->lag_ns);
    rh_hist_init(&t->behind_ns);
    rh_hist_init(&t->order_ns);
}

void rh_tally_release(struct rh_tally *t)
{
    rh_hist_release(&t->lag_ns);
    rh_hist_release(&t->behind_ns);
    rh_hist_release(&t->order_ns);
}

static void count_state(struct rh_tally *t, uint32_t sqlstate, bool types_unknown, uint64_t n)
{
    for (uint32_t i = 0; i < t->state_count; i++) {
        if (t->states[i].sqlstate == sqlstate && t->states[i].types_unknown == types_unknown) {
            t->states[i].count += n;
            return;
        }
    }
    if (t->state_count < RH_TALLY_STATES_MAX) {
        t->states[t->state_count++] = (struct rh_tally_state){sqlstate, types_unknown, n};
    } else {
        t->states_beyond += n;
    }
}

void rh_tally_merge(struct rh_tally *into, const struct rh_tally *from)
{
    into->sessions_opened += from->sessions_opened;
    into->sessions_failed += from->sessions_failed;
    into->sessions_lost += from->sessions_lost;
    into->sessions_reconnected += from->sessions_reconnected;
    into->reconnects += from->reconnects;
    into->sessions_late += from->sessions_late;
    if (from->latest_session_ns > into->latest_session_ns) {
        into->latest_session_ns = from->latest_session_ns;
    }
    into->statements_sent += from->statements_sent;
    into->statements_failed += from->statements_failed;
    into->statements_lost += from->statements_lost;
    into->production_failed += from->production_failed;
    into->production_known += from->production_known;
    into->others_sent += from->others_sent;
    into->prepares_sent += from->prepares_sent;
    into->setups_failed += from->setups_failed;
    into->cancels_sent += from->cancels_sent;
    into->cancels_failed += from->cancels_failed;
    for (int i = 0; i < RH_REASON_COUNT; i++) {
        into->skipped[i] += from->skipped[i];
        into->not_sent[i] += from->not_sent[i];
    }
    if (from->refused_session != 0) {
        rh_tally_note_refusal(into, from->refused_session, from->refused_text);
    }
    for (uint32_t i = 0; i < from->state_count; i++) {
        count_state(into, from->states[i].sqlstate, from->states[i].types_unknown,
                    from->states[i].count);
    }
    into->states_beyond += from->states_beyond;
    rh_hist_merge(&into->lag_ns, &from->lag_ns);
    rh_hist_merge(&into->behind_ns, &from->behind_ns);
    rh_hist_merge(&into->order_ns, &from->order_ns);
    into->orders_broken += from->orders_broken;
}

void rh_tally_note_refusal(struct rh_tally *t, uint32_t session, const char *why)
{
    if (t->refused_session == 0) {
        t->refused_session = session;
        snprintf(t->refused_text, sizeof t->refused_text, "%s", why);
    }
}

/* A failure that only the missing parameter types of a log explain. */
static bool is_of_types(const struct rh_record *r)
{
    return (r->flags & RH_FLAG_NO_TYPES) && r->param_count > 0 &&
           rh_sqlstate_is_of_types(r->outcome.sqlstate);
}

bool rh_tally_add(struct rh_tally *t, const struct rh_record *r)
{
    bool sent = r->run.sent_ns != RH_TIME_UNKNOWN;
    if (sent) {
        int64_t due_ns = r->run.planned_ns;
        if (r->run.ready_ns != RH_TIME_UNKNOWN && r->run.ready_ns > due_ns) {
            due_ns = r->run.ready_ns;
            rh_hist_add(&t->behind_ns, due_ns - r->run.planned_ns);
        }
        if (r->run.wait_ns > 0) {
            due_ns += r->run.wait_ns;
            rh_hist_add(&t->order_ns, r->run.wait_ns);
        }
        rh_hist_add(&t->lag_ns, r->run.sent_ns - due_ns);
    }
    if (!rh_kind_is_statement(r->kind)) {
        t->others_sent += sent;
        return false;
    }
    t->statements_sent += sent;
    switch (r->run.fate) {
    case RH_FATE_SKIPPED:
        t->skipped[r->run.reason]++;
        return false;
    case RH_FATE_NOT_SENT:
        t->not_sent[r->run.reason]++;
        return false;
    case RH_FATE_LOST:
        t->statements_lost++;
        return false;
    default:
        break;
    }
    if (r->outcome.sqlstate == 0) {
        return false;
    }
    t->statements_failed++;
    count_state(t, r->outcome.sqlstate, is_of_types(r), 1);
    return true;
}

uint64_t rh_tally_excess(const struct rh_tally *t)
{
    uint64_t unknown =
        t->statements_sent > t->production_known ? t->statements_sent - t->production_known : 0;
    uint64_t there = t->production_failed + unknown;
    uint64_t excess = t->statements_failed > there ? t->statements_failed - there : 0;
    return excess >= RH_TALLY_EXCESS_MIN && excess > t->statements_sent / 100 ? excess : 0;
}

uint32_t rh_tally_top_state(const struct rh_tally *t, uint64_t *count)
{
    uint32_t top = 0;
    *count = 0;
    for (uint32_t i = 0; i < t->state_count; i++) {
        uint64_t n = 0;
        for (uint32_t j = i; j < t->state_count; j++) { /* one may stand in two rows */
            n += t->states[j].sqlstate == t->states[i].sqlstate ? t->states[j].count : 0;
        }
        if (n > *count) {
            *count = n;
            top = t->states[i].sqlstate;
        }
    }
    return top;
}

static int compare_states(const void *a, const void *b)
{
    const struct rh_tally_state *x = a, *y = b;
    if (x->count != y->count) {
        return x->count > y->count ? -1 : 1;
    }
    return (x->sqlstate > y->sqlstate) - (x->sqlstate < y->sqlstate);
}

void rh_tally_sort_states(struct rh_tally *t)
{
    if (t->state_count > 0) {
        qsort(t->states, t->state_count, sizeof t->states[0], compare_states);
    }
}
