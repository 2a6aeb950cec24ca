#include "diff/stat_section.h"

#include <math.h>
#include <string.h>

#include "diff/stat_distribution.h"
#include "diff/stat_quantile.h"

/* Beyond it the normal distribution is as good, and does not grow with n. */
enum { RANKS_EXACT_MAX = 10000 };

static void section_merge(struct rh_section *into, const struct rh_section *from)
{
    rh_hist_merge(&into->side[RH_BASE], &from->side[RH_BASE]);
    rh_hist_merge(&into->side[RH_CANDIDATE], &from->side[RH_CANDIDATE]);
}

static uint64_t section_count(const struct rh_section *s)
{
    return s->side[RH_BASE].count;
}

static void sections_release(struct rh_section *sections, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        rh_hist_release(&sections[i].side[RH_BASE]);
        rh_hist_release(&sections[i].side[RH_CANDIDATE]);
    }
}

/* Join neighbours until each has enough pairs, and not far fewer than the others; what is left at
 * the end goes to the last one.  Returns their number; joined[] takes RH_SECTIONS. */
static uint32_t join_sections(struct rh_section *joined, const struct rh_section *sections,
                              struct rh_section *all)
{
    memset(all, 0, sizeof *all);
    memset(joined, 0, RH_SECTIONS * sizeof *joined);
    for (int i = 0; i < RH_SECTIONS; i++) {
        section_merge(all, &sections[i]);
    }
    uint64_t enough = section_count(all) / (RH_SECTIONS + RH_SECTIONS / 2);
    if (enough < RH_SECTION_PAIRS_MIN) {
        enough = RH_SECTION_PAIRS_MIN;
    }
    uint32_t full = 0;
    for (int i = 0; i < RH_SECTIONS; i++) {
        section_merge(&joined[full], &sections[i]);
        full += section_count(&joined[full]) >= enough;
    }
    if (full > 0 && full < RH_SECTIONS) {
        section_merge(&joined[full - 1], &joined[full]);
        sections_release(&joined[full], 1);
    }
    return full;
}

static double log_ratio(const struct rh_section *s, double quantile)
{
    double base = (double) rh_hist_quantile(&s->side[RH_BASE], quantile);
    double candidate = (double) rh_hist_quantile(&s->side[RH_CANDIDATE], quantile);
    return log(fmax(candidate, 1) / fmax(base, 1));
}

int rh_estimate_quantile(struct rh_estimate *e, const struct rh_section *sections, double quantile)
{
    struct rh_section joined[RH_SECTIONS];
    struct rh_section all;
    uint32_t k = join_sections(joined, sections, &all);
    double squares = 0;

    *e = (struct rh_estimate){.log_ratio = log_ratio(&all, quantile), .batches = k};
    for (uint32_t i = 0; i < k; i++) {
        double distance = log_ratio(&joined[i], quantile) - e->log_ratio;
        squares += distance * distance;
    }
    sections_release(joined, RH_SECTIONS);
    sections_release(&all, 1);
    if (k < RH_SECTIONS_MIN) {
        return -1;
    }
    e->error = sqrt(squares / ((double) k * (k - 1)));
    e->df = k - 1;
    return 0;
}

double rh_quantile_design_effect(const struct rh_section *sections, enum rh_side side,
                                 double quantile)
{
    struct rh_section joined[RH_SECTIONS];
    struct rh_section all;
    uint32_t k = join_sections(joined, sections, &all);
    int64_t limit = rh_hist_quantile(&all.side[side], quantile);
    double n = (double) all.side[side].count;
    double share = n > 0 ? (double) rh_hist_count_above(&all.side[side], limit) / n : 0;
    double squares = 0;

    for (uint32_t i = 0; i < k; i++) {
        const struct rh_hist *h = &joined[i].side[side];
        double surplus = (double) rh_hist_count_above(h, limit) - share * (double) h->count;
        squares += surplus * surplus;
    }
    sections_release(joined, RH_SECTIONS);
    sections_release(&all, 1);
    if (k < RH_SECTIONS_MIN) {
        return NAN;
    }
    double expected = n * share * (1 - share);
    return expected > 0 ? fmax(1, squares * k / (k - 1) / expected) : 1;
}

struct rh_interval rh_quantile_interval(const struct rh_hist *h, double quantile, double confidence,
                                        double design_effect)
{
    struct rh_interval interval = {NAN, NAN};
    if (isnan(design_effect) || h->count == 0) {
        return interval;
    }
    double n = floor((double) h->count / design_effect);
    double low = 0, high = 0;
    if (n > RANKS_EXACT_MAX) {
        double half =
            rh_normal_quantile((1 + confidence) / 2) * sqrt(quantile * (1 - quantile) / n);
        low = quantile - half;
        high = quantile + half;
    } else if (n >= 1) {
        uint64_t ranks[2];
        rh_quantile_ranks((uint64_t) n, quantile, confidence, &ranks[0], &ranks[1]);
        low = (double) ranks[0] / n;
        high = (double) ranks[1] / n;
    }
    if (low > 0) {
        interval.low = (double) rh_hist_quantile(h, low);
    }
    if (high > 0 && high <= 1) {
        interval.high = (double) rh_hist_quantile(h, high);
    }
    return interval;
}

struct rh_interval rh_quantile_ratio_interval(double base, struct rh_interval of_base,
                                              double candidate, struct rh_interval of_candidate)
{
    double difference = log(candidate / base);
    double low = hypot(log(candidate / of_candidate.low), log(of_base.high / base));
    double high = hypot(log(of_candidate.high / candidate), log(base / of_base.low));
    bool known = base > 0 && candidate > 0 && of_base.low > 0 && of_candidate.low > 0;
    return (struct rh_interval){
        known && isfinite(low) ? exp(difference - low) : NAN,
        known && isfinite(high) ? exp(difference + high) : NAN,
    };
}
