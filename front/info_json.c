#include "formats/trace_header.h"
#include "front/info_write.h"
#include "front/kind_name.h"

static void put_text(struct rh_json *j, const char *key, struct rh_span value)
{
    rh_json_key(j, key);
    rh_json_text(j, value);
}

static void put_count(struct rh_json *j, const char *key, uint64_t value)
{
    rh_json_key(j, key);
    rh_json_int(j, (int64_t) value);
}

static void put_header(struct rh_json *j, const struct rh_trace_header *h)
{
    char uuid[37];
    put_count(j, "format_version", h->format_version);
    put_text(j, "uuid", rh_span_cstr(rh_uuid_format(h->uuid, uuid)));
    if (h->kind == RH_FILE_RUN) {
        put_text(j, "trace_uuid", rh_span_cstr(rh_uuid_format(h->trace_uuid, uuid)));
    }
    put_text(j, "source", h->source);
    put_text(j, "vantage", rh_span_cstr(rh_vantage_text(h->vantage)));
    put_text(j, "tool", h->tool);
    put_text(j, "server_version", h->server_version);
    put_text(j, "server_address", h->server_address);
    rh_json_key(j, "created_at");
    rh_json_time(j, h->created_ns);
}

static void put_gaps(struct rh_json *j, const struct rh_trace_summary *s)
{
    rh_json_key(j, "gaps");
    rh_json_open(j, '[');
    for (uint32_t i = 0; i < s->gap_reasons.count; i++) {
        rh_json_open(j, '{');
        put_text(j, "reason", s->gap_reasons.items[i]);
        put_count(j, "count", s->gaps[i].amount);
        put_count(j, "places", s->gaps[i].places);
        rh_json_close(j);
    }
    rh_json_close(j);
}

/* An array of {reason, count}, those that occur. */
static void put_reasons(struct rh_json *j, const char *key, const uint64_t counts[RH_REASON_COUNT])
{
    rh_json_key(j, key);
    rh_json_open(j, '[');
    for (int i = 0; i < RH_REASON_COUNT; i++) {
        if (counts[i]) {
            rh_json_open(j, '{');
            put_text(j, "reason", rh_span_cstr(rh_reason_name((enum rh_reason) i)));
            put_count(j, "count", counts[i]);
            rh_json_close(j);
        }
    }
    rh_json_close(j);
}

static void put_run(struct rh_json *j, const struct rh_trace_summary *s)
{
    rh_json_key(j, "fates");
    rh_json_open(j, '{');
    for (int fate = RH_FATE_DONE; fate < RH_SUMMARY_FATES; fate++) {
        put_count(j, rh_fate_name((enum rh_fate) fate), s->fates[fate]);
    }
    rh_json_close(j);
    put_reasons(j, "unsent", s->unsent);
    put_count(j, "reopenings", s->reopenings);
}

static void put_kinds(struct rh_json *j, const struct rh_trace_summary *s)
{
    rh_json_key(j, "kinds");
    rh_json_open(j, '{');
    for (int kind = RH_KIND_QUERY; kind <= RH_KIND_COPY_DATA; kind++) {
        if (s->by_kind[kind] || rh_kind_is_statement((enum rh_kind) kind)) {
            put_count(j, rh_kind_name((enum rh_kind) kind), s->by_kind[kind]);
        }
    }
    rh_json_close(j);
}

static void put_span(struct rh_json *j, const struct rh_trace_summary *s)
{
    rh_json_key(j, "started_at");
    rh_json_time(j, s->begin_ns);
    rh_json_key(j, "ended_at");
    rh_json_time(j, s->end_ns);
    rh_json_key(j, "duration_s");
    if (s->begin_ns == RH_TIME_UNKNOWN) {
        rh_json_null(j);
    } else {
        rh_json_double(j, ((double) s->end_ns - (double) s->begin_ns) / 1e9, 6);
    }
}

static void put_settings(struct rh_json *j, const struct rh_trace_header *h)
{
    struct rh_buf name;
    rh_buf_init(&name, 1024);
    rh_json_key(j, "settings");
    rh_json_open(j, '{');
    for (uint32_t i = 0; i < h->setting_count; i++) {
        rh_buf_clear(&name);
        rh_buf_add_span(&name, h->settings[i].name);
        put_text(j, rh_buf_cstr(&name), h->settings[i].value);
    }
    rh_json_close(j);
    rh_buf_release(&name);
}

static void put_server_facts(struct rh_json *j, const struct rh_trace_header *h)
{
    rh_json_key(j, "server_facts");
    rh_json_open(j, '[');
    for (uint32_t i = 0; i < h->server_fact_count; i++) {
        const struct rh_server_fact *f = &h->server_facts[i];
        rh_json_open(j, '{');
        put_text(j, "kind", f->kind);
        put_text(j, "database", f->database);
        put_text(j, "name", f->name);
        put_text(j, "value", f->value);
        put_text(j, "unit", f->unit);
        put_text(j, "source", f->source);
        rh_json_close(j);
    }
    rh_json_close(j);
}

static void put_blocks(struct rh_json *j, const struct rh_trace_summary *s)
{
    put_count(j, "blocks", s->data_blocks);
    put_count(j, "late_blocks", s->late_blocks);
    rh_json_key(j, "damage");
    rh_json_open(j, '[');
    for (uint32_t i = 0; i < s->damage.count; i++) {
        const struct rh_trace_damage *d = &s->damage.items[i];
        rh_json_open(j, '{');
        put_count(j, "offset", d->offset);
        put_count(j, "bytes", d->bytes);
        put_text(j, "what", rh_span_cstr(d->what));
        rh_json_close(j);
    }
    rh_json_close(j);
    put_count(j, "lost_records", s->damage.lost_records);
}

void rh_info_json(struct rh_json *j, const struct rh_trace_file *file,
                  const struct rh_trace_summary *s)
{
    const struct rh_trace_header *h = rh_trace_file_header(file);
    bool run = h->kind == RH_FILE_RUN;
    bool complete = rh_trace_file_complete(file) && s->damage.count == 0;
    const char *reason = rh_trace_file_incomplete_reason(file);
    rh_json_open(j, '{');
    put_text(j, "path", rh_span_cstr(rh_trace_file_path(file)));
    put_text(j, "kind", rh_span_cstr(run ? "run" : "workload"));
    rh_json_key(j, "complete");
    rh_json_bool(j, complete);
    put_text(j, "incomplete_reason",
             complete ? RH_SPAN_NONE : rh_span_cstr(*reason ? reason : "damaged blocks"));
    put_count(j, "sessions", s->sessions);
    put_count(j, "peak_sessions", s->peak_open);
    put_count(j, "statements", s->statements);
    put_count(j, "failed", s->failed);
    put_count(j, "transactions", s->transactions);
    put_kinds(j, s);
    put_gaps(j, s);
    put_reasons(j, "not_replayable", s->held);
    if (run) {
        put_run(j, s);
    }
    put_span(j, s);
    put_count(j, "bytes", rh_trace_file_bytes(file));
    rh_json_key(j, "bytes_per_statement");
    if (s->statements) {
        rh_json_double(j, (double) rh_trace_file_bytes(file) / (double) s->statements, 3);
    } else {
        rh_json_null(j);
    }
    put_header(j, h);
    put_settings(j, h);
    if (h->kind == RH_FILE_RUN) {
        put_server_facts(j, h);
    }
    put_blocks(j, s);
    rh_json_close(j);
}
