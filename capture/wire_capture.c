#include "capture/wire_capture.h"

#include <string.h>

#include "capture/wire_session.h"
#include "common/alloc.h"

enum { STARTUP_BYTES_MAX = 10004, TEXT_BYTES_MAX = 1 << 30 };

static const size_t session_bytes_default = (size_t) 64 << 20;
static const size_t bytes_default = (size_t) 1 << 30;

struct rh_wire_capture *rh_wire_capture_new(const struct rh_capture_sink *sink,
                                            const struct rh_wire_limits *limits)
{
    struct rh_wire_capture *c = rh_calloc(1, sizeof *c);
    c->sink = sink;
    c->limits = limits ? *limits : (struct rh_wire_limits){0};
    c->limits.session_bytes =
        c->limits.session_bytes ? c->limits.session_bytes : session_bytes_default;
    c->limits.bytes = c->limits.bytes ? c->limits.bytes : bytes_default;
    c->names_room.max_bytes = c->limits.names_bytes ? c->limits.names_bytes : bytes_default;
    rh_map_init(&c->keys);
    rh_buf_init(&c->masked, TEXT_BYTES_MAX);
    rh_buf_init(&c->redacted, TEXT_BYTES_MAX);
    rh_redactor_init(&c->redactor);
    rh_capture_stats_init(&c->stats);
    return c;
}

void rh_wire_capture_filter(struct rh_wire_capture *c, struct rh_capture_filter *filter)
{
    c->filter = filter;
    c->is_partial = rh_capture_filter_is_partial(filter);
}

void rh_wire_capture_redact(struct rh_wire_capture *c)
{
    c->redact = true;
}

void rh_wire_capture_free(struct rh_wire_capture *c)
{
    while (c->unused) {
        struct rh_wire_group *g = c->unused;
        c->unused = g->next;
        rh_wire_group_release(g);
        rh_free(g);
    }
    rh_map_release(&c->keys);
    rh_buf_release(&c->masked);
    rh_buf_release(&c->redacted);
    rh_redactor_release(&c->redactor);
    rh_capture_stats_release(&c->stats);
    rh_free(c->params);
    rh_free(c->formats);
    rh_free(c);
}

static void *open_connection(void *context, const struct rh_tcp_connection_info *info)
{
    struct rh_wire_capture *c = context;
    struct rh_wire_session *s = rh_calloc(1, sizeof *s);
    s->capture = c;
    s->info = *info;
    s->flags = info->joined_midway ? RH_SESSION_JOINED_MIDWAY : 0;
    s->names_unsure = info->joined_midway;
    s->fatal = RH_SQLSTATE_UNKNOWN;
    s->last_ns = info->opened_ns;
    rh_buf_init(&s->startup, STARTUP_BYTES_MAX);
    rh_buf_init(&s->application, STARTUP_BYTES_MAX);
    rh_buf_init(&s->application_next, STARTUP_BYTES_MAX);
    rh_wire_names_init(&s->names, &c->names_room);
    rh_pg_wire_init(&s->wire, info->joined_midway, rh_wire_session_event, s);
    c->counts.connections++;
    rh_wire_keep_connection(s);
    return s;
}

static enum rh_pg_side side_of(enum rh_tcp_side side)
{
    return side == RH_TCP_CLIENT ? RH_PG_FRONTEND : RH_PG_BACKEND;
}

static void take_data(void *connection, enum rh_tcp_side side, int64_t time_ns,
                      struct rh_span bytes)
{
    struct rh_wire_session *s = connection;
    rh_pg_wire_data(&s->wire, side_of(side), time_ns, bytes);
}

static void take_gap(void *connection, enum rh_tcp_side side, int64_t time_ns, uint64_t bytes)
{
    struct rh_wire_session *s = connection;
    rh_pg_wire_gap(&s->wire, side_of(side), time_ns, bytes);
}

static void close_connection(void *connection, int64_t time_ns, enum rh_tcp_end how)
{
    struct rh_wire_session *s = connection;
    rh_pg_wire_close(&s->wire, time_ns);
    s->last_ns = time_ns > s->last_ns ? time_ns : s->last_ns;
    rh_wire_session_end(s, how);
    rh_pg_wire_release(&s->wire);
    rh_wire_names_release(&s->names);
    rh_buf_release(&s->startup);
    rh_buf_release(&s->application);
    rh_buf_release(&s->application_next);
    rh_session_keep_release(&s->keep);
    rh_free(s);
}

void rh_wire_capture_tcp_sink(struct rh_wire_capture *c, struct rh_tcp_sink *sink)
{
    *sink = (struct rh_tcp_sink){
        .open = open_connection,
        .data = take_data,
        .gap = take_gap,
        .close = close_connection,
        .context = c,
    };
}

static void put_total(struct rh_wire_capture *c, int64_t time_ns, const char *what, uint64_t count)
{
    struct rh_record r;
    if (count == 0 || c->failed) {
        return;
    }
    rh_record_init_gap(&r, time_ns, count, what);
    c->counts.gaps++;
    c->failed = c->sink->record(c->sink->context, &r, &c->error) != 0;
}

int rh_wire_capture_finish(struct rh_wire_capture *c, int64_t time_ns, struct rh_error *err)
{
    put_total(c, time_ns, "connections of another protocol", c->counts.foreign);
    put_total(c, time_ns, "connections joined midway, not understood", c->counts.opaque);
    put_total(c, time_ns, "sessions open before the capture, left out as their user is not known",
              c->counts.sessions_unknown);
    put_total(c, time_ns, "cancel requests of sessions that were not captured",
              c->counts.cancels_unlinked);
    c->counts.forgotten = c->names_room.forgotten;
    return rh_wire_capture_check(c, err);
}

struct rh_capture_stats *rh_wire_capture_stats(struct rh_wire_capture *c)
{
    const struct rh_wire_capture_counts *n = &c->counts;
    struct rh_capture_stats *s = &c->stats;
    memcpy(s->kinds, n->kinds, sizeof s->kinds);
    memcpy(s->held, n->held, sizeof s->held);
    s->failed = n->failed;
    s->outcome_unknown = n->outcome_unknown;
    s->filtered = n->filtered;
    s->carried = n->carried;
    s->sessions_filtered = n->sessions_filtered;
    s->sessions = n->sessions;
    return s;
}

int rh_wire_capture_check(const struct rh_wire_capture *c, struct rh_error *err)
{
    if (c->failed && err) {
        *err = c->error;
    }
    return c->failed ? -1 : 0;
}

const struct rh_wire_capture_counts *rh_wire_capture_counts(const struct rh_wire_capture *c)
{
    return &c->counts;
}

const struct rh_wire_server *rh_wire_capture_server(const struct rh_wire_capture *c)
{
    return &c->server;
}
