#include "diff/json_query.h"

#include <math.h>

#include "diff/noise.h"

void rh_json_query_verdict(struct rh_json *j, const struct rh_query_result *row)
{
    rh_json_key(j, "verdict");
    rh_json_cstr(j, rh_query_verdict_name(row->verdict));
    rh_json_key(j, "reason");
    rh_json_cstr(j, row->why);
    rh_json_key(j, "minor");
    rh_json_bool(j, row->minor);
}

static void put_number(struct rh_json *j, const char *key, double v, int digits)
{
    rh_json_key(j, key);
    rh_json_digits(j, v, digits);
}

static void put_interval(struct rh_json *j, const char *key, struct rh_interval interval,
                         double unit)
{
    rh_json_key(j, key);
    rh_json_open(j, '[');
    rh_json_digits(j, interval.low / unit, 7);
    rh_json_digits(j, interval.high / unit, 7);
    rh_json_close(j);
}

static void put_measure(struct rh_json *j, const struct rh_query_test *t, enum rh_measure measure)
{
    const struct rh_measure_test *m = &t->measures[measure];
    rh_json_key(j, rh_measure_name(measure));
    if (!m->estimated) {
        rh_json_null(j);
        return;
    }
    rh_json_open(j, '{');
    put_number(j, "ratio", exp(m->estimate.log_ratio), 7);
    put_interval(j, "interval", rh_query_test_interval(t, measure), 1);
    put_number(j, "slower_p", m->tested ? m->p[RH_SLOWER] : NAN, 5);
    put_number(j, "slower_q", m->tested ? m->q[RH_SLOWER] : NAN, 5);
    put_number(j, "faster_p", m->tested ? m->p[RH_FASTER] : NAN, 5);
    put_number(j, "faster_q", m->tested ? m->q[RH_FASTER] : NAN, 5);
    put_number(j, "same_p", m->tested ? m->same_p : NAN, 5);
    put_number(j, "margin_pct", 100 * m->margin, 5);
    rh_json_key(j, "wide");
    rh_json_bool(j, m->is_wide);
    rh_json_close(j);
}

static void put_percentile(struct rh_json *j, const char *key, const struct rh_query_result *row,
                           enum rh_percentile percentile)
{
    rh_json_key(j, key);
    rh_json_open(j, '{');
    put_interval(j, "base", rh_query_percentile_interval(row, RH_BASE, percentile), 1e3);
    put_interval(j, "candidate", rh_query_percentile_interval(row, RH_CANDIDATE, percentile), 1e3);
    rh_json_close(j);
}

static void put_test(struct rh_json *j, const struct rh_query_test *t)
{
    rh_json_key(j, "test");
    if (t->pairs == 0) {
        rh_json_null(j);
        return;
    }
    rh_json_open(j, '{');
    rh_json_key(j, "pairs");
    rh_json_int(j, (int64_t) t->pairs);
    rh_json_key(j, "first_call_apart");
    rh_json_bool(j, t->first_apart);
    rh_json_key(j, "twice_slower");
    rh_json_int(j, (int64_t) t->slower);
    rh_json_key(j, "twice_faster");
    rh_json_int(j, (int64_t) t->faster);
    put_number(j, "twice_p", rh_mcnemar_mid_p(t->slower, t->faster), 5);
    put_number(j, "confidence", t->confidence, 7);
    rh_json_key(j, "confirmed");
    rh_json_bool(j, t->confirmed);
    for (int i = 0; i < RH_MEASURES; i++) {
        put_measure(j, t, (enum rh_measure) i);
    }
    rh_json_close(j);
}

void rh_json_query_test(struct rh_json *j, const struct rh_query_result *row)
{
    put_number(j, "base_time_pct", row->base_time_pct, 7);
    put_number(j, "time_added_pct", row->time_added_pct, 7);
    put_percentile(j, "p50_interval_us", row, RH_P50);
    put_percentile(j, "p95_interval_us", row, RH_P95);
    put_percentile(j, "p99_interval_us", row, RH_P99);
    put_test(j, &row->test);
    rh_json_key(j, "unpaired");
    if (isnan(row->unpaired_p)) {
        rh_json_null(j);
        return;
    }
    rh_json_open(j, '{');
    put_number(j, "p", row->unpaired_p, 5);
    put_number(j, "slower_share", row->unpaired_share, 5);
    put_number(j, "shift_us", row->unpaired_shift_ns / 1e3, 5);
    rh_json_close(j);
}

