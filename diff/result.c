#include "diff/result.h"

#include <math.h>
#include <stdlib.h>

#include "common/alloc.h"
#include "diff/median.h"
#include "diff/noise.h"
#include "diff/stat_count.h"
#include "diff/stat_rank.h"
#include "diff/stat_section.h"
#include "diff/volatile_text.h"

/* Rows of a query that differ between runs of one side count where they differ so much more often
 * in the candidate. */
static const double BEYOND_TIMES = 10;
static const double BEYOND_P = 1e-3;

const char *rh_error_class_name(enum rh_error_class klass)
{
    static const char *const names[] = {
        [RH_ERROR_NEW] = "new",   [RH_ERROR_CHANGED] = "changed",
        [RH_ERROR_GONE] = "gone", [RH_ERROR_TYPES_UNKNOWN] = "types-unknown",
        [RH_ERROR_SAME] = "same",
    };
    return names[klass];
}

const char *rh_query_verdict_name(enum rh_query_verdict verdict)
{
    static const char *const names[RH_QUERY_VERDICTS] = {
        NULL, "regressed", "improved", "same", "undecided", "new", "gone"};
    return names[verdict];
}

const char *rh_volatility_name(enum rh_volatility volatility)
{
    static const char *const names[] = {NULL, "text", "runs"};
    return names[volatility];
}

static const double percentiles[] = {[RH_P50] = 0.5, [RH_P95] = 0.95, [RH_P99] = 0.99};

static struct rh_interval interval_at(const struct rh_query_result *row, enum rh_side side,
                                      enum rh_percentile nearest, double quantile)
{
    return rh_quantile_interval(&row->query->side[side].service, quantile, 0.95,
                                row->test.pairs > 0 ? row->test.design_effect[side][nearest] : NAN);
}

struct rh_interval rh_query_percentile_interval(const struct rh_query_result *row,
                                                enum rh_side side, enum rh_percentile percentile)
{
    return interval_at(row, side, percentile, percentiles[percentile]);
}

struct rh_interval rh_query_quantile_interval(const struct rh_query_result *row, enum rh_side side,
                                              double quantile)
{
    enum rh_percentile nearest = quantile < 0.725 ? RH_P50 : quantile < 0.97 ? RH_P95 : RH_P99;
    return interval_at(row, side, nearest, quantile);
}

double rh_query_mean_ns(const struct rh_query *q, enum rh_side side)
{
    const struct rh_hist *h = &q->side[side].service;
    return h->count ? rh_hist_mean(h) : NAN;
}

double rh_query_quantile_ns(const struct rh_query *q, enum rh_side side, double quantile)
{
    const struct rh_hist *h = &q->side[side].service;
    return h->count ? (double) rh_hist_quantile(h, quantile) : NAN;
}

static enum rh_query_verdict query_verdict(const struct rh_query *q)
{
    bool in_base = q->side[RH_BASE].calls + q->side[RH_BASE].missing > 0;
    bool in_candidate = q->side[RH_CANDIDATE].calls + q->side[RH_CANDIDATE].missing > 0;
    if (in_base && in_candidate) {
        return RH_QUERY_UNTESTED;
    }
    return in_base ? RH_QUERY_GONE : RH_QUERY_NEW;
}

/* The two means that may be set against each other; NAN where there are none. */
struct means {
    double base_ns;
    double candidate_ns;
};

static struct means compared_means(const struct rh_query *q, bool paired, uint64_t *compared)
{
    uint64_t n[RH_SIDES] = {q->pairs.timed, q->pairs.timed};
    uint64_t sum[RH_SIDES] = {q->pairs.base_ns, q->pairs.candidate_ns};
    if (!paired) {
        for (int side = 0; side < RH_SIDES; side++) {
            n[side] = q->side[side].comparable_count;
            sum[side] = q->side[side].comparable_ns;
        }
    }
    *compared = n[RH_BASE] < n[RH_CANDIDATE] ? n[RH_BASE] : n[RH_CANDIDATE];
    if (*compared == 0) {
        return (struct means){NAN, NAN};
    }
    return (struct means){(double) sum[RH_BASE] / (double) n[RH_BASE],
                          (double) sum[RH_CANDIDATE] / (double) n[RH_CANDIDATE]};
}

