#include "diff/html_query.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>

enum { DIGITS = 5, PLOT_DIGITS = 4, TEXT_MAX = 600 };

struct rh_span rh_html_cut(struct rh_span text, size_t max)
{
    if (text.len <= max) {
        return text;
    }
    while (max > 0 && ((unsigned char) text.data[max] & 0xc0) == 0x80) {
        max--;
    }
    return rh_span(text.data, max);
}

/* In the order of rh_html_query_row(). */
static const char *const columns[] = {
    "fingerprint",
    "verdict",
    "reason",
    "minor",
    "calls_base",
    "calls_candidate",
    "errors_base",
    "errors_candidate",
    "missing",
    "mean_us_base",
    "mean_us_candidate",
    "p95_us_base",
    "p95_us_candidate",
    "ratio",
    "ratio_low",
    "ratio_high",
    "q",
    "time_added_us",
    "relative_ratio",
    "relative_time_added_us",
    "time_added_pct",
    "twice_slower",
    "twice_faster",
    "rows_compared",
    "row_mismatches",
    "volatile",
    "sql",
    "sql_cut",
};

/* As far as the calls of a side tell them: of 60 calls none tells the 99th percentile. */
static const double quantiles[] = {0,    0.1,  0.25, 0.5,   0.75,  0.9,
                                   0.95, 0.98, 0.99, 0.995, 0.999, 0.9999};
enum { QUANTILES = sizeof quantiles / sizeof quantiles[0] };

void rh_html_query_names(struct rh_json *j)
{
    rh_json_key(j, "columns");
    rh_json_open(j, '[');
    for (size_t i = 0; i < sizeof columns / sizeof columns[0]; i++) {
        rh_json_cstr(j, columns[i]);
    }
    rh_json_close(j);
    rh_json_key(j, "quantiles");
    rh_json_open(j, '[');
    for (int i = 0; i < QUANTILES; i++) {
        rh_json_digits(j, quantiles[i], DIGITS);
    }
    rh_json_close(j);
    rh_json_key(j, "ratios_per_octave");
    rh_json_int(j, RH_RATIOS_PER_OCTAVE);
}

static void put_count(struct rh_json *j, uint64_t n)
{
    rh_json_int(j, n <= INT64_MAX ? (int64_t) n : INT64_MAX);
}

static void put_identity(struct rh_json *j, const struct rh_query_result *row)
{
    char text[17];
    snprintf(text, sizeof text, "%016" PRIx64, row->query->fingerprint);
    rh_json_cstr(j, row->is_other ? NULL : text);
    rh_json_cstr(j, rh_query_verdict_name(row->verdict));
    rh_json_cstr(j, row->why);
    rh_json_int(j, row->minor);
}

static void put_times(struct rh_json *j, const struct rh_query *q)
{
    for (int side = 0; side < RH_SIDES; side++) {
        rh_json_digits(j, rh_query_mean_ns(q, (enum rh_side) side) / 1e3, DIGITS);
    }
    for (int side = 0; side < RH_SIDES; side++) {
        rh_json_digits(j, rh_query_quantile_ns(q, (enum rh_side) side, 0.95) / 1e3, DIGITS);
    }
}