void rh_json_error_test(struct rh_json *j, const struct rh_error_test *t)
{
    rh_json_key(j, "test");
    if (!t->tested) {
        rh_json_null(j);
        return;
    }
    rh_json_open(j, '{');
    rh_json_key(j, "by_chance");
    rh_json_bool(j, t->by_chance);
    put_number(j, "p", t->p, 5);
    put_number(j, "q", t->q, 5);
    put_interval(j, "rate_difference", t->difference, 1);
    rh_json_close(j);
}

void rh_json_fitness(struct rh_json *j, const struct rh_fitness *fitness)
{
    rh_json_key(j, "rehearsal");
    rh_json_open(j, '{');
    rh_json_key(j, "verdict");
    rh_json_cstr(j, rh_fit_name(fitness->verdict));
    rh_json_key(j, "checks");
    rh_json_open(j, '[');
    for (int i = 0; i < RH_CHECKS; i++) {
        enum rh_check check = (enum rh_check) i;
        rh_json_open(j, '{');
        rh_json_key(j, "name");
        rh_json_cstr(j, rh_check_name(check));
        put_number(j, "actual", fitness->checks[i].actual, 7);
        put_number(j, "degraded_beyond", rh_check_limit(check, RH_FIT_DEGRADED), 7);
        put_number(j, "invalid_beyond", rh_check_limit(check, RH_FIT_INVALID), 7);
        rh_json_key(j, "result");
        rh_json_cstr(j, rh_check_state_name(fitness->checks[i].state));
        rh_json_key(j, "text");
        rh_json_cstr(j, rh_check_text(check));
        rh_json_close(j);
    }
    rh_json_close(j);
    rh_json_close(j);
}

/* Where the margin comes from. */
static void put_noise(struct rh_json *j, const struct rh_result *r)
{
    const struct rh_noise *noise = r->rule.noise;
    bool measured = noise && noise->margin > r->margin_given;
    rh_json_key(j, "noise");
    rh_json_open(j, '{');
    put_number(j, "margin_pct", 100 * r->rule.margin, 7);
    rh_json_key(j, "source");
    rh_json_cstr(j, measured ? "runs" : "option");
    put_number(j, "measured_pct", noise ? 100 * noise->margin : NAN, 7);
    rh_json_key(j, "run_pairs");
    rh_json_int(j, noise ? noise->pairs : 0);
    rh_json_key(j, "run_pairs_invalid");
    rh_json_int(j, noise ? noise->rejected : 0);
    rh_json_key(j, "noisier_queries");
    rh_json_int(j, r->noisier);
    rh_json_close(j);
}

void rh_json_test_rule(struct rh_json *j, const struct rh_result *r)
{
    const struct rh_test_rule *rule = &r->rule;
    rh_json_key(j, "rule");
    rh_json_open(j, '{');
    rh_json_key(j, "min_pairs");
    rh_json_int(j, rule->pairs_min);
    put_number(j, "margin_pct", 100 * r->margin_given, 7);
    put_number(j, "effect_pct", 100 * rule->effect, 7);
    put_number(j, "min_change_us", (double) rule->change_min_ns / 1e3, 7);
    put_number(j, "false_share", rule->false_share, 7);
    rh_json_close(j);
    put_noise(j, r);
}

void rh_json_verdict_counts(struct rh_json *j, const struct rh_result *r)
{
    rh_json_key(j, "verdicts");
    rh_json_open(j, '{');
    for (int i = 0; i < RH_QUERY_VERDICTS; i++) {
        const char *name = rh_query_verdict_name((enum rh_query_verdict) i);
        rh_json_key(j, name ? name : "untested");
        rh_json_int(j, r->verdicts[i]);
    }
    rh_json_close(j);
}