/* Whether rows differ far more often than between runs without a change.  Such differences come in
 * clumps, so that a test alone would find much. */
static bool differs_beyond(const struct rh_query_pairs *pairs, const struct rh_query_noise *noise)
{
    double share = (double) pairs->row_mismatches / (double) pairs->rows_compared;
    double usual = (double) noise->row_mismatches / (double) noise->rows_compared;
    return pairs->rows_compared > 0 && share >= BEYOND_TIMES * usual &&
           rh_fisher_p(noise->row_mismatches, noise->rows_compared, pairs->row_mismatches,
                       pairs->rows_compared) < BEYOND_P;
}

static void count_rows(struct rh_result *r, struct rh_query_result *row)
{
    const struct rh_query *q = row->query;
    if (!row->is_other && rh_volatile_text(q->sql)) {
        row->volatility = RH_VOLATILE_BY_TEXT;
    }
    /* Errors are judged by themselves: what failed in one run only says nothing of rows. */
    if (row->noise && row->noise->row_mismatches > 0) {
        row->volatility =
            differs_beyond(&q->pairs, row->noise) ? RH_VOLATILE_NOT : RH_VOLATILE_BY_RUNS;
    }
    if (row->volatility == RH_VOLATILE_NOT) {
        r->rows_compared += q->pairs.rows_compared;
        r->row_mismatches += q->pairs.row_mismatches;
    } else {
        r->volatile_queries++;
        r->volatile_compared += q->pairs.rows_compared;
        r->volatile_mismatches += q->pairs.row_mismatches;
    }
}

static void add_query(struct rh_result *r, const struct rh_query *q, bool is_other)
{
    const struct rh_comparison *c = r->comparison;
    struct rh_query_result *row = &r->queries[r->query_count++];
    *row = (struct rh_query_result){
        .query = q,
        .is_other = is_other,
        .verdict = query_verdict(q),
        .missing = c->paired ? q->pairs.missing : q->side[RH_CANDIDATE].missing,
        .relative_ratio = NAN,
        .relative_time_added_ns = NAN,
        .unpaired_p = NAN,
        .unpaired_share = NAN,
        .unpaired_shift_ns = NAN,
        .noise = r->rule.noise && !is_other ? rh_noise_find(r->rule.noise, q->fingerprint) : NULL,
    };
    count_rows(r, row);
    struct means means = compared_means(q, c->paired, &row->compared);
    double calls = (double) q->side[RH_BASE].calls;
    row->ratio = means.base_ns > 0 ? means.candidate_ns / means.base_ns : NAN;
    row->time_added_ns = (means.candidate_ns - means.base_ns) * calls;
    row->base_time_ns = means.base_ns * calls;
    if (!isnan(row->time_added_ns)) {
        r->base_time_ns += row->base_time_ns;
        r->time_added_ns += row->time_added_ns;
    }
}

static double median_ratio(const struct rh_result *r)
{
    double *ratios = rh_calloc(r->query_count, sizeof *ratios);
    size_t n = 0;
    for (uint32_t i = 0; i < r->query_count; i++) {
        if (!isnan(r->queries[i].ratio) && !r->queries[i].is_other) {
            ratios[n++] = r->queries[i].ratio;
        }
    }
    double median = n > 0 ? rh_doubles_median(ratios, n) : NAN;
    rh_free(ratios);
    return median;
}

static void set_relative(struct rh_result *r)
{
    r->median_shift = median_ratio(r);
    if (!(r->median_shift > 0)) {
        return;
    }
    for (uint32_t i = 0; i < r->query_count; i++) {
        struct rh_query_result *row = &r->queries[i];
        uint64_t compared;
        struct means means = compared_means(row->query, r->comparison->paired, &compared);
        row->relative_ratio = row->ratio / r->median_shift;
        /* Not times all calls: most of a query's may lack their commit in the log, and a few that
         * do not would speak for them. */
        row->relative_time_added_ns =
            (means.candidate_ns / r->median_shift - means.base_ns) * (double) compared;
    }
}

