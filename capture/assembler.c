/* capture/assembler.c */
#include "capture/assembler.h"

#include <stdlib.h>
#include <string.h>

#include "capture/assembly.h"
#include "common/alloc.h"
#include "common/clock.h"

/* How long a complete statement waits for the next record of its session. */
#define HOLD_MAX_NS RH_NS_PER_SEC

enum { MASKED_MAX = 128 * 1024 * 1024, WAITING_BYTES_MAX = 256 * 1024 * 1024 };

static const struct rh_follow follow_unknown = {0};

struct rh_assembler *rh_assembler_new(const struct rh_capture_sink *sink,
                                      struct rh_capture_filter *filter,
                                      struct rh_log_reader *reader, struct rh_capture_stats *stats)
{
    struct rh_assembler *a = rh_calloc(1, sizeof *a);
    a->sink = sink;
    a->filter = filter;
    a->reader = reader;
    a->stats = stats;
    rh_log_sessions_init(&a->sessions);
    rh_pending_pool_init(&a->pool);
    rh_log_params_init(&a->params);
    rh_buf_init(&a->masked, MASKED_MAX);
    rh_buf_init(&a->masked_prepare, MASKED_MAX);
    rh_redactor_init(&a->redactor);
    rh_buf_init(&a->redacted, MASKED_MAX);
    rh_buf_init(&a->redacted_prepare, MASKED_MAX);
    rh_cut_evidence_init(&a->cut);
    rh_cut_evidence_init(&a->cut_in_context);
    a->now_ns = RH_TIME_UNKNOWN;
    a->waiting_bytes_max = WAITING_BYTES_MAX;
    a->sessions_max = RH_LOG_SESSIONS_MAX;
    rh_map_init(&a->retired);
    rh_ended_sessions_init(&a->ended);
    return a;
}

void rh_assembler_redact(struct rh_assembler *a)
{
    a->redact = true;
}

void rh_assembler_free(struct rh_assembler *a)
{
    if (!a) {
        return;
    }
    size_t pos = 0;
    struct rh_log_session *s;
    while ((s = rh_map_next(&a->sessions.by_key, &pos, NULL))) {
        if (s->pending) {
            rh_pending_put(&a->pool, s->pending);
        }
    }
    rh_log_sessions_release(&a->sessions);
    rh_map_release(&a->retired);
    rh_ended_sessions_release(&a->ended);
    rh_pending_pool_release(&a->pool);
    rh_log_params_release(&a->params);
    rh_buf_release(&a->masked);
    rh_buf_release(&a->masked_prepare);
    rh_redactor_release(&a->redactor);
    rh_buf_release(&a->redacted);
    rh_buf_release(&a->redacted_prepare);
    rh_free(a);
}

static int compare_numbers(const void *a, const void *b)
{
    const struct rh_log_session *x = *(struct rh_log_session *const *) a;
    const struct rh_log_session *y = *(struct rh_log_session *const *) b;
    return x->number < y->number ? -1 : x->number > y->number;
}

/* In the order of their numbers, so that equal input gives equal output: those that began before
 * that second. */
static int close_all(struct rh_assembler *a, int64_t before_s, const char *how,
                     struct rh_error *err)
{
    size_t count = a->sessions.by_key.count;
    struct rh_log_session **list = rh_log_sessions_list(&a->sessions, compare_numbers);
    int rc = 0;
    for (size_t i = 0; i < count && rc == 0; i++) {
        const char *end = how;
        if (!end && list[i]->close_sqlstate != RH_SQLSTATE_UNKNOWN) {
            end = "terminated by the server";
        }
        if (list[i]->start_s < before_s) {
            rc = rh_assemble_close(a, list[i], end, err);
        }
    }
    rh_free(list);
    return rc;
}

int rh_assembler_finish(struct rh_assembler *a, struct rh_error *err)
{
    return close_all(a, INT64_MAX, NULL, err);
}

