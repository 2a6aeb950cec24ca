#include <inttypes.h>
#include <math.h>
#include <stdio.h>

#include "common/json.h"
#include "diff/json_head.h"
#include "diff/json_put.h"
#include "diff/json_query.h"
#include "diff/noise.h"
#include "diff/report.h"

static void put_counts(struct rh_json *j, const char *key, uint64_t base, uint64_t candidate)
{
    rh_json_key(j, key);
    rh_json_open(j, '{');
    rh_json_put_count(j, "base", base);
    rh_json_put_count(j, "candidate", candidate);
    rh_json_close(j);
}

static void put_fingerprint(struct rh_json *j, const struct rh_query *q, bool is_other)
{
    char text[17];
    snprintf(text, sizeof text, "%016" PRIx64, q->fingerprint);
    rh_json_key(j, "fingerprint");
    rh_json_cstr(j, is_other ? NULL : text);
}

/* A mean for a quantile of NAN. */
static void put_time_pair(struct rh_json *j, const char *key, const struct rh_query *q,
                          double quantile)
{
    rh_json_key(j, key);
    rh_json_open(j, '{');
    for (int side = 0; side < RH_SIDES; side++) {
        double ns = isnan(quantile) ? rh_query_mean_ns(q, (enum rh_side) side)
                                    : rh_query_quantile_ns(q, (enum rh_side) side, quantile);
        rh_json_put_ns_as_us(j, side == RH_BASE ? "base" : "candidate", ns);
    }
    rh_json_close(j);
}

static void put_ref(struct rh_json *j, const struct rh_statement_ref *ref, enum rh_side side)
{
    rh_json_key(j, "side");
    rh_json_cstr(j, side == RH_BASE ? "base" : "candidate");
    rh_json_key(j, "part");
    rh_json_int(j, ref->part);
    rh_json_key(j, "session");
    rh_json_int(j, ref->session);
    rh_json_key(j, "copy");
    rh_json_int(j, ref->copy);
    rh_json_put_count(j, "ordinal", ref->ordinal);
    rh_json_key(j, "start");
    rh_json_time(j, ref->start_ns);
}

/* Its statement has a text that `pgrehearse show` prints. */
static void put_slowed(struct rh_json *j, const struct rh_slowed_pair *slowed)
{
    rh_json_key(j, "slowed_most");
    if (slowed->ordinal == 0) {
        rh_json_null(j);
        return;
    }
    rh_json_open(j, '{');
    rh_json_put_count(j, "part", slowed->part);
    rh_json_put_count(j, "session", slowed->session);
    rh_json_put_count(j, "copy", slowed->copy);
    rh_json_put_count(j, "ordinal", slowed->ordinal);
    rh_json_put_ns_as_us(j, "base_us", (double) slowed->base_ns);
    rh_json_put_ns_as_us(j, "candidate_us", (double) slowed->candidate_ns);
    rh_json_close(j);
}

static void put_volatility(struct rh_json *j, const struct rh_query_result *row)
{
    rh_json_key(j, "volatile");
    rh_json_cstr(j, rh_volatility_name(row->volatility));
    rh_json_key(j, "between_runs");
    if (!row->noise) {
        rh_json_null(j);
        return;
    }
    rh_json_open(j, '{');
    rh_json_put_count(j, "rows_compared", row->noise->rows_compared);
    rh_json_put_count(j, "row_mismatches", row->noise->row_mismatches);
    rh_json_put_count(j, "outcomes_differ", row->noise->outcomes_differ);
    rh_json_close(j);
}

