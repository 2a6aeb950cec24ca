#include <math.h>
#include <stdio.h>

#include "common/noun.h"
#include "diff/text_page.h"

/* The numbers that the tables rank by: relative ones where the vantages differ. */
static double shown_added_ns(const struct rh_text_page *p, const struct rh_query_result *row)
{
    return p->result->latency == RH_LATENCY_RELATIVE ? row->relative_time_added_ns
                                                     : row->time_added_ns;
}

static double shown_ratio(const struct rh_text_page *p, const struct rh_query_result *row)
{
    return p->result->latency == RH_LATENCY_RELATIVE ? row->relative_ratio : row->ratio;
}

/* In percent of the base's time, of the same kind as the time added beside it. */
static double shown_share_pct(const struct rh_text_page *p, const struct rh_query_result *row)
{
    return p->result->latency == RH_LATENCY_RELATIVE
               ? 100 * row->relative_time_added_ns / p->result->base_time_ns
               : row->time_added_pct;
}

/* "SLOWER QUERIES, by time added", and where nothing is judged that it is no verdict. */
static void page_queries_heading(struct rh_text_page *p, const char *slower, const char *added)
{
    char heading[140];
    char shift[RH_HUMAN_SIZE];
    if (p->result->latency == RH_LATENCY_RELATIVE) {
        snprintf(heading, sizeof heading,
                 "%s THAN THE MEDIAN SHIFT OF %s, by time %s relative to it: a ranking, no verdict",
                 slower, rh_human_ratio(p->result->median_shift, shift), added);
    } else {
        snprintf(heading, sizeof heading, "%s QUERIES, by time %s%s", slower, added,
                 rh_result_judges_times(p->result) ? "" : ": a ranking, no verdict");
    }
    rh_page_heading(p, heading);
}

static void page_columns(struct rh_text_page *p)
{
    bool relative = p->result->latency == RH_LATENCY_RELATIVE;
    rh_buf_addf(p->out, "%4s %-9s %10s %8s %8s %15s %10s %9s %9s %9s %9s\n", "#", "verdict",
                relative ? "rel. added" : "time added", relative ? "rel. %" : "of base",
                relative ? "rel." : "ratio", "interval", "calls", "mean", "mean", "p95", "p95");
    rh_buf_addf(p->out, "%4s %-9s %10s %8s %8s %15s %10s %9s %9s %9s %9s\n", "", "", "", "", "",
                "of mean ratio", "base", "base", "cand.", "base", "cand.");
}

/* "2.40 - 2.81" */
static char *interval_text(const struct rh_query_result *row, char text[RH_HUMAN_SIZE])
{
    struct rh_interval i = rh_query_test_interval(&row->test, RH_MEASURE_MEAN);
    int decimals = i.high < 99.995 ? 2 : 0;
    if (row->test.pairs == 0 || isnan(i.low)) {
        snprintf(text, RH_HUMAN_SIZE, "-");
    } else if (i.low < 0.005 || i.high >= 999.5) {
        snprintf(text, RH_HUMAN_SIZE, "unknown");
    } else {
        snprintf(text, RH_HUMAN_SIZE, "%.*f - %.*f", decimals, i.low, decimals, i.high);
    }
    return text;
}

static void page_query_verdict(struct rh_text_page *p, const struct rh_query_result *row)
{
    enum rh_emphasis emphasis = rh_page_emphasis(rh_query_verdict_tone(row));
    rh_page_begin(p, emphasis);
    rh_buf_addf(p->out, "%-9s", rh_query_verdict_word(row));
    rh_page_end(p, emphasis);
}

static void page_query_row(struct rh_text_page *p, uint32_t rank, const struct rh_query_result *row)
{
    const struct rh_query *q = row->query;
    char text[9][RH_HUMAN_SIZE];
    char share[RH_HUMAN_SIZE] = "-";
    if (isfinite(shown_share_pct(p, row))) {
        snprintf(share, sizeof share, "%+.1f %%", shown_share_pct(p, row));
    }
    rh_buf_addf(p->out, "%4u ", rank);
    page_query_verdict(p, row);
    rh_buf_addf(p->out, " %10s %8s %8s %15s %10s %9s %9s %9s %9s\n",
                rh_human_duration_signed(shown_added_ns(p, row), text[0]), share,
                rh_human_ratio(shown_ratio(p, row), text[1]), interval_text(row, text[2]),
                rh_human_count(q->side[RH_BASE].calls, text[3]),
                rh_human_duration(rh_query_mean_ns(q, RH_BASE), text[4]),
                rh_human_duration(rh_query_mean_ns(q, RH_CANDIDATE), text[5]),
                rh_human_duration(rh_query_quantile_ns(q, RH_BASE, 0.95), text[6]),
                rh_human_duration(rh_query_quantile_ns(q, RH_CANDIDATE, 0.95), text[7]));
    rh_page_query(p, (uint32_t) (q - p->comparison->queries.items));
}