/* Larger first, unknown last. */
static int order_unknown_last(double a, double b)
{
    if (isnan(a) || isnan(b)) {
        return isnan(a) - isnan(b);
    }
    return (a < b) - (a > b);
}

static int order_queries(const void *a, const void *b)
{
    const struct rh_query_result *x = a;
    const struct rh_query_result *y = b;
    int order = order_unknown_last(x->relative_time_added_ns, y->relative_time_added_ns);
    if (order == 0) {
        order = order_unknown_last(x->time_added_ns, y->time_added_ns);
    }
    if (order == 0) {
        uint64_t m = x->query->side[RH_BASE].calls + x->query->side[RH_CANDIDATE].calls;
        uint64_t n = y->query->side[RH_BASE].calls + y->query->side[RH_CANDIDATE].calls;
        order = (m < n) - (m > n);
    }
    if (order == 0) {
        order = (x->query->fingerprint > y->query->fingerprint) -
                (x->query->fingerprint < y->query->fingerprint);
    }
    return order;
}

/* Two histograms of one kind, as groups of equal values. */
static void compare_unpaired(struct rh_query_result *row)
{
    const struct rh_hist *base = &row->query->side[RH_BASE].service;
    const struct rh_hist *candidate = &row->query->side[RH_CANDIDATE].service;
    struct rh_rank_group *groups = rh_calloc(RH_HIST_MAX_CELLS, sizeof *groups);
    double *values = rh_calloc(RH_HIST_MAX_CELLS, sizeof *values);
    uint32_t count = 0;
    struct rh_mann_whitney test;
    for (uint32_t i = 0; i < base->cell_count; i++) {
        groups[base->first_cell + i].b = base->cells[i];
    }
    for (uint32_t i = 0; i < candidate->cell_count; i++) {
        groups[candidate->first_cell + i].a = candidate->cells[i];
    }
    if (base->count > 0 && candidate->count > 0) {
        rh_mann_whitney_make(&test, groups, RH_HIST_MAX_CELLS);
        row->unpaired_p = rh_mann_whitney_p(&test, true);
        row->unpaired_share = test.share;
        for (uint32_t i = 0; i < RH_HIST_MAX_CELLS; i++) {
            if (groups[i].a + groups[i].b > 0) {
                groups[count] = groups[i];
                values[count++] = (double) rh_hist_cell_middle(i);
            }
        }
        row->unpaired_shift_ns = rh_hodges_lehmann(groups, values, count);
    }
    rh_free(values);
    rh_free(groups);
}

/* Why nothing was tested, in a word for programs. */
static const char *why_untested(const struct rh_result *r, const struct rh_query_result *row)
{
    const struct rh_query *q = row->query;
    if (row->is_other) {
        return "other-queries";
    }
    if (rh_result_withholds(r)) {
        return "invalid";
    }
    if (r->latency != RH_LATENCY_ABSOLUTE) {
        return r->latency == RH_LATENCY_RELATIVE ? "vantage" : "no-times";
    }
    if (!r->comparison->paired) {
        return "unpaired";
    }
    return q->pairs.timed > 0 && q->side[RH_BASE].commit_not_timed > 0 ? "commit-not-timed"
                                                                       : "no-pairs";
}

static void set_verdict(struct rh_result *r, struct rh_query_result *row)
{
    static const enum rh_query_verdict verdicts[] = {
        [RH_TEST_NONE] = RH_QUERY_UNTESTED,       [RH_TEST_REGRESSED] = RH_QUERY_REGRESSED,
        [RH_TEST_IMPROVED] = RH_QUERY_IMPROVED,   [RH_TEST_SAME] = RH_QUERY_SAME,
        [RH_TEST_UNDECIDED] = RH_QUERY_UNDECIDED,
    };
    if (row->verdict == RH_QUERY_UNTESTED) {
        row->verdict = verdicts[row->test.result];
        row->why = row->test.result == RH_TEST_NONE ? why_untested(r, row) : row->test.why;
    }
    row->base_time_pct = row->time_added_pct = NAN;
    if (!isnan(row->time_added_ns) && r->base_time_ns > 0) {
        row->base_time_pct = 100 * row->base_time_ns / r->base_time_ns;
        row->time_added_pct = 100 * row->time_added_ns / r->base_time_ns;
        row->minor = (row->verdict == RH_QUERY_REGRESSED || row->verdict == RH_QUERY_IMPROVED) &&
                     fabs(row->time_added_pct) < RH_IMPACT_MINOR_PCT;
    }
    r->verdicts[row->verdict]++;
    r->regressed += row->verdict == RH_QUERY_REGRESSED && !row->minor;
    r->tested += row->test.measures[RH_MEASURE_TYPICAL].tested;
}

