#include "replay/dry_run.h"

#include <inttypes.h>
#include <stdio.h>

#include "common/clock.h"
#include "common/noun.h"
#include "replay/asker.h"
#include "replay/target_text.h"

enum { OUTPUT_MAX_BYTES = 16 * 1024 * 1024 };

static uint32_t peak_of(const struct rh_dry_run *d)
{
    uint32_t limit = d->max_connections;
    return limit > 0 && limit < d->plan->peak_count ? limit : d->plan->peak_count;
}

static int64_t span_ns(const struct rh_plan *plan)
{
    return rh_time_sub(plan->end_ns, plan->map.origin_ns);
}

/* As whom the server was asked, and each database where that was somebody else. */
static void write_askers(const struct rh_dry_run *d, struct rh_buf *out)
{
    const struct rh_identity *server = d->asker;
    if (server) {
        rh_buf_addf(out, "asked as     \"%.*s\" (%s)\n", (int) server->user.len,
                    server->user.data ? server->user.data : "", rh_sight_text(server->sight));
    }
    for (uint32_t i = 0; i < d->database_count; i++) {
        const struct rh_identity *id = d->database_askers[i];
        if (!server || !rh_span_equal(id->user, server->user)) {
            rh_buf_addf(out, "             \"%.*s\" (%s) in database \"%.*s\"\n",
                        (int) id->user.len, id->user.data ? id->user.data : "",
                        rh_sight_text(id->sight), (int) id->database.len,
                        id->database.data ? id->database.data : "");
        }
    }
}

static void write_sessions(const struct rh_plan *plan, uint32_t peak, struct rh_buf *out)
{
    rh_buf_addf(out, "sessions     %" PRIu32 ", at most %" PRIu32 " at once\n",
                plan->openable_count, peak);
    rh_left_out_write(plan, false, out);
}

static void write_schedule(const struct rh_dry_run *d, struct rh_buf *out)
{
    char from[RH_TIME_TEXT_SIZE];
    int64_t removed_ns = rh_time_map_removed_ns(&d->plan->map);
    rh_buf_addf(out, "span         %.1f s from %s\n", (double) span_ns(d->plan) / 1e9,
                rh_time_format(d->plan->map.origin_ns, from));
    if (removed_ns > 0) {
        rh_buf_addf(out, "             %.1f s of pauses are cut\n", (double) removed_ns / 1e9);
    }
    if (d->plan->speed_is_max) {
        rh_buf_add_cstr(out, "takes        as long as the server does: the speed is max\n");
    } else {
        rh_buf_addf(out, "takes        %.1f s at speed %.9g\n",
                    (double) rh_plan_length_ns(d->plan) / 1e9, d->options->speed.factor);
    }
}

void rh_dry_run_write_text(const struct rh_dry_run *d, struct rh_buf *out)
{
    const struct rh_findings *f = d->findings;
    if (d->target) {
        rh_target_write(d->target, out);
        write_askers(d, out);
    }
    write_sessions(d->plan, peak_of(d), out);
    if (d->preview) {
        const char *heading = "not replayed";
        rh_buf_addf(out, "statements   %" PRIu64 " would be sent\n", d->preview->statements);
        for (int i = 0; i < RH_REASON_COUNT; i++) {
            if (d->preview->held[i] > 0) {
                rh_buf_addf(out, "%-12s %9" PRIu64 "  %s\n", heading, d->preview->held[i],
                            rh_reason_text((enum rh_reason) i));
                heading = "";
            }
        }
        if (d->preview->damaged_blocks > 0) {
            rh_buf_addf(out, "damage       %" PRIu32 " block%s of the trace cannot be read\n",
                        d->preview->damaged_blocks, rh_plural(d->preview->damaged_blocks));
        }
    }
    write_schedule(d, out);
    rh_findings_print(f, out);
    rh_buf_addf(out, "result       %u stop%s, %u warning%s, %u note%s: a replay %s\n",
                f->graded[RH_GRADE_STOP], rh_plural(f->graded[RH_GRADE_STOP]),
                f->graded[RH_GRADE_WARNING], rh_plural(f->graded[RH_GRADE_WARNING]),
                f->graded[RH_GRADE_NOTE], rh_plural(f->graded[RH_GRADE_NOTE]),
                f->graded[RH_GRADE_STOP] ? "would be refused" : "would begin");
}

static void put_int(struct rh_json *j, const char *key, int64_t n)
{
    rh_json_key(j, key);
    if (n < 0) {
        rh_json_null(j);
    } else {
        rh_json_int(j, n);
    }
}

