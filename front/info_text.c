#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "common/clock.h"
#include "common/noun.h"
#include "formats/trace_header.h"
#include "front/info_write.h"
#include "front/kind_name.h"

enum { LABEL_WIDTH = 17 };

/* A file must not drive the terminal of who looks at it. */
static void add_printable(struct rh_buf *out, struct rh_span s)
{
    for (size_t i = 0; i < s.len; i++) {
        unsigned char c = (unsigned char) s.data[i];
        rh_buf_add_byte(out, c < 0x20 || c == 0x7f ? '?' : c);
    }
}

/* 1234567 as "1,234,567". */
static void add_number(struct rh_buf *out, uint64_t n)
{
    char digits[24];
    int len = snprintf(digits, sizeof digits, "%" PRIu64, n);
    for (int i = 0; i < len; i++) {
        if (i > 0 && (len - i) % 3 == 0) {
            rh_buf_add_byte(out, ',');
        }
        rh_buf_add_byte(out, (uint8_t) digits[i]);
    }
}

/* "17 sessions". */
static void add_count(struct rh_buf *out, uint64_t n, const char *what)
{
    add_number(out, n);
    rh_buf_addf(out, " %s", what);
}

static void add_label(struct rh_buf *out, const char *label)
{
    rh_buf_addf(out, "  %-*s", LABEL_WIDTH, label);
}

/* A label whose items follow on lines of their own. */
static void add_heading(struct rh_buf *out, const char *label)
{
    rh_buf_addf(out, "  %s\n", label);
}

static void add_line(struct rh_buf *out, const char *label, struct rh_span value)
{
    add_label(out, label);
    add_printable(out, value.data ? value : RH_SPAN_LITERAL("unknown"));
    rh_buf_add_byte(out, '\n');
}

/* A count on a line of its own, below its label. */
static void add_item(struct rh_buf *out, struct rh_span what, uint64_t n)
{
    rh_buf_add_cstr(out, "      ");
    size_t start = out->len;
    add_printable(out, what);
    while (out->len - start < 36 && !out->over) {
        rh_buf_add_byte(out, ' ');
    }
    rh_buf_add_byte(out, ' ');
    add_number(out, n);
}

static void add_duration(struct rh_buf *out, int64_t ns)
{
    int64_t ms = ns / RH_NS_PER_MS;
    int64_t minutes = ms / 60000;
    if (minutes >= 60) {
        rh_buf_addf(out, "%" PRId64 " h ", minutes / 60);
    }
    if (minutes > 0) {
        rh_buf_addf(out, "%" PRId64 " min ", minutes % 60);
    }
    rh_buf_addf(out, "%" PRId64 ".%03" PRId64 " s", ms / 1000 % 60, ms % 1000);
}

static void add_size(struct rh_buf *out, uint64_t bytes)
{
    if (bytes < 10000) {
        add_count(out, bytes, "bytes");
    } else if (bytes < 10000000) {
        rh_buf_addf(out, "%.1f kB", (double) bytes / 1024);
    } else {
        rh_buf_addf(out, "%.1f MB", (double) bytes / 1048576);
    }
}

static void add_origin(struct rh_buf *out, const struct rh_trace_header *h)
{
    char text[RH_TIME_TEXT_SIZE];
    add_line(out, "identity", rh_span_cstr(rh_uuid_format(h->uuid, text)));
    if (h->kind == RH_FILE_RUN) {
        add_line(out, "replay of", rh_span_cstr(rh_uuid_format(h->trace_uuid, text)));
    }
    add_label(out, "made");
    rh_buf_addf(out, "%s by ", rh_time_format(h->created_ns, text));
    add_printable(out, h->tool);
    rh_buf_addf(out, ", format %u\n", h->format_version);
    add_line(out, "source", h->source);
    add_line(out, "times by", rh_span_cstr(rh_vantage_text(h->vantage)));
    add_label(out, "server");
    if (h->server_version.data) {
        rh_buf_add_cstr(out, "PostgreSQL ");
        add_printable(out, h->server_version);
    } else {
        rh_buf_add_cstr(out, "version unknown");
    }
    rh_buf_add_cstr(out, ", ");
    add_printable(out,
                  h->server_address.data ? h->server_address : RH_SPAN_LITERAL("address unknown"));
    rh_buf_add_byte(out, '\n');
}

