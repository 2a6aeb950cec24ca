#include <inttypes.h>
#include <math.h>

#include "diff/escape.h"
#include "diff/report.h"

/* One line a query, ranked as in the other reports.  Lines end with CR LF, as RFC 4180 has it. */
static const char head[] =
    "fingerprint,verdict,reason,minor,calls_base,calls_candidate,errors_base,errors_candidate,"
    "missing,compared,mean_us_base,mean_us_candidate,p50_us_base,p50_us_candidate,p95_us_base,"
    "p95_us_candidate,p99_us_base,p99_us_candidate,ratio,ratio_low,ratio_high,time_added_us,"
    "relative_ratio,relative_time_added_us,base_time_pct,time_added_pct,slower_q,faster_q,"
    "twice_slower,twice_faster,rows_compared,row_mismatches,volatile,broke,fixed,sql\r\n";

/* An unknown number is an empty field. */
static void put_number(struct rh_buf *out, double v)
{
    if (isfinite(v)) {
        rh_buf_addf(out, "%.9g", v);
    }
    rh_buf_add_byte(out, ',');
}

static void put_count(struct rh_buf *out, uint64_t n)
{
    rh_buf_addf(out, "%" PRIu64 ",", n);
}

static void put_word(struct rh_buf *out, const char *word)
{
    rh_buf_addf(out, "%s,", word ? word : "");
}

static void put_times(struct rh_buf *out, const struct rh_query *q)
{
    static const double quantiles[] = {0.5, 0.95, 0.99};
    for (int side = 0; side < RH_SIDES; side++) {
        put_number(out, rh_query_mean_ns(q, (enum rh_side) side) / 1e3);
    }
    for (size_t i = 0; i < sizeof quantiles / sizeof quantiles[0]; i++) {
        for (int side = 0; side < RH_SIDES; side++) {
            put_number(out, rh_query_quantile_ns(q, (enum rh_side) side, quantiles[i]) / 1e3);
        }
    }
}

static void put_row(struct rh_buf *out, const struct rh_query_result *row)
{
    const struct rh_query *q = row->query;
    const struct rh_query_test *t = &row->test;
    struct rh_interval interval = {NAN, NAN};
    if (t->pairs > 0) {
        interval = rh_query_test_interval(t, RH_MEASURE_MEAN);
    }
    if (!row->is_other) {
        rh_buf_addf(out, "%016" PRIx64, q->fingerprint);
    }
    rh_buf_add_byte(out, ',');
    put_word(out, rh_query_verdict_name(row->verdict));
    put_word(out, row->why);
    put_word(out, row->minor ? "true" : "false");
    put_count(out, q->side[RH_BASE].calls);
    put_count(out, q->side[RH_CANDIDATE].calls);
    put_count(out, q->side[RH_BASE].errors);
    put_count(out, q->side[RH_CANDIDATE].errors);
    put_count(out, row->missing);
    put_count(out, row->compared);
    put_times(out, q);
    put_number(out, row->ratio);
    put_number(out, interval.low);
    put_number(out, interval.high);
    put_number(out, row->time_added_ns / 1e3);
    put_number(out, row->relative_ratio);
    put_number(out, row->relative_time_added_ns / 1e3);
    put_number(out, row->base_time_pct);
    put_number(out, row->time_added_pct);
    put_number(out, rh_query_test_q(t, RH_SLOWER, NULL));
    put_number(out, rh_query_test_q(t, RH_FASTER, NULL));
    put_count(out, t->slower);
    put_count(out, t->faster);
    put_count(out, q->pairs.rows_compared);
    put_count(out, q->pairs.row_mismatches);
    put_word(out, rh_volatility_name(row->volatility));
    put_count(out, q->pairs.broke);
    put_count(out, q->pairs.fixed);
    rh_escape_csv(out, row->is_other ? RH_SPAN_LITERAL("(all other queries)") : q->sql);
    rh_buf_add_cstr(out, "\r\n");
}

int rh_report_csv(const struct rh_report *report, struct rh_report_sink *sink)
{
    const struct rh_result *r = report->result;
    rh_buf_add_cstr(&sink->buf, head);
    for (uint32_t i = 0; i < r->query_count; i++) {
        put_row(&sink->buf, &r->queries[i]);
        rh_report_sink_drain(sink);
    }
    return rh_report_sink_flush(sink);
}