static void put_text(struct rh_json *j, const char *key, struct rh_span text)
{
    rh_json_key(j, key);
    rh_json_text(j, text);
}

static void put_target(struct rh_json *j, const struct rh_target *t)
{
    rh_json_key(j, "target");
    if (!t) {
        rh_json_null(j);
        return;
    }
    rh_json_open(j, '{');
    put_text(j, "address", rh_span_cstr(t->address));
    put_text(j, "server_version", rh_span_cstr(t->version[0] ? t->version : NULL));
    rh_json_key(j, "round_trip_us");
    if (t->round_trip_ns < 0) {
        rh_json_null(j);
    } else {
        rh_json_double(j, (double) t->round_trip_ns / 1e3, 1);
    }
    put_int(j, "max_connections", t->max_connections);
    rh_json_close(j);
}

static void put_asker(struct rh_json *j, const struct rh_identity *id, struct rh_span database)
{
    rh_json_open(j, '{');
    put_text(j, "database", database);
    put_text(j, "user", id->user);
    put_text(j, "sees", rh_span_cstr(rh_sight_name(id->sight)));
    rh_json_close(j);
}

static void put_askers(struct rh_json *j, const struct rh_dry_run *d)
{
    rh_json_key(j, "asked_as");
    rh_json_open(j, '[');
    if (d->asker) {
        put_asker(j, d->asker, RH_SPAN_NONE);
    }
    for (uint32_t i = 0; i < d->database_count; i++) {
        put_asker(j, d->database_askers[i], d->database_askers[i]->database);
    }
    rh_json_close(j);
}

static void put_preview(struct rh_json *j, const struct rh_preview *preview)
{
    put_int(j, "statements", preview ? (int64_t) preview->statements : -1);
    rh_json_key(j, "not_replayed");
    if (!preview) {
        rh_json_null(j);
        return;
    }
    rh_json_open(j, '[');
    for (int i = 0; i < RH_REASON_COUNT; i++) {
        if (preview->held[i] > 0) {
            rh_json_open(j, '{');
            rh_json_key(j, "reason");
            rh_json_cstr(j, rh_reason_name((enum rh_reason) i));
            put_int(j, "count", (int64_t) preview->held[i]);
            rh_json_close(j);
        }
    }
    rh_json_close(j);
}

void rh_dry_run_write_json(const struct rh_dry_run *d, struct rh_buf *out)
{
    struct rh_json j;
    const struct rh_findings *f = d->findings;
    rh_json_init(&j, out, true);
    rh_json_open(&j, '{');
    put_text(&j, "trace", rh_span_cstr(d->trace_path));
    put_text(&j, "trace_server_version", d->trace->server_version);
    put_text(&j, "trace_server_address", d->trace->server_address);
    put_target(&j, d->target);
    put_askers(&j, d);
    put_int(&j, "sessions", d->plan->openable_count);
    put_int(&j, "sessions_at_once", peak_of(d));
    put_preview(&j, d->preview);
    rh_json_key(&j, "started_at");
    rh_json_time(&j, d->plan->map.origin_ns);
    rh_json_key(&j, "span_s");
    rh_json_double(&j, (double) span_ns(d->plan) / 1e9, 6);
    rh_json_key(&j, "planned_s");
    if (d->plan->speed_is_max) {
        rh_json_null(&j);
    } else {
        rh_json_double(&j, (double) rh_plan_length_ns(d->plan) / 1e9, 6);
    }
    put_int(&j, "stops", f->graded[RH_GRADE_STOP]);
    put_int(&j, "warnings", f->graded[RH_GRADE_WARNING]);
    put_int(&j, "notes", f->graded[RH_GRADE_NOTE]);
    rh_json_key(&j, "findings");
    rh_findings_print_json(f, &j);
    rh_json_close(&j);
    rh_buf_add_byte(out, '\n');
}

int rh_dry_run_print(const struct rh_dry_run *d, struct rh_error *err)
{
    struct rh_buf out;
    int rc = 0;
    rh_buf_init(&out, OUTPUT_MAX_BYTES);
    if (d->options->json) {
        rh_dry_run_write_json(d, &out);
    } else {
        rh_dry_run_write_text(d, &out);
    }
    if (out.over) {
        rc = rh_error_set(err, RH_ERR_LIMIT, "the report of the dry run is too long");
    } else if (fwrite(out.data, 1, out.len, stdout) != out.len || fflush(stdout) != 0) {
        rc = rh_error_set_errno(err, "cannot write to standard output");
    }
    rh_buf_release(&out);
    return rc;
}