static void add_span(struct rh_buf *out, const struct rh_trace_summary *s)
{
    char begin[RH_TIME_TEXT_SIZE];
    char end[RH_TIME_TEXT_SIZE];
    add_label(out, "span");
    if (s->begin_ns == RH_TIME_UNKNOWN) {
        rh_buf_add_cstr(out, "no record\n");
        return;
    }
    rh_buf_addf(out, "%s to %s, ", rh_time_format(s->begin_ns, begin),
                rh_time_format(s->end_ns, end));
    add_duration(out, s->end_ns - s->begin_ns);
    rh_buf_add_byte(out, '\n');
}

static void add_sessions(struct rh_buf *out, const struct rh_trace_summary *s)
{
    add_label(out, "sessions");
    add_number(out, s->sessions);
    rh_buf_add_cstr(out, ", at most ");
    add_count(out, s->peak_open, "open at a time");
    if (s->joined_midway) {
        rh_buf_add_cstr(out, "; ");
        add_count(out, s->joined_midway, "open before the capture");
    }
    if (s->left_open) {
        rh_buf_add_cstr(out, "; ");
        add_count(out, s->left_open, "open after it");
    }
    if (s->logins_failed) {
        rh_buf_add_cstr(out, "; ");
        add_count(out, s->logins_failed, "failed to log in");
    }
    if (s->reopenings) {
        rh_buf_add_cstr(out, "; ");
        add_count(out, s->reopenings, "connected again after a loss");
    }
    rh_buf_add_byte(out, '\n');
}

static void add_kinds(struct rh_buf *out, const struct rh_trace_summary *s)
{
    add_label(out, "statements");
    add_number(out, s->statements);
    const char *before = " (";
    for (int kind = RH_KIND_QUERY; kind <= RH_KIND_FUNCTION; kind++) {
        if (s->by_kind[kind]) {
            rh_buf_addf(out, "%s%s ", before, rh_kind_name((enum rh_kind) kind));
            add_number(out, s->by_kind[kind]);
            before = ", ";
        }
    }
    rh_buf_add_cstr(out, s->statements ? "), " : ", ");
    add_count(out, s->failed, "failed\n");
    before = NULL;
    for (int kind = RH_KIND_FETCH; kind <= RH_KIND_COPY_DATA; kind++) {
        if (s->by_kind[kind]) {
            if (!before) {
                add_label(out, "other records");
            }
            rh_buf_addf(out, "%s%s ", before ? before : "", rh_kind_name((enum rh_kind) kind));
            add_number(out, s->by_kind[kind]);
            before = ", ";
        }
    }
    if (before) {
        rh_buf_add_byte(out, '\n');
    }
    add_label(out, "transactions");
    add_count(out, s->transactions, "begun\n");
}

static void add_reasons(struct rh_buf *out, const uint64_t counts[RH_REASON_COUNT])
{
    for (int i = 0; i < RH_REASON_COUNT; i++) {
        if (counts[i]) {
            add_item(out, rh_span_cstr(rh_reason_text((enum rh_reason) i)), counts[i]);
            rh_buf_add_byte(out, '\n');
        }
    }
}

static void add_outcomes(struct rh_buf *out, const struct rh_trace_summary *s, bool run)
{
    if (run) {
        add_label(out, "outcomes");
        for (int fate = RH_FATE_DONE; fate < RH_SUMMARY_FATES; fate++) {
            rh_buf_addf(out, "%s%s ", fate == RH_FATE_DONE ? "" : ", ",
                        rh_fate_name((enum rh_fate) fate));
            add_number(out, s->fates[fate]);
        }
        rh_buf_add_byte(out, '\n');
        add_reasons(out, s->unsent);
        return;
    }
    add_label(out, "not replayable");
    add_number(out, s->held_total);
    rh_buf_add_byte(out, '\n');
    add_reasons(out, s->held);
}

static void add_gaps(struct rh_buf *out, const struct rh_trace_summary *s)
{
    if (s->gap_reasons.count == 0) {
        add_line(out, "gaps", RH_SPAN_LITERAL("none"));
        return;
    }
    add_heading(out, "gaps");
    for (uint32_t i = 0; i < s->gap_reasons.count; i++) {
        add_item(out, s->gap_reasons.items[i], s->gaps[i].amount);
        rh_buf_add_cstr(out, " in ");
        add_count(out, s->gaps[i].places, s->gaps[i].places == 1 ? "place\n" : "places\n");
    }
}

