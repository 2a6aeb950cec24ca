/*
 * capture/assemble_session.c
 *
 * Records about sessions: how they begin, what they are, how they end.
 */
#include <stdio.h>
#include <string.h>

#include "capture/assembly.h"
#include "common/clock.h"

static void learn_zone(struct rh_assembler *a, struct rh_log_session *s,
                       const struct rh_log_entry *e)
{
    if (!e->has_session_start) {
        return;
    }
    s->zone = e->session_start.zone;
    s->offset_s = rh_log_clock_learn(&a->reader->clock, e->session_start, e->session_epoch_s);
    if (s->offset_s != RH_LOG_OFFSET_UNKNOWN) {
        s->opened_ns = e->session_epoch_s * RH_NS_PER_SEC;
    }
}

struct rh_log_session *rh_assemble_session(struct rh_assembler *a, const struct rh_log_entry *e,
                                           struct rh_error *err)
{
    struct rh_log_session *s = rh_log_sessions_find(&a->sessions, e->session_key);
    if (!s) {
        /* The operating system has given the process id to another process: the old one has ended.
         */
        struct rh_log_session *old = rh_log_sessions_by_pid(&a->sessions, e->pid);
        if (old && rh_assemble_close(a, old, "end not logged", err) != 0) {
            return NULL;
        }
        if (rh_assemble_retire(a, err) != 0) {
            return NULL;
        }
        rh_assemble_revive(a, e->session_key);
        s = rh_log_sessions_add(&a->sessions, e->session_key, e->pid);
        s->start_s = e->session_epoch_s;
        (void) rh_ended_sessions_get(&a->ended, s->key, &s->seen);
        s->flags |= e->line > 1 ? RH_SESSION_JOINED_MIDWAY : 0;
        learn_zone(a, s, e);
    }
    if (!s->has_user && e->user.data) {
        s->has_user = true;
        rh_log_session_set_names(s, e->user, e->database, e->client);
        s->wanted = rh_capture_filter_session(a->filter, s->user, s->database) &&
                    rh_capture_filter_sampled(a->filter, s->key);
        a->stats->sessions_filtered += !s->wanted;
        s->number = s->wanted ? ++a->last_number : 0;
        if (rh_span_is(e->backend_type, "walsender")) {
            s->flags |= RH_SESSION_REPLICATION;
        }
    }
    return s;
}

static int end_by_record(struct rh_assembler *a, struct rh_log_session *s,
                         const struct rh_log_entry *e, struct rh_error *err)
{
    struct rh_follow follow = {true, e->lxid, e->idle};
    char how[64];
    if (s->pending && rh_assemble_flush(a, s, &follow, err) != 0) {
        return -1;
    }
    if (s->close_sqlstate != RH_SQLSTATE_UNKNOWN) {
        char text[6];
        snprintf(how, sizeof how, "terminated by the server (%s)",
                 rh_sqlstate_unpack(s->close_sqlstate, text));
    } else {
        snprintf(how, sizeof how, "%s", s->lost_client ? "connection lost" : "disconnected");
    }
    return rh_assemble_close(a, s, how, err);
}

/* Not if statements came before: then the log has its records in disorder. */
static void opens_now(const struct rh_assembler *a, struct rh_log_session *s)
{
    if (!s->written && !s->pending) {
        s->opened_ns = a->now_ns;
        s->opened_exact = true;
        s->flags &= ~(uint32_t) RH_SESSION_JOINED_MIDWAY;
    }
}

static void authorized(struct rh_assembler *a, struct rh_log_session *s, struct rh_span body)
{
    struct rh_span name = rh_logmsg_application(&a->reader->messages, body);
    s->authorized = true;
    if (s->opened_ns == RH_TIME_UNKNOWN || (s->flags & RH_SESSION_JOINED_MIDWAY)) {
        opens_now(a, s);
    }
    if (name.data && name.len <= RH_LOG_NAME_MAX_BYTES) {
        rh_log_session_set_application(s, name);
    }
}

int rh_assemble_session_event(struct rh_assembler *a, struct rh_log_session *s,
                              const struct rh_log_entry *e, const struct rh_logmsg *m,
                              struct rh_error *err)
{
    switch (m->klass) {
    case RH_LOGMSG_RECEIVED:
        opens_now(a, s);
        return 0;
    case RH_LOGMSG_REPLICATION_AUTHORIZED:
        s->flags |= RH_SESSION_REPLICATION;
        authorized(a, s, m->body);
        return 0;
    case RH_LOGMSG_AUTHORIZED:
        authorized(a, s, m->body);
        return 0;
    case RH_LOGMSG_REPLICATION_COMMAND:
        s->flags |= RH_SESSION_REPLICATION;
        return 0;
    case RH_LOGMSG_LOST_CLIENT:
        s->lost_client = true;
        return 0;
    case RH_LOGMSG_DISCONNECTION:
        return end_by_record(a, s, e, err);
    default:
        return 0;
    }
}

/* Refused before it could do anything: by its authentication, its role, database or a limit. */
static bool is_failed_login(const struct rh_log_session *s, const struct rh_log_entry *e)
{
    return s->ordinal == 0 && !s->pending && !e->query.data &&
           (rh_span_is(e->tag, "startup") || rh_span_is(e->tag, "authentication") ||
            rh_span_starts(e->sqlstate, "28") || rh_span_is(e->sqlstate, "3D000") ||
            rh_span_is(e->sqlstate, "53300") || rh_span_is(e->sqlstate, "57P03"));
}

int rh_assemble_fatal(struct rh_assembler *a, struct rh_log_session *s,
                      const struct rh_log_entry *e, struct rh_error *err)
{
    s->close_sqlstate = rh_sqlstate_pack(e->sqlstate);
    if (is_failed_login(s, e)) {
        s->flags |= RH_SESSION_LOGIN_FAILED;
        s->flags &= ~(uint32_t) RH_SESSION_JOINED_MIDWAY;
        if (s->opened_ns == RH_TIME_UNKNOWN) {
            s->opened_ns = a->now_ns;
        }
        return end_by_record(a, s, e, err); /* no disconnection is logged for it */
    }
    if (!e->query.data && s->pending && s->pending->stage == RH_PENDING_RUNNING) {
        /* The process display tells whether it was at work or waited for its client. */
        struct rh_follow follow = {true, e->lxid, e->idle};
        if (e->idle != RH_LOG_BUSY) {
            return rh_assemble_flush(a, s, &follow, err);
        }
    }
    return e->query.data || (s->pending && s->pending->stage == RH_PENDING_RUNNING)
               ? rh_assemble_error(a, s, e, err)
               : 0;
}