/* The rule for one query. */
static struct rh_test_rule rule_for(struct rh_result *r, const struct rh_query_noise *own)
{
    struct rh_test_rule rule = r->rule;
    bool noisier = false;
    for (int i = 0; own && i < RH_MEASURES; i++) {
        rule.own_margin[i] = own->margin[i];
        noisier |= own->margin[i] > rule.margin;
    }
    r->noisier += noisier;
    return rule;
}

static void test_queries(struct rh_result *r)
{
    struct rh_query_test **tests = rh_calloc(r->query_count + 1, sizeof(struct rh_query_test *));
    size_t count = 0;
    for (uint32_t i = 0; i < r->query_count; i++) {
        struct rh_query_result *row = &r->queries[i];
        if (r->latency != RH_LATENCY_ABSOLUTE || row->is_other || rh_result_withholds(r)) {
            continue;
        }
        if (r->comparison->paired) {
            struct rh_test_rule rule = rule_for(r, row->noise);
            rh_query_test_make(&row->test, &row->query->times, &rule);
            tests[count++] = &row->test;
        } else {
            compare_unpaired(row);
        }
    }
    rh_query_tests_decide(tests, count, &r->rule);
    rh_free(tests);
    for (uint32_t i = 0; i < r->query_count; i++) {
        set_verdict(r, &r->queries[i]);
    }
}

static void collect_queries(struct rh_result *r)
{
    const struct rh_query_table *t = &r->comparison->queries;
    r->queries = rh_calloc(t->count, sizeof *r->queries);
    for (uint32_t i = 0; i < t->count; i++) {
        const struct rh_query *q = &t->items[i];
        /* A text that was only prepared or fetched from is no statement. */
        if (q->has_example) {
            add_query(r, q, i == RH_QUERY_OTHER);
        }
    }
}

static void judge_queries(struct rh_result *r)
{
    if (r->latency == RH_LATENCY_RELATIVE) {
        set_relative(r);
    }
    qsort(r->queries, r->query_count, sizeof *r->queries, order_queries);
    test_queries(r);
    r->time_added_pct = r->base_time_ns > 0 ? 100 * r->time_added_ns / r->base_time_ns : NAN;
}

static enum rh_error_class error_class(const struct rh_error_group *g)
{
    uint64_t base = g->counts[RH_BASE];
    uint64_t candidate = g->counts[RH_CANDIDATE];
    if (base == 0) {
        bool explained =
            g->untyped[RH_CANDIDATE] == candidate && rh_sqlstate_is_of_types(g->sqlstate);
        return explained ? RH_ERROR_TYPES_UNKNOWN : RH_ERROR_NEW;
    }
    if (candidate == 0) {
        return RH_ERROR_GONE;
    }
    return base == candidate ? RH_ERROR_SAME : RH_ERROR_CHANGED;
}

/* Causes before what follows from them, then the most frequent. */
static int order_errors(const void *a, const void *b)
{
    const struct rh_error_result *x = a;
    const struct rh_error_result *y = b;
    if (x->klass != y->klass) {
        return x->klass < y->klass ? -1 : 1;
    }
    if (x->follows != y->follows) {
        return x->follows ? 1 : -1;
    }
    uint64_t m = x->group->counts[RH_BASE] + x->group->counts[RH_CANDIDATE];
    uint64_t n = y->group->counts[RH_BASE] + y->group->counts[RH_CANDIDATE];
    if (m != n) {
        return m > n ? -1 : 1;
    }
    if (x->group->sqlstate != y->group->sqlstate) {
        return x->group->sqlstate < y->group->sqlstate ? -1 : 1;
    }
    return (x->group->query > y->group->query) - (x->group->query < y->group->query);
}