static void add_container(struct rh_buf *out, const struct rh_trace_file *file,
                          const struct rh_trace_summary *s)
{
    add_label(out, "size");
    add_size(out, rh_trace_file_bytes(file));
    if (s->statements) {
        rh_buf_addf(out, ", %.2f bytes a statement",
                    (double) rh_trace_file_bytes(file) / (double) s->statements);
    }
    rh_buf_add_byte(out, '\n');
    add_label(out, "blocks");
    add_number(out, s->data_blocks);
    rh_buf_add_cstr(out, ", ");
    add_count(out, s->late_blocks, "of them late\n");
    if (s->damage.count == 0) {
        add_line(out, "damage", RH_SPAN_LITERAL("none"));
        return;
    }
    add_heading(out, "damage");
    for (uint32_t i = 0; i < s->damage.count; i++) {
        const struct rh_trace_damage *d = &s->damage.items[i];
        rh_buf_addf(out, "      byte %" PRIu64 ", %" PRIu64 " byte%s: %s\n", d->offset, d->bytes,
                    rh_plural(d->bytes), d->what);
    }
    if (s->damage.lost_records) {
        rh_buf_addf(out, "      %" PRIu64 " record%s lost\n", s->damage.lost_records,
                    rh_noun(s->damage.lost_records, " is", "s are"));
    }
}

static void add_settings(struct rh_buf *out, const struct rh_trace_header *h, bool run)
{
    if (h->setting_count == 0) {
        return;
    }
    add_heading(out, run ? "options" : "settings");
    for (uint32_t i = 0; i < h->setting_count; i++) {
        rh_buf_add_cstr(out, "      ");
        add_printable(out, h->settings[i].name);
        rh_buf_add_cstr(out, " = ");
        add_printable(out, h->settings[i].value);
        rh_buf_add_byte(out, '\n');
    }
}

/* "work_mem = 64 kB"; "pg_trgm = 1.6, in shop". */
static void add_server_facts(struct rh_buf *out, const struct rh_trace_header *h)
{
    if (h->server_fact_count == 0) {
        return;
    }
    add_heading(out, "server in detail");
    for (uint32_t i = 0; i < h->server_fact_count; i++) {
        const struct rh_server_fact *f = &h->server_facts[i];
        rh_buf_add_cstr(out, "      ");
        add_printable(out, f->kind);
        rh_buf_add_byte(out, ' ');
        add_printable(out, f->name);
        rh_buf_add_cstr(out, " = ");
        add_printable(out, f->value);
        if (f->unit.len > 0) {
            rh_buf_add_cstr(out, f->unit.data[0] >= '0' && f->unit.data[0] <= '9' ? " x " : " ");
            add_printable(out, f->unit);
        }
        if (f->database.data) {
            rh_buf_add_cstr(out, ", in ");
            add_printable(out, f->database);
        }
        if (f->source.data) {
            rh_buf_add_cstr(out, rh_span_is(f->kind, "override") ? ", for role " : ", by ");
            add_printable(out, f->source);
        }
        rh_buf_add_byte(out, '\n');
    }
}

void rh_info_text(struct rh_buf *out, const struct rh_trace_file *file,
                  const struct rh_trace_summary *s)
{
    const struct rh_trace_header *h = rh_trace_file_header(file);
    bool run = h->kind == RH_FILE_RUN;
    bool complete = rh_trace_file_complete(file) && s->damage.count == 0;
    const char *reason = rh_trace_file_incomplete_reason(file);
    add_printable(out, rh_span_cstr(rh_trace_file_path(file)));
    rh_buf_addf(out, ": %s, %s%s%s\n", run ? "run" : "workload",
                complete ? "complete" : "INCOMPLETE", complete ? "" : ": ",
                complete  ? ""
                : *reason ? reason
                          : "damaged blocks");
    add_origin(out, h);
    add_span(out, s);
    add_sessions(out, s);
    add_kinds(out, s);
    add_outcomes(out, s, run);
    add_gaps(out, s);
    add_container(out, file, s);
    add_settings(out, h, run);
    add_server_facts(out, h);
}
