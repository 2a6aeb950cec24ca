#include "replay/run_header.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "common/alloc.h"
#include "common/clock.h"
#include "rh_version.h"

static void add_span(struct rh_run_header *h, const char *name, struct rh_span value)
{
    if (!value.data) {
        return;
    }
    RH_GROW(h->settings, h->count, h->cap);
    h->settings[h->count++] =
        (struct rh_setting){rh_span_cstr(name), rh_arena_copy(&h->arena, value)};
}

__attribute__((format(printf, 3, 4))) static void add(struct rh_run_header *h, const char *name,
                                                      const char *format, ...)
{
    char text[512];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    add_span(h, name, rh_span_cstr(text));
}

static void add_time(struct rh_run_header *h, const char *name, int64_t wall_ns)
{
    char text[RH_TIME_TEXT_SIZE];
    if (wall_ns != INT64_MIN && wall_ns != INT64_MAX) {
        add_span(h, name, rh_span_cstr(rh_time_format(wall_ns, text)));
    }
}

static void add_list(struct rh_run_header *h, const char *name, const struct rh_str_list *list)
{
    for (size_t i = 0; i < list->count; i++) {
        add_span(h, name, rh_span_cstr(list->items[i]));
    }
}

/* A connection string may hold a password: then it is not stored. */
static void add_conninfo(struct rh_run_header *h, const char *dbname)
{
    bool is_secret = dbname && (strstr(dbname, "password") || strstr(dbname, "://"));
    add_span(h, "dbname",
             is_secret ? RH_SPAN_LITERAL("(a connection string)") : rh_span_cstr(dbname));
}

static void add_options(struct rh_run_header *h, const struct rh_replay_options *o)
{
    if (o->speed.is_max) {
        add(h, "speed", "max");
    } else {
        add(h, "speed", "%.9g", o->speed.factor);
    }
    add(h, "jobs", "%" PRIu32, o->jobs);
    add_time(h, "from", o->from_ns);
    add_time(h, "to", o->to_ns);
    if (o->skip_idle_ns > 0) {
        add(h, "skip_idle_ns", "%" PRId64, o->skip_idle_ns);
    }
    if (o->max_connections > 0) {
        add(h, "max_connections", "%" PRIu32, o->max_connections);
    }
    if (o->read_only) {
        add(h, "read_only", "on");
    }
    if (o->scale > 1) {
        add(h, "scale", "%" PRIu32, o->scale);
    }
    if (o->order_txn) {
        add(h, "order", "txn");
        add(h, "order_timeout_ns", "%" PRId64, o->order_timeout_ns);
    }
    if (o->no_reconnect) {
        add(h, "no_reconnect", "on");
    }
    add(h, "read_ahead_bytes", "%" PRIu64, o->read_ahead_bytes);
    add_list(h, "map_user", &o->map_users);
    add_list(h, "map_database", &o->map_databases);
    add_conninfo(h, o->dbname);
    add_span(h, "host", rh_span_cstr(o->host));
    add_span(h, "port", rh_span_cstr(o->port));
    add_span(h, "user", rh_span_cstr(o->user));
}

/* What the run was made in spite of. */
static void add_findings(struct rh_run_header *h, const struct rh_replay_options *o,
                         const struct rh_findings *findings)
{
    if (o->no_preflight) {
        add(h, "preflight", "left out");
    }
    for (uint32_t i = 0; findings && i < findings->count; i++) {
        if (findings->items[i].grade == RH_GRADE_WARNING) {
            add(h, "preflight", "warning: %s", findings->items[i].text.data);
        }
    }
}

void rh_run_header_init(struct rh_run_header *h, const struct rh_trace_header *trace,
                        const struct rh_replay_options *options, const struct rh_target *target,
                        const struct rh_findings *findings, const char *trace_path)
{
    *h = (struct rh_run_header){0};
    rh_arena_init(&h->arena, 4096);
    add_span(h, "trace", rh_span_cstr(trace_path));
    add_options(h, options);
    if (target->round_trip_ns >= 0) {
        add(h, "round_trip_ns", "%" PRId64, target->round_trip_ns);
    }
    add_span(h, "target", rh_span_cstr(target->address));
    if (target->max_connections >= 0) {
        add(h, "target_max_connections", "%" PRId64, target->max_connections);
    }
    add_findings(h, options, findings);

    h->header = (struct rh_trace_header){
        .kind = RH_FILE_RUN,
        .vantage = RH_VANTAGE_CLIENT,
        .source = RH_SPAN_LITERAL("replay"),
        .tool = RH_SPAN_LITERAL("pgrehearse " RH_VERSION),
        .server_version =
            rh_arena_copy(&h->arena, rh_span_cstr(target->version[0] ? target->version : NULL)),
        .server_address = rh_arena_copy(&h->arena, rh_span_cstr(target->address)),
        .created_ns = rh_clock_wall_ns(),
        .settings = h->settings,
        .setting_count = h->count,
    };
    rh_uuid_make(h->header.uuid);
    memcpy(h->header.trace_uuid, trace->uuid, sizeof trace->uuid);
}

void rh_run_header_release(struct rh_run_header *h)
{
    rh_arena_release(&h->arena);
    rh_free(h->settings);
}

static void note_int(struct rh_recorder *recorder, const char *name, int64_t value)
{
    char text[32];
    snprintf(text, sizeof text, "%" PRId64, value);
    rh_recorder_note(recorder, name, rh_span_cstr(text));
}

void rh_run_header_note(struct rh_recorder *recorder, const struct rh_engine_result *result,
                        int64_t began_wall_ns)
{
    const struct rh_tally *t = &result->tally;
    char text[RH_TIME_TEXT_SIZE];
    if (began_wall_ns != RH_TIME_UNKNOWN) {
        rh_recorder_note(recorder, "began_at", rh_span_cstr(rh_time_format(began_wall_ns, text)));
    }
    note_int(recorder, "length_ns", result->length_ns);
    note_int(recorder, "sessions_opened", (int64_t) t->sessions_opened);
    note_int(recorder, "sessions_refused", (int64_t) t->sessions_failed);
    note_int(recorder, "sessions_lost", (int64_t) t->sessions_lost);
    if (t->reconnects > 0) {
        note_int(recorder, "sessions_reconnected", (int64_t) t->sessions_reconnected);
        note_int(recorder, "reconnects", (int64_t) t->reconnects);
    }
    if (t->lag_ns.count > 0) {
        note_int(recorder, "lag_p50_ns", rh_hist_quantile(&t->lag_ns, 0.50));
        note_int(recorder, "lag_p99_ns", rh_hist_quantile(&t->lag_ns, 0.99));
        note_int(recorder, "lag_max_ns", t->lag_ns.max);
    }
    if (t->order_ns.count > 0) {
        note_int(recorder, "order_waits", (int64_t) t->order_ns.count);
        note_int(recorder, "order_waits_broken", (int64_t) t->orders_broken);
        note_int(recorder, "order_p99_ns", rh_hist_quantile(&t->order_ns, 0.99));
        note_int(recorder, "order_max_ns", t->order_ns.max);
    }
    note_int(recorder, "behind_count", (int64_t) t->behind_ns.count);
    if (t->behind_ns.count > 0) {
        note_int(recorder, "behind_p50_ns", rh_hist_quantile(&t->behind_ns, 0.50));
        note_int(recorder, "behind_p99_ns", rh_hist_quantile(&t->behind_ns, 0.99));
        note_int(recorder, "behind_max_ns", t->behind_ns.max);
    }
}