static void put_query(struct rh_json *j, const struct rh_query_result *row)
{
    const struct rh_query *q = row->query;
    const struct rh_query_side *base = &q->side[RH_BASE];
    const struct rh_query_side *candidate = &q->side[RH_CANDIDATE];

    rh_json_open(j, '{');
    put_fingerprint(j, q, row->is_other);
    rh_json_put_text(j, "sql", row->is_other ? RH_SPAN_LITERAL("(all other queries)") : q->sql);
    rh_json_key(j, "sql_cut");
    rh_json_bool(j, q->sql_cut);
    rh_json_query_verdict(j, row);
    put_counts(j, "calls", base->calls, candidate->calls);
    put_counts(j, "errors", base->errors, candidate->errors);
    put_counts(j, "unknown", base->unknown, candidate->unknown);
    put_counts(j, "commit_not_timed", base->commit_not_timed, candidate->commit_not_timed);
    rh_json_put_count(j, "missing", row->missing);
    put_time_pair(j, "mean_us", q, NAN);
    put_time_pair(j, "p50_us", q, 0.5);
    put_time_pair(j, "p95_us", q, 0.95);
    put_time_pair(j, "p99_us", q, 0.99);
    rh_json_put_count(j, "compared", row->compared);
    rh_json_key(j, "ratio");
    rh_json_double(j, row->ratio, 6);
    rh_json_put_ns_as_us(j, "time_added_us", row->time_added_ns);
    rh_json_key(j, "relative_ratio");
    rh_json_double(j, row->relative_ratio, 6);
    rh_json_put_ns_as_us(j, "relative_time_added_us", row->relative_time_added_ns);
    rh_json_query_test(j, row);
    put_slowed(j, &q->slowed);
    rh_json_put_count(j, "broke", q->pairs.broke);
    rh_json_put_count(j, "fixed", q->pairs.fixed);
    rh_json_put_count(j, "rows_compared", q->pairs.rows_compared);
    rh_json_put_count(j, "row_mismatches", q->pairs.row_mismatches);
    put_volatility(j, row);
    rh_json_key(j, "example");
    rh_json_open(j, '{');
    put_ref(j, &q->example, q->example_side);
    rh_json_close(j);
    rh_json_close(j);
}

static void put_sqlstate(struct rh_json *j, uint32_t sqlstate)
{
    char text[6];
    rh_json_key(j, "sqlstate");
    rh_json_cstr(j, sqlstate == RH_SQLSTATE_UNKNOWN ? NULL : rh_sqlstate_unpack(sqlstate, text));
}

static void put_error_example(struct rh_json *j, const struct rh_error_group *g)
{
    enum rh_side side = g->example[RH_CANDIDATE].known ? RH_CANDIDATE : RH_BASE;
    const struct rh_error_example *e = &g->example[side];

    rh_json_key(j, "example");
    rh_json_open(j, '{');
    put_ref(j, &e->ref, side);
    rh_json_put_text(j, "sql", e->text ? rh_span(e->text, e->text_len) : RH_SPAN_NONE);
    rh_json_key(j, "sql_cut");
    rh_json_bool(j, e->text_cut);
    rh_json_close(j);
}

static void put_error(struct rh_json *j, const struct rh_comparison *c,
                      const struct rh_error_result *row)
{
    const struct rh_error_group *g = row->group;
    rh_json_open(j, '{');
    put_sqlstate(j, g->sqlstate);
    put_fingerprint(j, &c->queries.items[g->query], row->is_other || g->query == RH_QUERY_OTHER);
    put_counts(j, "counts", g->counts[RH_BASE], g->counts[RH_CANDIDATE]);
    rh_json_key(j, "class");
    rh_json_cstr(j, rh_error_class_name(row->klass));
    rh_json_put_count(j, "broke", g->broke);
    rh_json_put_count(j, "fixed", g->fixed);
    rh_json_error_test(j, &row->test);
    rh_json_key(j, "follows");
    rh_json_bool(j, row->follows);
    rh_json_key(j, "cause");
    if (g->cause) {
        const struct rh_error_group *cause = &c->errors.items[g->cause];
        rh_json_open(j, '{');
        put_sqlstate(j, cause->sqlstate);
        put_fingerprint(j, &c->queries.items[cause->query], cause->query == RH_QUERY_OTHER);
        rh_json_close(j);
    } else {
        rh_json_null(j);
    }
    put_error_example(j, g);
    rh_json_close(j);
}

int rh_report_json(const struct rh_report *report, struct rh_report_sink *sink)
{
    const struct rh_result *r = report->result;
    struct rh_json j;

    rh_json_init(&j, &sink->buf, true);
    rh_json_open(&j, '{');
    rh_json_head(&j, report);
    rh_json_key(&j, "queries");
    rh_json_open(&j, '[');
    for (uint32_t i = 0; i < r->query_count; i++) {
        put_query(&j, &r->queries[i]);
        rh_report_sink_drain(sink);
    }
    rh_json_close(&j);
    rh_json_key(&j, "errors");
    rh_json_open(&j, '[');
    for (uint32_t i = 0; i < r->error_count; i++) {
        put_error(&j, r->comparison, &r->errors[i]);
        rh_report_sink_drain(sink);
    }
    rh_json_close(&j);
    rh_json_close(&j);
    rh_buf_add_byte(&sink->buf, '\n');
    return rh_report_sink_flush(sink);
}
