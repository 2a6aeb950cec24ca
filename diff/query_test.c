#include "diff/query_test.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "common/alloc.h"
#include "diff/stat_distribution.h"
#include "diff/stat_multiple.h"
#include "diff/stat_rank.h"
#include "diff/stat_section.h"

struct rh_test_rule rh_test_rule_default(void)
{
    /* 2^-15, the least p that 15 pairs can have, passes the first step among a thousand queries. */
    return (struct rh_test_rule){.pairs_min = 15,
                                 .margin = 0.05,
                                 .effect = 0.10,
                                 .change_min_ns = 100000,
                                 .false_share = 0.05};
}

const char *rh_measure_name(enum rh_measure measure)
{
    static const char *const names[RH_MEASURES] = {"mean", "typical", "p95"};
    return names[measure];
}

static int order_distances(const void *a, const void *b)
{
    double x = fabs(*(const double *) a), y = fabs(*(const double *) b);
    return (x > y) - (x < y);
}

/* One-sided p of "the pairs' ratios are not above exp(shift)" by signed ranks; sign -1 turns all
 * round. */
static double ranks_p(const double *logs, uint32_t count, double shift, double sign)
{
    double distances[RH_PAIR_LIST_MAX];
    struct rh_sign_group groups[RH_PAIR_LIST_MAX];
    uint32_t group_count = 0;
    uint64_t zeros = 0;
    for (uint32_t i = 0; i < count; i++) {
        distances[i] = sign * logs[i] - shift;
    }
    qsort(distances, count, sizeof *distances, order_distances);
    for (uint32_t i = 0; i < count; i++) {
        if (distances[i] == 0) {
            zeros++;
            continue;
        }
        if (group_count == 0 || fabs(distances[i]) > fabs(distances[i - 1])) {
            groups[group_count++] = (struct rh_sign_group){0, 0};
        }
        groups[group_count - 1].plus += distances[i] > 0;
        groups[group_count - 1].minus += distances[i] < 0;
    }
    struct rh_signed_rank ranks;
    rh_signed_rank_make(&ranks, groups, group_count, zeros, RH_ZEROS_DROP);
    double exact = zeros ? NAN : rh_signed_rank_exact_greater_p(&ranks);
    return isnan(exact) ? rh_signed_rank_greater_p(&ranks) : exact;
}

static void test_by_ranks(struct rh_measure_test *m, const double *logs, uint32_t count,
                          const struct rh_test_rule *rule)
{
    double margin = log1p(m->margin), effect = log1p(rule->effect);
    m->tested = true;
    m->p[RH_SLOWER] = ranks_p(logs, count, margin, 1);
    m->p[RH_FASTER] = ranks_p(logs, count, margin, -1);
    /* "Below 1 + effect" is "the reverse is above -effect". */
    m->same_p = fmax(ranks_p(logs, count, -effect, -1), ranks_p(logs, count, -effect, 1));
}

static void test_by_error(struct rh_measure_test *m, const struct rh_test_rule *rule)
{
    double margin = 1 + m->margin, effect = 1 + rule->effect;
    m->tested = true;
    m->p[RH_SLOWER] = rh_estimate_above_p(&m->estimate, margin);
    m->p[RH_FASTER] = rh_estimate_below_p(&m->estimate, 1 / margin);
    m->same_p = fmax(rh_estimate_below_p(&m->estimate, effect),
                     rh_estimate_above_p(&m->estimate, 1 / effect));
}

/* The ln ratios of the list, but for the first call where it is apart. */
static uint32_t list_logs(const struct rh_pair_stat *times, bool without_first, double *logs)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < times->count; i++) {
        const struct rh_timed_pair *p = &times->list[i];
        if (!(without_first && p->is_first)) {
            double base = p->base_ns ? (double) p->base_ns : 1;
            logs[n++] = log((p->candidate_ns ? (double) p->candidate_ns : 1) / base);
        }
    }
    return n;
}

static double ascending_sum(double *values, uint32_t n)
{
    double sum = 0;
    qsort(values, n, sizeof *values, order_distances);
    for (uint32_t i = 0; i < n; i++) {
        sum += values[i];
    }
    return sum;
}

/* Of single pairs: what the error of their mean is at least. */
static double spread_error(const double *logs, uint32_t n, double mean)
{
    double squares[RH_PAIR_LIST_MAX];
    for (uint32_t i = 0; i < n; i++) {
        squares[i] = (logs[i] - mean) * (logs[i] - mean);
    }
    return sqrt(ascending_sum(squares, n) / ((double) n * (n - 1)));
}