/* Ranked by time added, so the slower ones are at the start and the faster ones before those whose
 * times cannot be compared. */
static void page_slower(struct rh_text_page *p)
{
    const struct rh_result *r = p->result;
    uint32_t slower = 0;
    while (slower < r->query_count && shown_added_ns(p, &r->queries[slower]) > 0) {
        slower++;
    }
    if (slower == 0) {
        rh_page_heading(p, p->result->latency == RH_LATENCY_RELATIVE
                               ? "SLOWER THAN THE MEDIAN SHIFT: none"
                               : "SLOWER QUERIES: none");
        return;
    }
    page_queries_heading(p, "SLOWER", "added");
    page_columns(p);
    uint32_t i = 0;
    for (; i < slower && i < p->report->limit; i++) {
        page_query_row(p, i + 1, &r->queries[i]);
    }
    rh_page_rest(p, slower, i);
}

static void page_faster(struct rh_text_page *p)
{
    const struct rh_result *r = p->result;
    uint32_t end = r->query_count;
    while (end > 0 && isnan(shown_added_ns(p, &r->queries[end - 1]))) {
        end--;
    }
    uint32_t faster = 0;
    while (faster < end && shown_added_ns(p, &r->queries[end - 1 - faster]) < 0) {
        faster++;
    }
    if (faster == 0) {
        return;
    }
    page_queries_heading(p, "FASTER", "saved");
    page_columns(p);
    uint32_t i = 0;
    for (; i < faster && i < p->report->limit; i++) {
        page_query_row(p, i + 1, &r->queries[end - 1 - i]);
    }
    rh_page_rest(p, faster, i);
}

static void page_one_sided(struct rh_text_page *p, enum rh_query_verdict verdict, enum rh_side side,
                           const char *heading)
{
    const struct rh_result *r = p->result;
    uint64_t count = 0;
    uint64_t shown = 0;
    for (uint32_t i = 0; i < r->query_count; i++) {
        const struct rh_query_result *row = &r->queries[i];
        char calls[RH_HUMAN_SIZE];
        char mean[RH_HUMAN_SIZE];
        if (row->verdict != verdict) {
            continue;
        }
        if (count++ == 0) {
            rh_page_heading(p, heading);
        }
        if (shown < p->report->limit) {
            shown++;
            rh_buf_addf(p->out, "  %12s call%s, mean %s\n",
                        rh_human_count(row->query->side[side].calls, calls),
                        rh_plural(row->query->side[side].calls),
                        rh_human_duration(rh_query_mean_ns(row->query, side), mean));
            rh_page_query(p, (uint32_t) (row->query - p->comparison->queries.items));
        }
    }
    rh_page_rest(p, count, shown);
}

/* Queries of both sides whose times could not be set against each other must not look unchanged. */
static void page_not_compared(struct rh_text_page *p)
{
    const struct rh_result *r = p->result;
    uint64_t queries = 0;
    uint64_t commits = 0;
    char n[RH_HUMAN_SIZE];
    for (uint32_t i = 0; i < r->query_count; i++) {
        const struct rh_query_result *row = &r->queries[i];
        bool both = row->verdict != RH_QUERY_NEW && row->verdict != RH_QUERY_GONE;
        if (both && isnan(row->ratio)) {
            queries++;
            commits += row->query->side[RH_BASE].commit_not_timed > 0 ||
                       row->query->side[RH_CANDIDATE].commit_not_timed > 0;
        }
    }
    if (queries > 0 && r->latency != RH_LATENCY_NONE) {
        rh_buf_addf(p->out, "\nTimes of %s more quer%s not compared: ", rh_human_count(queries, n),
                    rh_noun(queries, "y are", "ies are"));
        rh_buf_add_cstr(p->out, "no statement of them succeeded on both sides with a time");
        if (commits > 0) {
            rh_buf_addf(p->out, ",\nor their times in the log lack the commit (%s quer%s)",
                        rh_human_count(commits, n), rh_noun(commits, "y", "ies"));
        }
        rh_buf_add_cstr(p->out, ".\n");
    }
}

void rh_page_queries(struct rh_text_page *p)
{
    if (p->result->latency != RH_LATENCY_NONE) {
        page_slower(p);
        page_faster(p);
    }
    page_not_compared(p);
    page_one_sided(p, RH_QUERY_NEW, RH_CANDIDATE, "NEW QUERIES, only in the candidate");
    page_one_sided(p, RH_QUERY_GONE, RH_BASE, "GONE QUERIES, only in the base");
    if (p->comparison->queries.refused > 0) {
        rh_buf_addf(p->out,
                    "\nThere are more queries than are counted one by one (%u): the others are "
                    "counted together.\n",
                    p->comparison->queries.count - 1);
    }
}