static void test_errors(struct rh_result *r)
{
    struct rh_error_test **tests = rh_calloc(r->error_count + 1, sizeof(struct rh_error_test *));
    for (uint32_t i = 0; i < r->error_count; i++) {
        rh_error_test_make(&r->errors[i].test, r->comparison, r->errors[i].group);
        tests[i] = &r->errors[i].test;
    }
    rh_error_tests_decide(tests, r->error_count, r->rule.false_share);
    rh_free(tests);
    for (uint32_t i = 0; i < r->error_count; i++) {
        const struct rh_error_result *e = &r->errors[i];
        uint64_t causes = e->group->counts[RH_CANDIDATE] - e->group->follows[RH_CANDIDATE];
        if (e->klass != RH_ERROR_NEW || causes == 0) {
            continue;
        }
        if (e->test.by_chance) {
            r->new_by_chance += causes;
        } else {
            r->new_errors += causes;
            r->new_error_groups++;
        }
    }
}

static void make_errors(struct rh_result *r)
{
    const struct rh_error_table *t = &r->comparison->errors;
    r->errors = rh_calloc(t->count, sizeof *r->errors);
    for (uint32_t i = 0; i < t->count; i++) {
        const struct rh_error_group *g = &t->items[i];
        uint64_t count = g->counts[RH_BASE] + g->counts[RH_CANDIDATE];
        if (count == 0) {
            continue;
        }
        struct rh_error_result *e = &r->errors[r->error_count++];
        *e = (struct rh_error_result){
            .group = g,
            .is_other = i == RH_ERROR_OTHER,
            .klass = error_class(g),
            .follows = g->follows[RH_BASE] + g->follows[RH_CANDIDATE] == count,
        };
    }
    test_errors(r);
    qsort(r->errors, r->error_count, sizeof *r->errors, order_errors);
}

static void make_dimensions(struct rh_result *r)
{
    const struct rh_comparison *c = r->comparison;
    bool tested = rh_result_judges_times(r);
    for (int i = 0; i < RH_DIMENSIONS; i++) {
        rh_dimension_result_make(&r->dimensions[i], &c->dimensions, (enum rh_dimension) i, &r->rule,
                                 tested);
    }
}

void rh_result_make(struct rh_result *r, const struct rh_comparison *c,
                    const struct rh_test_rule *rule)
{
    const struct rh_side_summary *candidate = &c->side[RH_CANDIDATE];
    *r = (struct rh_result){
        .comparison = c,
        .latency = c->same_vantage ? RH_LATENCY_ABSOLUTE : RH_LATENCY_RELATIVE,
        .median_shift = NAN,
        .rule = rule ? *rule : rh_test_rule_default(),
        .complete = rh_comparison_is_whole(c),
        .missing = c->paired ? c->pairs.missing
                             : candidate->skipped + candidate->not_sent + candidate->lost,
    };
    for (int side = 0; side < RH_SIDES; side++) {
        if (c->side[side].timed == 0) {
            r->latency = RH_LATENCY_NONE;
        }
    }
    r->margin_given = r->rule.margin;
    if (r->rule.noise && r->rule.noise->margin > r->rule.margin) {
        r->rule.margin = r->rule.noise->margin;
    }
    collect_queries(r);
    rh_fitness_make(&r->fitness, c, r->rows_compared, r->row_mismatches, r->rule.noise);
    judge_queries(r);
    make_errors(r);
    make_dimensions(r);
}

bool rh_result_withholds(const struct rh_result *r)
{
    return r->fitness.verdict == RH_FIT_INVALID && !r->rule.judge_anyway;
}

bool rh_result_judges_times(const struct rh_result *r)
{
    return r->latency == RH_LATENCY_ABSOLUTE && r->comparison->paired && !rh_result_withholds(r);
}

void rh_result_release(struct rh_result *r)
{
    for (int i = 0; i < RH_DIMENSIONS; i++) {
        rh_dimension_result_release(&r->dimensions[i]);
    }
    rh_free(r->queries);
    rh_free(r->errors);
    *r = (struct rh_result){0};
}