/* The batches may be too few to tell the error of the typical pair; its own spread is known while
 * the pairs are listed. */
static void estimate_typical(struct rh_measure_test *m, const struct rh_pair_sums *sums,
                             const double *logs, uint32_t n)
{
    struct rh_estimate *e = &m->estimate;
    m->estimated = rh_estimate_typical(e, sums->batches, RH_BATCHES) == 0;
    if (n < 2) {
        return;
    }
    double spread = spread_error(logs, n, e->log_ratio);
    if (!m->estimated || spread > e->error) {
        e->error = spread;
        e->df = n - 1;
    }
    m->estimated = true;
}

static void count_batches(struct rh_query_test *t, const struct rh_pair_sums *sums,
                          uint32_t *batches, double *change_ns)
{
    double base = 0, candidate = 0;
    *batches = 0;
    for (int i = 0; i < RH_BATCHES; i++) {
        *batches += sums->batches[i].count > 0;
        base += (double) sums->batches[i].base_ns;
        candidate += (double) sums->batches[i].candidate_ns;
    }
    t->base_ns = base / (double) t->pairs;
    *change_ns = (candidate - base) / (double) t->pairs;
}

/* All sections of a side together; release it. */
static void join_sections(struct rh_hist *all, const struct rh_pair_sums *sums, enum rh_side side)
{
    rh_hist_init(all);
    for (int i = 0; i < RH_SECTIONS; i++) {
        rh_hist_merge(all, &sums->sections[i].side[side]);
    }
}

static double section_change_ns(const struct rh_pair_sums *sums, double quantile)
{
    double at[RH_SIDES];
    for (int side = 0; side < RH_SIDES; side++) {
        struct rh_hist all;
        join_sections(&all, sums, (enum rh_side) side);
        at[side] = (double) rh_hist_quantile(&all, quantile);
        rh_hist_release(&all);
    }
    return at[RH_CANDIDATE] - at[RH_BASE];
}

/* Too few pairs for a ratio of each section: from the two sides' own intervals. */
static void estimate_wide(struct rh_query_test *t, const struct rh_pair_sums *sums)
{
    struct rh_measure_test *p95 = &t->measures[RH_MEASURE_P95];
    struct rh_interval ends[RH_SIDES];
    double at[RH_SIDES];
    for (int side = 0; side < RH_SIDES; side++) {
        struct rh_hist all;
        join_sections(&all, sums, (enum rh_side) side);
        at[side] = (double) rh_hist_quantile(&all, 0.95);
        ends[side] = rh_quantile_interval(&all, 0.95, 0.95, t->design_effect[side][1]);
        rh_hist_release(&all);
    }
    p95->wide = rh_quantile_ratio_interval(at[RH_BASE], ends[RH_BASE], at[RH_CANDIDATE],
                                           ends[RH_CANDIDATE]);
    p95->is_wide = !isnan(p95->wide.low) || !isnan(p95->wide.high);
    p95->estimate =
        (struct rh_estimate){.log_ratio = log(at[RH_CANDIDATE] / at[RH_BASE]), .error = NAN};
    p95->estimated = p95->is_wide;
    p95->change_ns = at[RH_CANDIDATE] - at[RH_BASE];
}

static void test_sections(struct rh_query_test *t, const struct rh_pair_sums *sums,
                          const struct rh_test_rule *rule)
{
    static const double quantiles[] = {0.5, 0.95, 0.99};
    struct rh_measure_test *p95 = &t->measures[RH_MEASURE_P95];
    bool enough =
        sums->has_sections && t->pairs >= (uint64_t) RH_SECTIONS_MIN * RH_SECTION_PAIRS_MIN;
    for (int side = 0; side < RH_SIDES; side++) {
        for (int i = 0; i < 3; i++) {
            t->design_effect[side][i] =
                enough
                    ? rh_quantile_design_effect(sums->sections, (enum rh_side) side, quantiles[i])
                    : NAN;
        }
    }
    if (sums->has_sections && t->pairs >= RH_TEST_P95_PAIRS_MIN &&
        rh_estimate_quantile(&p95->estimate, sums->sections, 0.95) == 0) {
        p95->estimated = true;
        p95->change_ns = section_change_ns(sums, 0.95);
        test_by_error(p95, rule);
    } else if (enough) {
        estimate_wide(t, sums);
    }
}

