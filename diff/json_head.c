#include "diff/json_head.h"

#include <math.h>

#include "diff/json_dimensions.h"
#include "diff/json_put.h"
#include "diff/json_query.h"
#include "rh_version.h"

static void put_uuid(struct rh_json *j, const char *key, const uint8_t uuid[16], bool known)
{
    char text[37];
    rh_json_key(j, key);
    rh_json_cstr(j, known ? rh_uuid_format(uuid, text) : NULL);
}

static void put_verdict(struct rh_json *j, const struct rh_report *report)
{
    rh_json_key(j, "verdict");
    rh_json_cstr(j, rh_verdict_name(report->verdict));
    rh_json_key(j, "gates");
    rh_json_open(j, '[');
    for (size_t i = 0; i < report->gate_count; i++) {
        const struct rh_gate *g = &report->gates[i];
        rh_json_open(j, '{');
        rh_json_key(j, "name");
        rh_json_cstr(j, rh_gate_name(g->kind));
        rh_json_key(j, "limit");
        rh_json_double(j, g->limit, 3);
        rh_json_key(j, "actual");
        rh_json_double(j, g->actual, 3);
        rh_json_key(j, "result");
        rh_json_cstr(j, rh_gate_state_name(g->state));
        rh_json_key(j, "reason");
        rh_json_cstr(j, g->why);
        rh_json_close(j);
    }
    rh_json_close(j);
}

static void put_lag(struct rh_json *j, const struct rh_hist *lag)
{
    rh_json_key(j, "lag_us");
    if (lag->count == 0) {
        rh_json_null(j);
        return;
    }
    rh_json_open(j, '{');
    rh_json_put_ns_as_us(j, "p50", (double) rh_hist_quantile(lag, 0.5));
    rh_json_put_ns_as_us(j, "p99", (double) rh_hist_quantile(lag, 0.99));
    rh_json_put_ns_as_us(j, "max", (double) lag->max);
    rh_json_close(j);
}

static void put_behind(struct rh_json *j, const struct rh_hist *behind)
{
    rh_json_key(j, "behind_us");
    if (behind->count == 0) {
        rh_json_null(j);
        return;
    }
    rh_json_open(j, '{');
    rh_json_put_count(j, "count", behind->count);
    rh_json_put_ns_as_us(j, "p50", (double) rh_hist_quantile(behind, 0.5));
    rh_json_put_ns_as_us(j, "p99", (double) rh_hist_quantile(behind, 0.99));
    rh_json_put_ns_as_us(j, "max", (double) behind->max);
    rh_json_close(j);
}

static void put_side_counts(struct rh_json *j, const struct rh_side_summary *s)
{
    rh_json_put_count(j, "statements", s->statements);
    rh_json_put_count(j, "calls", s->calls);
    rh_json_put_count(j, "errors", s->errors);
    rh_json_put_count(j, "unknown", s->unknown);
    rh_json_put_count(j, "skipped", s->skipped);
    rh_json_put_count(j, "not_sent", s->not_sent);
    rh_json_put_count(j, "lost", s->lost);
    rh_json_put_count(j, "outside_window", s->outside_window);
    rh_json_put_count(j, "commit_not_timed", s->commit_not_timed);
    rh_json_put_count(j, "gaps", s->gaps);
    rh_json_put_count(j, "damaged_blocks", s->damaged_blocks);
    rh_json_put_count(j, "damaged_records", s->damaged_records);
}

/* The files that are compared, by part, and those that repeat another. */
static void put_paths(struct rh_json *j, const struct rh_report *report, enum rh_side side)
{
    const struct rh_comparison *c = report->result->comparison;
    rh_json_key(j, "files");
    rh_json_open(j, '[');
    for (uint32_t i = 0; i < c->part_count; i++) {
        rh_json_text(j, rh_span_cstr(rh_trace_file_path(c->parts[i].file[side])));
    }
    rh_json_close(j);
    rh_json_key(j, "repeats");
    rh_json_open(j, '[');
    for (uint32_t i = 0; report->inputs && i < report->inputs->part_count; i++) {
        const struct rh_input_part *part = &report->inputs->parts[i];
        for (uint32_t k = 1; k < part->counts[side]; k++) {
            rh_json_text(j, rh_span_cstr(rh_trace_file_path(part->files[side][k])));
        }
    }
    rh_json_close(j);
}