/* Let go what has waited long enough; what the session at hand has done its record decides. */
static int settle(struct rh_assembler *a, const struct rh_log_session *s, struct rh_error *err)
{
    while (a->held_first && a->held_first->session != s &&
           a->now_ns - a->held_first->stamp_ns > HOLD_MAX_NS) {
        if (rh_assemble_flush(a, a->held_first->session, &follow_unknown, err) != 0) {
            return -1;
        }
    }
    return 0;
}

/* The server starts anew, or after a crash of one of its processes: no session has outlived that.
 * Only newer servers tell it in every language, by the type of the process that does it. */
static bool is_restart(const struct rh_log_entry *e)
{
    return (rh_span_is(e->backend_type, "startup") && e->line == 1) ||
           rh_span_starts(e->message, "starting PostgreSQL ") ||
           rh_span_starts(e->message, "database system was shut down") ||
           rh_span_starts(e->message, "database system was interrupted") ||
           rh_span_starts(e->message, "all server processes terminated");
}

/* The text alone is no sign of a start: a standby that is promoted writes it too. */
static bool is_postmaster(const struct rh_log_entry *e)
{
    return rh_span_is(e->backend_type, "postmaster") ||
           rh_span_starts(e->message, "database system is ready to accept ");
}

static void see_server_version(struct rh_capture_stats *stats, struct rh_span message)
{
    struct rh_span version = rh_logmsg_server_version(message);
    if (version.len > 0 && version.len <= RH_SERVER_VERSION_MAX) {
        memcpy(stats->server_version, version.data, version.len);
        stats->server_version[version.len] = '\0';
    }
}

static int background(struct rh_assembler *a, const struct rh_log_entry *e, struct rh_error *err)
{
    static const char how[] = "end not logged, the server stopped";
    a->stats->background++;
    see_server_version(a->stats, e->message);
    if (is_restart(e)) {
        return close_all(a, INT64_MAX, how, err);
    }
    if (is_postmaster(e) && e->session_key != a->postmaster_key) {
        a->postmaster_key = e->session_key;
        return close_all(a, e->session_epoch_s, how, err);
    }
    return 0;
}

static void count_at(uint64_t *count, struct rh_log_place *first, const struct rh_log_reader *r)
{
    if ((*count)++ == 0) {
        *first = (struct rh_log_place){r->file, r->entry_line};
    }
}

/* Not to be captured: read before, for a file or a part of it was given twice, or too late. */
static void leave_out(struct rh_assembler *a, bool read_before)
{
    struct rh_capture_stats *st = a->stats;
    if (read_before) {
        count_at(&st->repeated, &st->repeated_at, a->reader);
    } else {
        count_at(&st->disordered, &st->disordered_at, a->reader);
    }
}

/* A line number that goes back while time goes on is the start of another count. */
static bool is_past(const struct rh_log_session *s, const struct rh_log_entry *e, int64_t now_ns)
{
    if (s->last_line == 0 || e->line > s->last_line) {
        return false;
    }
    return e->line == s->last_line ? now_ns == s->last_stamp_ns : now_ns <= s->last_stamp_ns;
}

/* Of a session that has ended.  A line behind its last one begins another session. */
static bool is_after_the_end(struct rh_assembler *a, const struct rh_log_entry *e)
{
    struct rh_seen_lines seen;
    if (rh_log_sessions_find(&a->sessions, e->session_key) ||
        !rh_ended_sessions_get(&a->ended, e->session_key, &seen) || e->line > seen.last) {
        return false;
    }
    bool unseen = rh_seen_lines_fill(&seen, e->line);
    if (unseen) {
        rh_ended_sessions_put(&a->ended, e->session_key, &seen);
    }
    leave_out(a, !unseen);
    return true;
}

