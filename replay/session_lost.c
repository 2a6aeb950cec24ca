/*
 * A session whose connection is lost, though production's was not: what its transaction still had
 * to do is passed over, since without its beginning it would mean something else; then the session
 * gets another connection with the settings and prepared statements that production's had there,
 * and goes on.  What they were is asked of the trace, so that nothing has to be kept for the case.
 */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "common/alloc.h"
#include "common/clock.h"
#include "common/log.h"
#include "replay/connector.h"
#include "replay/session_parts.h"
#include "replay/step_play.h"

/* How long before its next record a session connects again: long before would only give a server
 * that ends idle sessions another one to end. */
#define LEAD_NS RH_NS_PER_SEC

/* More than this of an error tells nothing new. */
enum { HOW_MAX = 1200 };

static void replace_text(char **text, const char *by)
{
    rh_free(*text);
    *text = rh_strdup(by);
}

__attribute__((format(printf, 2, 3))) static void tell(const struct rh_replay_session *s,
                                                       const char *format, ...)
{
    const struct rh_session *captured = s->planned->session;
    char text[HOW_MAX];
    va_list args;
    if (!s->worker->engine->options->verbose) {
        return;
    }
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    rh_log(RH_LOG_WARNING, "session %u (%.*s) %s", captured->number, (int) captured->user.len,
           captured->user.data ? captured->user.data : "", text);
}

/* Nothing of what was sent on the old connection, or waits in it, is of use. */
static void forget_connection(struct rh_replay_session *s)
{
    rh_replay_session_disconnect(s, RH_PARTING_LOST);
    rh_replay_session_drop_state(s);
    s->has_state = false;
    s->restored_count = 0;
    s->exchange.is_active = false;
    s->in_pipeline = s->owes_sync = s->skips_rest = false;
    s->prepare_ordinal = 0;
    rh_prepared_forget_all(&s->prepared);
    if (s->steps) {
        rh_step_play_restart(s->steps, false);
    }
    rh_pg_scan_release(&s->scan);
    rh_pg_scan_init(&s->scan, RH_PG_BACKEND, RH_PG_BODY_MAX);
}

/* With records that are not sent. */
static void lose_for_good(struct rh_replay_session *s, const char *how)
{
    s->worker->tally.sessions_lost++;
    rh_replay_session_end(s, RH_REASON_SESSION_LOST, how);
}

void rh_replay_session_lose(struct rh_replay_session *s, const char *how)
{
    if (!s->conn) {
        return;
    }
    tell(s, "was lost: %s", how);
    if (s->worker->is_stopping || s->state == RH_REPLAY_DRAINED) {
        rh_replay_session_end(s, RH_REASON_SESSION_LOST, how);
        return;
    }
    if (s->state == RH_REPLAY_BUSY && s->purpose == RH_PURPOSE_RECORD) {
        rh_replay_session_lose_record(s, rh_clock_mono_ns());
    }
    forget_connection(s);
    replace_text(&s->lost_how, how);
    if (s->has_sent) {
        s->reconnect.since_ns = 0;
    }
    s->is_reopening = true;
    s->has_answered = false; /* what comes late now waits for no answer */
    s->ready_ns = rh_clock_mono_ns();
    s->state = RH_REPLAY_LOST;
    rh_replay_session_recover(s);
}