void rh_html_query_row(struct rh_json *j, const struct rh_query_result *row, uint32_t text_max)
{
    const struct rh_query *q = row->query;
    struct rh_interval interval = {NAN, NAN};
    struct rh_span sql =
        row->is_other ? RH_SPAN_LITERAL("(all other queries)") : rh_html_cut(q->sql, text_max);
    if (row->test.pairs > 0) {
        interval = rh_query_test_interval(&row->test, RH_MEASURE_MEAN);
    }
    rh_json_open(j, '[');
    put_identity(j, row);
    put_count(j, q->side[RH_BASE].calls);
    put_count(j, q->side[RH_CANDIDATE].calls);
    put_count(j, q->side[RH_BASE].errors);
    put_count(j, q->side[RH_CANDIDATE].errors);
    put_count(j, row->missing);
    put_times(j, q);
    rh_json_digits(j, row->ratio, DIGITS);
    rh_json_digits(j, interval.low, PLOT_DIGITS);
    rh_json_digits(j, interval.high, PLOT_DIGITS);
    rh_json_digits(j, rh_query_test_q(&row->test, row->ratio < 1 ? RH_FASTER : RH_SLOWER, NULL), 3);
    rh_json_digits(j, row->time_added_ns / 1e3, DIGITS);
    rh_json_digits(j, row->relative_ratio, DIGITS);
    rh_json_digits(j, row->relative_time_added_ns / 1e3, DIGITS);
    rh_json_digits(j, row->time_added_pct, DIGITS);
    put_count(j, row->test.slower);
    put_count(j, row->test.faster);
    put_count(j, q->pairs.rows_compared);
    put_count(j, q->pairs.row_mismatches);
    rh_json_cstr(j, rh_volatility_name(row->volatility));
    rh_json_text(j, sql);
    rh_json_int(j, !row->is_other && (q->sql_cut || sql.len < q->sql.len));
    rh_json_close(j);
}

enum end { AT, LOW, HIGH };

/* Of one side in us; null where the calls are too few. */
static void put_quantiles(struct rh_json *j, const char *key, const struct rh_query_result *row,
                          enum rh_side side, enum end end)
{
    uint64_t calls = row->query->side[side].service.count;
    rh_json_key(j, key);
    rh_json_open(j, '[');
    for (int i = 0; i < QUANTILES; i++) {
        double ns = NAN;
        if ((double) calls * (1 - quantiles[i]) >= 1 && end == AT) {
            ns = rh_query_quantile_ns(row->query, side, quantiles[i]);
        } else if ((double) calls * (1 - quantiles[i]) >= 1) {
            struct rh_interval interval = rh_query_quantile_interval(row, side, quantiles[i]);
            ns = end == LOW ? interval.low : interval.high;
        }
        rh_json_digits(j, ns / 1e3, PLOT_DIGITS);
    }
    rh_json_close(j);
}

/* The place of the first cell that is not empty, counted from a ratio of 1, and the cells up to the
 * last one. */
static void put_ratios(struct rh_json *j, const struct rh_pair_sums *sums)
{
    int first = 0;
    int end = RH_RATIO_CELLS;
    while (first < end && sums->ratios[first] == 0) {
        first++;
    }
    while (end > first && sums->ratios[end - 1] == 0) {
        end--;
    }
    rh_json_key(j, "ratios");
    rh_json_open(j, '[');
    rh_json_int(j, first - RH_RATIO_CELLS / 2);
    for (int i = first; i < end; i++) {
        put_count(j, sums->ratios[i]);
    }
    rh_json_close(j);
}

/* [ratio of the means, pairs] of each 32nd of the time; 0 where there are none. */
static void put_batches(struct rh_json *j, const struct rh_pair_sums *sums)
{
    rh_json_key(j, "batches");
    rh_json_open(j, '[');
    for (int i = 0; i < RH_BATCHES; i++) {
        const struct rh_batch *b = &sums->batches[i];
        if (b->base_ns == 0 || b->candidate_ns == 0) {
            rh_json_int(j, 0);
            continue;
        }
        rh_json_open(j, '[');
        rh_json_digits(j, (double) b->candidate_ns / (double) b->base_ns, PLOT_DIGITS);
        put_count(j, b->count);
        rh_json_close(j);
    }
    rh_json_close(j);
}

static void put_measures(struct rh_json *j, const struct rh_query_test *t)
{
    rh_json_key(j, "measures");
    rh_json_open(j, '{');
    for (int i = 0; i < RH_MEASURES && t->pairs > 0; i++) {
        const struct rh_measure_test *m = &t->measures[i];
        struct rh_interval interval = rh_query_test_interval(t, (enum rh_measure) i);
        if (!m->estimated) {
            continue;
        }
        rh_json_key(j, rh_measure_name((enum rh_measure) i));
        rh_json_open(j, '[');
        rh_json_digits(j, exp(m->estimate.log_ratio), DIGITS);
        rh_json_digits(j, interval.low, DIGITS);
        rh_json_digits(j, interval.high, DIGITS);
        rh_json_digits(j, m->tested ? m->q[RH_SLOWER] : NAN, 3);
        rh_json_digits(j, m->tested ? m->q[RH_FASTER] : NAN, 3);
        rh_json_digits(j, 100 * m->margin, 3);
        rh_json_close(j);
    }
    rh_json_close(j);
}