static int check_line(struct rh_assembler *a, struct rh_log_session *s,
                      const struct rh_log_entry *e, struct rh_error *err)
{
    uint64_t before = s->last_line;
    s->last_line = e->line;
    rh_seen_lines_add(&s->seen, e->line);
    if (before == 0 || e->line <= before + 1) {
        return 0;
    }
    uint64_t missing = e->line - before - 1;
    if (s->pending) {
        s->pending->gap = true;
    }
    if (s->has_user && !s->wanted) {
        return 0;
    }
    a->stats->missing_lines += missing;
    if (s->written || (s->wanted && s->has_user && !rh_capture_filter_is_partial(a->filter))) {
        return rh_assemble_gap(a, s, "log lines missing", missing, s->last_stamp_ns, err);
    }
    return 0;
}

static void see_stamp(struct rh_capture_stats *stats, int64_t now_ns)
{
    if (stats->first_ns == RH_TIME_UNKNOWN || now_ns < stats->first_ns) {
        stats->first_ns = now_ns;
    }
    if (stats->last_ns == RH_TIME_UNKNOWN || now_ns > stats->last_ns) {
        stats->last_ns = now_ns;
    }
}

static int on_log(struct rh_assembler *a, struct rh_log_session *s, const struct rh_log_entry *e,
                  struct rh_error *err)
{
    struct rh_logmsg m;
    /* The server's own records about statements have neither; RAISE LOG has. */
    if (e->context.data || e->query.data) {
        a->stats->other++;
        return 0;
    }
    rh_logmsg_classify(&a->reader->messages, e->message, e->tag, &m);
    switch (m.klass) {
    case RH_LOGMSG_OTHER:
    case RH_LOGMSG_AUTHENTICATED:
        a->stats->other += m.klass == RH_LOGMSG_OTHER;
        return 0;
    case RH_LOGMSG_PLAN:
        a->stats->plans++;
        return 0;
    case RH_LOGMSG_AUDIT:
        a->stats->audits++;
        return 0;
    case RH_LOGMSG_DURATION:
    case RH_LOGMSG_STATEMENT:
    case RH_LOGMSG_PARSE:
    case RH_LOGMSG_BIND:
    case RH_LOGMSG_EXECUTE:
    case RH_LOGMSG_FETCH:
    case RH_LOGMSG_FUNCTION:
        return rh_assemble_statement(a, s, e, &m, err);
    default:
        return rh_assemble_session_event(a, s, e, &m, err);
    }
}

int rh_assembler_add(struct rh_assembler *a, const struct rh_log_entry *e, struct rh_error *err)
{
    if (!e->client.data && !e->user.data) {
        return background(a, e, err);
    }
    if (is_after_the_end(a, e)) {
        return 0;
    }
    struct rh_log_session *s = rh_assemble_session(a, e, err);
    if (!s) {
        return -1;
    }
    int64_t now_ns = rh_log_clock_utc(&a->reader->clock, e->stamp, s->zone, s->offset_s);
    if (is_past(s, e, now_ns)) {
        leave_out(a, !rh_seen_lines_fill(&s->seen, e->line));
        return 0;
    }
    if (check_line(a, s, e, err) != 0) {
        return -1;
    }
    a->now_ns = now_ns;
    s->last_stamp_ns = now_ns;
    if (s->opened_ns == RH_TIME_UNKNOWN && !(s->flags & RH_SESSION_JOINED_MIDWAY)) {
        s->opened_ns = now_ns; /* its first record, and its id does not tell the time */
    }
    see_stamp(a->stats, now_ns);
    if (settle(a, s, err) != 0) {
        return -1;
    }
    rh_log_session_see_application(s, e->application);
    if (e->severity == RH_LOG_SEVERITY_LOG) {
        return on_log(a, s, e, err);
    }
    if (e->severity == RH_LOG_SEVERITY_ERROR) {
        return rh_assemble_error(a, s, e, err);
    }
    if (e->severity > RH_LOG_SEVERITY_ERROR) {
        return rh_assemble_fatal(a, s, e, err);
    }
    a->stats->other++;
    return 0;
}