static void put_side(struct rh_json *j, const char *key, const struct rh_report *report,
                     enum rh_side side)
{
    const struct rh_comparison *c = report->result->comparison;
    const struct rh_trace_file *f = c->file[side];
    const struct rh_trace_header *h = rh_trace_file_header(f);
    const struct rh_side_summary *s = &c->side[side];
    const struct rh_trace_file *cut = rh_comparison_cut_file(c, side);
    bool is_run = h->kind == RH_FILE_RUN;

    rh_json_key(j, key);
    rh_json_open(j, '{');
    rh_json_put_text(j, "path", rh_span_cstr(rh_trace_file_path(f)));
    put_paths(j, report, side);
    rh_json_key(j, "kind");
    rh_json_cstr(j, is_run ? "run" : "workload");
    put_uuid(j, "uuid", h->uuid, true);
    put_uuid(j, "trace_uuid", h->trace_uuid, is_run);
    rh_json_put_text(j, "source", h->source);
    rh_json_key(j, "vantage");
    rh_json_cstr(j, rh_vantage_text(h->vantage));
    rh_json_put_text(j, "server_version", h->server_version);
    rh_json_put_text(j, "server_address", h->server_address);
    rh_json_key(j, "complete");
    rh_json_bool(j, !cut && s->damaged_blocks == 0);
    rh_json_key(j, "incomplete_reason");
    rh_json_cstr(j, cut ? rh_trace_file_incomplete_reason(cut) : NULL);
    rh_json_key(j, "started_at");
    rh_json_time(j, s->first_ns);
    rh_json_key(j, "duration_s");
    rh_json_double(
        j,
        s->first_ns == RH_TIME_UNKNOWN ? NAN : ((double) s->last_ns - (double) s->first_ns) / 1e9,
        6);
    put_side_counts(j, s);
    put_lag(j, &s->lag);
    put_behind(j, &s->behind);
    rh_json_put_ns_as_us(j, "round_trip_us", rh_report_round_trip_ns(h));
    rh_json_close(j);
}

static void put_missing(struct rh_json *j, const struct rh_result *r)
{
    const struct rh_comparison *c = r->comparison;
    const struct rh_side_summary *side = &c->side[RH_CANDIDATE];
    const uint64_t *by_reason = c->paired ? c->pairs.missing_by_reason : side->by_reason;

    rh_json_key(j, "missing");
    rh_json_open(j, '{');
    rh_json_put_count(j, "count", r->missing);
    rh_json_put_count(j, "absent", c->pairs.missing_absent);
    rh_json_put_count(j, "lost", c->paired ? c->pairs.missing_lost : side->lost);
    rh_json_key(j, "reasons");
    rh_json_open(j, '[');
    for (uint32_t reason = 0; reason < RH_REASON_COUNT; reason++) {
        if (by_reason[reason] > 0) {
            rh_json_open(j, '{');
            rh_json_key(j, "reason");
            rh_json_cstr(j,
                         reason == RH_REASON_NONE ? NULL : rh_reason_name((enum rh_reason) reason));
            rh_json_put_count(j, "count", by_reason[reason]);
            rh_json_close(j);
        }
    }
    rh_json_close(j);
    rh_json_close(j);
}