static void put_ref(struct rh_json *j, const struct rh_statement_ref *ref, enum rh_side side)
{
    rh_json_key(j, "part");
    rh_json_int(j, ref->part);
    rh_json_key(j, "session");
    rh_json_int(j, ref->session);
    rh_json_key(j, "ordinal");
    put_count(j, ref->ordinal);
    rh_json_key(j, "copy");
    rh_json_int(j, ref->copy);
    rh_json_key(j, "side");
    rh_json_cstr(j, side == RH_BASE ? "base" : "candidate");
}

void rh_html_example(struct rh_json *j, const char *key, const struct rh_statement_ref *ref,
                     enum rh_side side)
{
    rh_json_key(j, key);
    rh_json_open(j, '{');
    put_ref(j, ref, side);
    rh_json_close(j);
}

void rh_html_example_text(struct rh_json *j, struct rh_span text, bool is_cut)
{
    struct rh_span shown = rh_html_cut(text, TEXT_MAX);
    rh_json_key(j, "text");
    rh_json_text(j, shown);
    rh_json_key(j, "text_cut");
    rh_json_bool(j, is_cut || shown.len < text.len);
}

static void put_worst(struct rh_json *j, const struct rh_report *report,
                      const struct rh_slowed_pair *slowed)
{
    rh_json_key(j, "worst");
    if (slowed->ordinal == 0) {
        rh_json_null(j);
        return;
    }
    const struct rh_statement_ref ref = {.part = slowed->part,
                                         .session = slowed->session,
                                         .copy = slowed->copy,
                                         .ordinal = slowed->ordinal};
    rh_json_open(j, '{');
    put_ref(j, &ref, RH_BASE);
    rh_json_key(j, "base_us");
    rh_json_digits(j, (double) slowed->base_ns / 1e3, DIGITS);
    rh_json_key(j, "candidate_us");
    rh_json_digits(j, (double) slowed->candidate_ns / 1e3, DIGITS);
    const struct rh_example_text *e =
        report->examples ? rh_example_texts_find(report->examples, slowed) : NULL;
    if (e) {
        rh_html_example_text(j, rh_span(e->text, e->text_len), e->text_cut);
    }
    rh_json_close(j);
}

void rh_html_query_detail(struct rh_json *j, const struct rh_report *report,
                          const struct rh_query_result *row)
{
    const struct rh_query *q = row->query;
    struct rh_pair_sums sums;
    rh_pair_sums_make(&sums, &q->times, false);
    rh_json_open(j, '{');
    put_quantiles(j, "base", row, RH_BASE, AT);
    put_quantiles(j, "base_low", row, RH_BASE, LOW);
    put_quantiles(j, "base_high", row, RH_BASE, HIGH);
    put_quantiles(j, "candidate", row, RH_CANDIDATE, AT);
    put_quantiles(j, "candidate_low", row, RH_CANDIDATE, LOW);
    put_quantiles(j, "candidate_high", row, RH_CANDIDATE, HIGH);
    put_ratios(j, &sums);
    put_batches(j, &sums);
    rh_json_key(j, "pairs");
    put_count(j, row->test.pairs);
    rh_json_key(j, "confidence");
    rh_json_digits(j, row->test.pairs > 0 ? row->test.confidence : NAN, DIGITS);
    put_measures(j, &row->test);
    put_worst(j, report, &q->slowed);
    rh_html_example(j, "example", &q->example, q->example_side);
    rh_json_close(j);
    rh_pair_sums_release(&sums);
}