void rh_replay_session_recover(struct rh_replay_session *s)
{
    bool is_over = s->worker->engine->options->no_reconnect;
    const struct rh_record *r =
        is_over ? rh_replay_session_current(s) : rh_replay_session_pass_over(s);
    if (r && is_over) {
        lose_for_good(s, s->lost_how);
        return;
    }
    if (!r && s->is_exhausted) {
        rh_replay_session_end(s, RH_REASON_NONE, s->lost_how);
        return;
    }
    if (!r) {
        if (rh_replay_session_is_cut_off(s)) {
            rh_replay_session_end(s, RH_REASON_DAMAGED, "the trace cannot be read any further");
        }
        return;
    }
    s->in_transaction = false;
    s->restore_before = r->ordinal;
    int64_t at_ns = INT64_MIN;
    if (s->worker->begin_ns != 0) {
        at_ns = rh_time_sub(rh_replay_session_due_ns(s, r), LEAD_NS);
    }
    if (at_ns > rh_clock_mono_ns()) {
        s->reconnect.since_ns = 0;
        rh_timer_arm(s->worker->loop, &s->timer, at_ns);
    } else {
        rh_replay_session_queue(s);
    }
}

void rh_replay_session_queue(struct rh_replay_session *s)
{
    struct rh_reconnector *rc = &s->worker->reconnector;
    rh_timer_cancel(s->worker->loop, &s->timer);
    s->state = RH_REPLAY_QUEUED;
    if (s->reconnect.since_ns != 0) {
        rh_reconnector_put_failed(rc, &s->reconnect);
        return;
    }
    s->reconnect.since_ns = rh_clock_mono_ns();
    rh_reconnector_put(rc, &s->reconnect);
}

/* A server that is full now may be so of backends that do not know yet that they are lost; at a
 * session's first connect it is too small. */
bool rh_replay_session_retry(struct rh_replay_session *s, const struct rh_connect_request *request)
{
    struct rh_reconnector *rc = &s->worker->reconnector;
    bool is_full = strcmp(request->sqlstate, "53300") == 0;
    bool retries = request->may_pass && (s->is_reopening || !is_full) &&
                   !s->worker->engine->options->no_reconnect && !s->worker->is_stopping;
    if (!retries) {
        return false;
    }
    replace_text(&s->refused_how, request->error.text);
    s->state = RH_REPLAY_QUEUED;
    if (s->reconnect.is_running) {
        rh_reconnector_end(rc, &s->reconnect, RH_RECONNECT_FAILED);
    } else {
        s->reconnect.since_ns = request->began_ns;
        rh_reconnector_put_failed(rc, &s->reconnect);
    }
    return true;
}

void rh_replay_session_give_up(struct rh_replay_session *s, const char *why)
{
    struct rh_tally *tally = &s->worker->tally;
    char how[HOW_MAX];
    if (!s->is_reopening) {
        tally->sessions_failed++;
        rh_tally_note_refusal(tally, s->planned->session->number, why);
        tell(s, "was refused: %s", why);
        rh_replay_session_end(s, RH_REASON_CONNECT_FAILED, why);
        return;
    }
    tell(s, "was lost and gets no connection: %s", why);
    snprintf(how, sizeof how, "no connection after it was lost: %s", why);
    lose_for_good(s, how);
}

void rh_replay_session_reopened(struct rh_replay_session *s)
{
    struct rh_tally *tally = &s->worker->tally;
    tally->sessions_reconnected += s->reopened_count++ == 0;
    tally->reconnects++;
    rh_replay_session_drop_state(s);
    s->has_state = false;
    s->has_sent = false;
    rh_replay_session_hand_in_done(s);
    rh_replay_session_log(s, RH_KIND_OPEN, s->lost_how);
}

static void go(struct rh_reconnect *r)
{
    rh_replay_session_connect(r->ctx);
}

static void give_up(struct rh_reconnect *r)
{
    struct rh_replay_session *s = r->ctx;
    char why[HOW_MAX];
    snprintf(why, sizeof why, "tried for %.3g s: %s",
             (double) (rh_clock_mono_ns() - r->since_ns) / (double) RH_NS_PER_SEC,
             s->refused_how ? s->refused_how : s->lost_how);
    rh_replay_session_give_up(s, why);
}

void rh_replay_session_init_reconnect(struct rh_replay_session *s)
{
    s->reconnect = (struct rh_reconnect){.go = go, .give_up = give_up, .ctx = s};
}