static void put_totals(struct rh_json *j, const struct rh_result *r)
{
    const struct rh_comparison *c = r->comparison;
    const struct rh_pair_totals *t = &c->pairs;

    rh_json_key(j, "paired");
    rh_json_bool(j, c->paired);
    rh_json_key(j, "latency");
    rh_json_open(j, '{');
    rh_json_key(j, "comparison");
    rh_json_cstr(j, rh_latency_mode_name(r->latency));
    rh_json_key(j, "median_shift");
    rh_json_double(j, r->median_shift, 6);
    rh_json_close(j);
    rh_json_test_rule(j, r);
    rh_json_key(j, "totals");
    rh_json_open(j, '{');
    rh_json_put_count(j, "pairs", t->paired);
    rh_json_put_count(j, "base_only", t->base_only);
    rh_json_put_count(j, "candidate_only", t->candidate_only + t->ran_only_in_candidate);
    rh_json_put_count(j, "unpairable", t->unpairable);
    put_missing(j, r);
    rh_json_put_count(j, "new_errors", r->new_errors);
    rh_json_put_count(j, "new_errors_by_chance", r->new_by_chance);
    rh_json_put_count(j, "rows_compared", r->rows_compared);
    rh_json_put_count(j, "row_mismatches", r->row_mismatches);
    rh_json_put_count(j, "volatile_queries", r->volatile_queries);
    rh_json_put_count(j, "volatile_rows_compared", r->volatile_compared);
    rh_json_put_count(j, "volatile_row_mismatches", r->volatile_mismatches);
    bool timed = r->latency != RH_LATENCY_NONE;
    rh_json_put_ns_as_us(j, "base_time_us", timed ? r->base_time_ns : NAN);
    rh_json_put_ns_as_us(j, "time_added_us", timed ? r->time_added_ns : NAN);
    rh_json_key(j, "time_added_pct");
    rh_json_double(j, r->time_added_pct, 3);
    rh_json_verdict_counts(j, r);
    rh_json_put_count(j, "regressed", r->regressed);
    rh_json_put_count(j, "tested", r->tested);
    rh_json_put_count(j, "passes", c->passes);
    rh_json_close(j);
}

static void put_quantiles(struct rh_json *j, const char *key, const struct rh_timeline *t,
                          bool of_lag)
{
    rh_json_key(j, key);
    rh_json_open(j, '[');
    for (uint32_t i = 0; i < t->count; i++) {
        const struct rh_hist *h = of_lag ? &t->points[i].lag : &t->points[i].service;
        rh_json_digits(j, h->count ? (double) rh_hist_quantile(h, 0.99) / 1e3 : NAN, 5);
    }
    rh_json_close(j);
}

static void put_counts(struct rh_json *j, const char *key, const struct rh_timeline *t,
                       bool of_errors)
{
    rh_json_key(j, key);
    rh_json_open(j, '[');
    for (uint32_t i = 0; i < t->count; i++) {
        rh_json_int(j, (int64_t) (of_errors ? t->points[i].errors : t->points[i].calls));
    }
    rh_json_close(j);
}

/* One array for each number, since objects would repeat their names at each point. */
static void put_timeline_side(struct rh_json *j, const char *key, const struct rh_timeline *t)
{
    rh_json_key(j, key);
    rh_json_open(j, '{');
    put_counts(j, "calls", t, false);
    put_counts(j, "errors", t, true);
    put_quantiles(j, "p99_us", t, false);
    put_quantiles(j, "lag_p99_us", t, true);
    rh_json_close(j);
}

static void put_timeline(struct rh_json *j, const struct rh_comparison *c)
{
    const struct rh_timeline *base = &c->timeline[RH_BASE];
    const struct rh_timeline *candidate = &c->timeline[RH_CANDIDATE];
    rh_json_key(j, "timeline");
    rh_json_open(j, '{');
    rh_json_key(j, "bucket_s");
    rh_json_digits(j, (double) (base->count ? base->span_ns : candidate->span_ns) / 1e9, 9);
    put_timeline_side(j, "base", base);
    put_timeline_side(j, "candidate", candidate);
    rh_json_close(j);
}

void rh_json_head(struct rh_json *j, const struct rh_report *report)
{
    const struct rh_result *r = report->result;
    rh_json_key(j, "tool");
    rh_json_cstr(j, "pgrehearse " RH_VERSION);
    put_verdict(j, report);
    rh_json_fitness(j, &r->fitness);
    rh_json_key(j, "inputs");
    rh_json_open(j, '{');
    put_side(j, "base", report, RH_BASE);
    put_side(j, "candidate", report, RH_CANDIDATE);
    rh_json_close(j);
    rh_json_server_differences(j, report->servers);
    put_totals(j, r);
    rh_json_dimensions(j, r);
    put_timeline(j, r->comparison);
}