static void test_pairs(struct rh_query_test *t, const struct rh_pair_stat *times,
                       const struct rh_pair_sums *sums, const struct rh_test_rule *rule)
{
    struct rh_measure_test *mean = &t->measures[RH_MEASURE_MEAN];
    struct rh_measure_test *typical = &t->measures[RH_MEASURE_TYPICAL];
    double logs[RH_PAIR_LIST_MAX];
    uint32_t n = list_logs(times, t->first_apart, logs);
    uint32_t batches;

    count_batches(t, sums, &batches, &mean->change_ns);
    typical->change_ns = mean->change_ns;
    mean->estimated = rh_estimate_mean(&mean->estimate, sums->batches, RH_BATCHES) == 0;
    estimate_typical(typical, sums, logs, n);
    test_sections(t, sums, rule);
    if (t->pairs < rule->pairs_min || t->pairs < 2) {
        t->why = RH_WHY_FEW;
    } else if (n > 0 && (n < RH_TEST_RANKS_BELOW || batches < RH_BATCHES_MIN)) {
        test_by_ranks(typical, logs, n, rule);
    } else if (mean->estimated) {
        test_by_error(mean, rule);
        test_by_error(typical, rule);
    } else {
        t->why = RH_WHY_BURST;
    }
    if (t->why) {
        t->measures[RH_MEASURE_P95].tested = false;
    }
}

void rh_query_test_make(struct rh_query_test *t, const struct rh_pair_stat *times,
                        const struct rh_test_rule *rule)
{
    *t = (struct rh_query_test){.confidence = 0.95};
    for (int i = 0; i < RH_MEASURES; i++) {
        t->measures[i].margin = fmax(rule->margin, rule->own_margin[i]);
    }
    if (times->lacks_pairs) {
        t->result = RH_TEST_UNDECIDED;
        t->why = RH_WHY_MEMORY;
        return;
    }
    if (times->count == 0 && !times->sums) {
        return;
    }
    for (uint32_t i = 0; i < times->count && times->count < RH_TEST_FIRST_APART; i++) {
        t->first_apart |= times->list[i].is_first;
    }
    struct rh_pair_sums sums;
    rh_pair_sums_make(&sums, times, t->first_apart);
    t->pairs = rh_pair_sums_count(&sums);
    t->slower = sums.slower;
    t->faster = sums.faster;
    t->result = RH_TEST_UNDECIDED;
    if (t->pairs > 0) {
        test_pairs(t, times, &sums, rule);
    } else {
        t->why = RH_WHY_FEW;
    }
    rh_pair_sums_release(&sums);
}

struct rh_interval rh_query_test_interval(const struct rh_query_test *t, enum rh_measure measure)
{
    const struct rh_measure_test *m = &t->measures[measure];
    if (!m->estimated) {
        return (struct rh_interval){NAN, NAN};
    }
    if (m->is_wide) {
        return m->wide;
    }
    return rh_estimate_interval(&m->estimate, t->confidence);
}

double rh_query_test_q(const struct rh_query_test *t, enum rh_direction direction,
                       enum rh_measure *measure)
{
    enum rh_measure best = RH_MEASURE_MEAN;
    double q = NAN;
    for (int i = 0; i < RH_MEASURES; i++) {
        const struct rh_measure_test *m = &t->measures[i];
        if (m->tested && !(m->q[direction] >= q)) {
            q = m->q[direction];
            best = (enum rh_measure) i;
        }
    }
    if (measure) {
        *measure = best;
    }
    return q;
}

/* Sets the q of one direction and returns how many tests were made and passed. */
static void adjust(struct rh_query_test **tests, size_t count, enum rh_direction direction,
                   double limit, size_t *made, size_t *passed)
{
    double *p = rh_calloc(count * RH_MEASURES + 1, sizeof *p);
    size_t n = 0;
    for (size_t i = 0; i < count * RH_MEASURES; i++) {
        const struct rh_measure_test *m = &tests[i / RH_MEASURES]->measures[i % RH_MEASURES];
        if (m->tested) {
            p[n++] = m->p[direction];
        }
    }
    rh_adjust_benjamini_hochberg(p, n, p);
    *made = n;
    *passed = 0;
    for (size_t i = 0, k = 0; i < count * RH_MEASURES; i++) {
        struct rh_measure_test *m = &tests[i / RH_MEASURES]->measures[i % RH_MEASURES];
        if (m->tested) {
            *passed += p[k] <= limit;
            m->q[direction] = p[k++];
        }
    }
    rh_free(p);
}

