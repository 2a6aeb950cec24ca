#include "diff/report.h"

#include <math.h>
#include <stdlib.h>

enum {
    SINK_MAX = 1 << 30,
    SINK_DRAIN = 1 << 18,
};

void rh_report_sink_init(struct rh_report_sink *s, struct rh_outfile *file, struct rh_error *err)
{
    *s = (struct rh_report_sink){.file = file, .err = err};
    rh_buf_init(&s->buf, SINK_MAX);
}

void rh_report_sink_release(struct rh_report_sink *s)
{
    rh_buf_release(&s->buf);
}

int rh_report_sink_flush(struct rh_report_sink *s)
{
    if (s->buf.over && !s->failed) {
        rh_error_set(s->err, RH_ERR_LIMIT, "the report is too large");
        s->failed = true;
    }
    if (s->file && !s->failed && s->buf.len > 0) {
        s->failed = rh_outfile_write(s->file, s->buf.data, s->buf.len, s->err) < 0;
        rh_buf_clear(&s->buf);
    }
    return s->failed ? -1 : 0;
}

void rh_report_sink_drain(struct rh_report_sink *s)
{
    if (s->file && s->buf.len >= SINK_DRAIN) {
        rh_report_sink_flush(s);
    }
}

const char *rh_latency_mode_name(enum rh_latency_mode mode)
{
    static const char *const names[] = {"absolute", "relative", "none"};
    return names[mode];
}

double rh_report_round_trip_ns(const struct rh_trace_header *h)
{
    char text[32];
    struct rh_span value = rh_trace_header_setting(h, "round_trip_ns");
    if (!value.data || value.len == 0 || value.len >= sizeof text) {
        return NAN;
    }
    memcpy(text, value.data, value.len);
    text[value.len] = '\0';
    char *end;
    double ns = strtod(text, &end);
    return *end == '\0' && isfinite(ns) && ns >= 0 ? ns : NAN;
}
