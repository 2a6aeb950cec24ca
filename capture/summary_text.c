#include "capture/summary_text.h"

#include <inttypes.h>

#include "common/log.h"

enum { KILO = 1024, STATES_SHOWN = 8 };

const char *rh_size_text(uint64_t bytes, char text[RH_SIZE_TEXT])
{
    static const char *const units[] = {"kB", "MB", "GB", "TB"};
    if (bytes < KILO) {
        snprintf(text, RH_SIZE_TEXT, "%" PRIu64 " byte%s", bytes, rh_plural(bytes));
        return text;
    }
    double v = (double) bytes / KILO;
    size_t unit = 0;
    while (v >= KILO && unit + 1 < sizeof units / sizeof units[0]) {
        v /= KILO;
        unit++;
    }
    snprintf(text, RH_SIZE_TEXT, "%.3g %s", v, units[unit]);
    return text;
}

void rh_summary_rows(const char *label, const struct rh_summary_row *rows, size_t count, FILE *out)
{
    for (size_t i = 0; i < count; i++) {
        if (rows[i].count > 0) {
            fprintf(out, "%-13s%9" PRIu64 "  %s\n", label, rows[i].count, rows[i].what);
            label = "";
        }
    }
}

void rh_summary_errors(const struct rh_capture_stats *s, FILE *out)
{
    uint64_t others = 0;
    for (uint32_t i = 0; i < s->error_count; i++) {
        char text[6];
        if (i < STATES_SHOWN) {
            fprintf(out, "             %9" PRIu64 "  %s\n", s->errors[i].count,
                    rh_sqlstate_unpack(s->errors[i].sqlstate, text));
        } else {
            others += s->errors[i].count;
        }
    }
    if (others > 0) {
        fprintf(out, "             %9" PRIu64 "  of other states\n", others);
    }
}

void rh_summary_held(const struct rh_capture_stats *s, FILE *out)
{
    uint64_t held = 0;
    for (int i = 0; i < RH_REASON_COUNT; i++) {
        held += s->held[i];
    }
    if (held == 0) {
        return;
    }
    fprintf(out, "not replayable %" PRIu64 "\n", held);
    for (int i = 0; i < RH_REASON_COUNT; i++) {
        if (s->held[i] > 0) {
            fprintf(out, "             %9" PRIu64 "  %s\n", s->held[i],
                    rh_reason_text((enum rh_reason) i));
        }
    }
}

void rh_summary_filtered(const struct rh_capture_stats *s, FILE *out)
{
    if (s->filtered > 0) {
        fprintf(out, "             %" PRIu64 " left out by the filters\n", s->filtered);
    }
    if (s->carried > 0) {
        fprintf(out,
                "             %" PRIu64 " of them SETs and PREPAREs of before what is kept, put in "
                "front of it\n",
                s->carried);
    }
}

void rh_summary_runaways(const char *option, uint64_t count, FILE *out)
{
    if (count > 0) {
        fprintf(out, "ran away     a pattern of %s on %" PRIu64 " text%s, left out\n", option,
                count, rh_plural(count));
    }
}

void rh_summary_warn_runaways(uint64_t count)
{
    if (count > 0) {
        rh_log(RH_LOG_WARNING, "a pattern ran away on %" PRIu64 " text%s, left out", count,
               rh_plural(count));
    }
}

void rh_summary_warn_incomplete(bool stopped, bool damaged)
{
    if (stopped) {
        rh_log(RH_LOG_WARNING, "stopped early: the trace has what was read so far");
    } else if (damaged) {
        rh_log(RH_LOG_WARNING, "the trace lacks what could not be read");
    }
}

void rh_summary_note(struct rh_trace_writer *w, const char *name, uint64_t count)
{
    char text[24];
    if (count > 0) {
        snprintf(text, sizeof text, "%" PRIu64, count);
        rh_trace_writer_note(w, name, rh_span_cstr(text));
    }
}