/* No change counts that is not beyond the noise. */
static double effect_of(const struct rh_measure_test *m, const struct rh_test_rule *rule)
{
    return fmax(rule->effect, m->margin);
}

/* Which way a measure says, with a sure enough and large enough effect; *small: but for the least
 * change. */
static bool measure_says(const struct rh_measure_test *m, enum rh_direction direction,
                         const struct rh_test_rule *rule, bool *small)
{
    double sign = direction == RH_SLOWER ? 1 : -1;
    /* A ratio of exactly 1 + effect counts, whatever its logarithm was rounded to. */
    if (!m->tested || m->q[direction] > rule->false_share ||
        sign * m->estimate.log_ratio < log1p(effect_of(m, rule)) - 1e-12) {
        return false;
    }
    bool enough = sign * m->change_ns >= (double) rule->change_min_ns;
    *small |= !enough;
    return enough;
}

static bool is_confirmed(const struct rh_query_test *t, double sign,
                         const struct rh_test_rule *rule)
{
    bool confirmed = false;
    for (int i = 0; i < RH_MEASURES; i++) {
        struct rh_interval interval = rh_query_test_interval(t, (enum rh_measure) i);
        double nearest = sign > 0 ? interval.low : 1 / interval.high;
        confirmed |= t->measures[i].tested && nearest > 1 + effect_of(&t->measures[i], rule);
    }
    return confirmed;
}

static bool is_same(const struct rh_query_test *t, const struct rh_test_rule *rule)
{
    const struct rh_measure_test *mean = &t->measures[RH_MEASURE_MEAN];
    const struct rh_measure_test *typical = &t->measures[RH_MEASURE_TYPICAL];
    double distance =
        fabs(mean->estimated ? mean->estimate.log_ratio : log1p(mean->change_ns / t->base_ns));
    if (fmax(mean->margin, typical->margin) > rule->effect) {
        return false; /* runs differ by more than that without any change */
    }
    return typical->tested && typical->same_p <= 0.05 && (!mean->tested || mean->same_p <= 0.05) &&
           distance < log1p(rule->effect);
}

static void decide(struct rh_query_test *t, const struct rh_test_rule *rule)
{
    bool says[RH_DIRECTIONS] = {false, false};
    bool small = false;
    if (t->result != RH_TEST_UNDECIDED) {
        return;
    }
    for (int i = 0; i < RH_MEASURES; i++) {
        for (int d = 0; d < RH_DIRECTIONS; d++) {
            says[d] |= measure_says(&t->measures[i], (enum rh_direction) d, rule, &small);
        }
    }
    if (says[RH_SLOWER] && says[RH_FASTER]) {
        /* The typical pair one way and the slowest ones the other: what the server pays tells. */
        says[RH_SLOWER] = t->measures[RH_MEASURE_MEAN].change_ns > 0;
        says[RH_FASTER] = !says[RH_SLOWER];
    }
    if (says[RH_SLOWER] || says[RH_FASTER]) {
        t->result = says[RH_SLOWER] ? RH_TEST_REGRESSED : RH_TEST_IMPROVED;
    } else if (is_same(t, rule)) {
        t->result = RH_TEST_SAME;
    } else if (!t->why) {
        t->why = small ? RH_WHY_SMALL : RH_WHY_NOISY;
    }
}

void rh_query_tests_decide(struct rh_query_test **tests, size_t count,
                           const struct rh_test_rule *rule)
{
    size_t made = 0;
    size_t passed[RH_DIRECTIONS];
    for (int d = 0; d < RH_DIRECTIONS; d++) {
        adjust(tests, count, (enum rh_direction) d, rule->false_share, &made, &passed[d]);
    }
    for (size_t i = 0; i < count; i++) {
        struct rh_query_test *t = tests[i];
        decide(t, rule);
        bool slower = t->result == RH_TEST_REGRESSED;
        if (slower || t->result == RH_TEST_IMPROVED) {
            /* Intervals of what was selected must be wider to hold as often (Benjamini, Yekutieli
             * 2005). */
            double chosen = (double) passed[slower ? RH_SLOWER : RH_FASTER];
            t->confidence = 1 - chosen * rule->false_share / (double) made;
            t->confirmed = is_confirmed(t, slower ? 1 : -1, rule);
        }
    }
}
