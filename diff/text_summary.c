#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "diff/text_page.h"

/* The first lines answer: did anything get slower, what, how much, how sure; what fails now; can
 * this comparison be trusted. */

static void page_gate_verdict(struct rh_text_page *p)
{
    static const char *const words[] = {"No gates were given: nothing fails by this page.", "PASS",
                                        "FAIL", "CANNOT JUDGE"};
    static const enum rh_emphasis emphasis[] = {RH_PLAIN, RH_GREEN, RH_RED, RH_YELLOW};
    const struct rh_report *report = p->report;

    rh_page_begin(p, emphasis[report->verdict]);
    rh_buf_add_cstr(p->out, words[report->verdict]);
    rh_page_end(p, emphasis[report->verdict]);
    const char *separator = ": ";
    for (size_t i = 0; i < report->gate_count; i++) {
        const struct rh_gate *g = &report->gates[i];
        if (g->state == RH_GATE_FAIL) {
            rh_buf_addf(p->out, "%s%s %.10g > %.10g", separator, rh_gate_name(g->kind), g->actual,
                        g->limit);
            separator = ", ";
        }
    }
    rh_buf_add_byte(p->out, '\n');
}

static void page_label(struct rh_text_page *p, const char *label, enum rh_emphasis emphasis)
{
    rh_page_begin(p, emphasis);
    rh_buf_addf(p->out, "%-8s", label);
    rh_page_end(p, emphasis);
}

static const enum rh_emphasis fit_emphasis[] = {RH_GREEN, RH_YELLOW, RH_RED, RH_PLAIN};

/* The checks that are worst, as many as fit. */
static void page_fitness(struct rh_text_page *p)
{
    static const char *const words[] = {"VALID", "DEGRADED", "INVALID"};
    const struct rh_fitness *f = &p->result->fitness;
    size_t start = p->out->len;
    page_label(p, "Trust", fit_emphasis[f->verdict]);
    rh_buf_addf(p->out, "the rehearsal is %s", words[f->verdict]);
    if (rh_result_withholds(p->result)) {
        rh_buf_add_cstr(p->out, " and judges no query");
    }
    const char *separator = ": ";
    for (int i = 0; i < RH_CHECKS; i++) {
        enum rh_check check = (enum rh_check) i;
        if (f->verdict == RH_FIT_VALID || f->checks[i].state != f->verdict) {
            continue;
        }
        if (p->out->len - start > RH_PAGE_COLUMNS - 40) {
            rh_buf_add_cstr(p->out, ", ...");
            break;
        }
        rh_buf_addf(p->out, "%s%s %.4g", separator, rh_check_name(check), f->checks[i].actual);
        separator = ", ";
    }
    rh_buf_add_byte(p->out, '\n');
}

void rh_page_checks(struct rh_text_page *p)
{
    const struct rh_fitness *f = &p->result->fitness;
    rh_page_heading(p, "CHECKS OF THE REHEARSAL");
    for (int i = 0; i < RH_CHECKS; i++) {
        enum rh_check check = (enum rh_check) i;
        enum rh_fit state = f->checks[i].state;
        rh_buf_addf(p->out, "  %-20s ", rh_check_name(check));
        if (state == RH_FIT_UNKNOWN) {
            rh_buf_addf(p->out, "%10s ", "-");
        } else {
            rh_buf_addf(p->out, "%10.6g ", f->checks[i].actual);
        }
        rh_page_begin(p, fit_emphasis[state]);
        rh_buf_addf(p->out, "%-8s", rh_check_state_name(state));
        rh_page_end(p, fit_emphasis[state]);
        rh_buf_addf(p->out, "  %s\n", rh_check_text(check));
    }
}

/* "12.10x to 15.00x (99.8 %), q 3e-12", of the measure that says most surely. */
static void page_how_sure(struct rh_text_page *p, const struct rh_query_test *t,
                          enum rh_direction direction)
{
    enum rh_measure best = RH_MEASURE_MEAN;
    double q = INFINITY;
    char a[RH_HUMAN_SIZE];
    char b[RH_HUMAN_SIZE];
    for (int i = 0; i < RH_MEASURES; i++) {
        if (t->measures[i].tested && t->measures[i].q[direction] < q) {
            q = t->measures[i].q[direction];
            best = (enum rh_measure) i;
        }
    }
    struct rh_interval interval = rh_query_test_interval(t, best);
    rh_buf_addf(p->out, "%s %s to %s (%.4g %% sure), q ", rh_measure_name(best),
                rh_human_ratio(interval.low, a), rh_human_ratio(interval.high, b),
                100 * t->confidence);
    rh_buf_addf(p->out, q < 1e-9 ? "< 1e-9" : "%.1e", q);
}

/* The queries of one verdict together, and the one that matters most of them. */
static void page_changed(struct rh_text_page *p, enum rh_query_verdict verdict)
{
    const struct rh_result *r = p->result;
    const struct rh_query_result *first = NULL;
    bool slower = verdict == RH_QUERY_REGRESSED;
    uint32_t count = 0;
    double added_ns = 0;
    char a[RH_HUMAN_SIZE];
    char b[RH_HUMAN_SIZE];

    for (uint32_t i = 0; i < r->query_count; i++) {
        const struct rh_query_result *row = &r->queries[i];
        if (row->verdict == verdict && !row->minor) {
            first = first && slower ? first : row; /* ranked by time added */
            added_ns += row->time_added_ns;
            count++;
        }
    }
    page_label(p, slower ? "Slower" : "Faster", !count ? RH_PLAIN : slower ? RH_RED : RH_GREEN);
    if (!first) {
        rh_buf_addf(p->out, "no query %s", slower ? "regressed" : "improved");
    } else {
        rh_buf_addf(p->out, "%s quer%s %s: %s (%+.1f %% of the base's time)",
                    rh_human_count(count, a), count == 1 ? "y" : "ies",
                    slower ? "regressed" : "improved", rh_human_duration_signed(added_ns, b),
                    100 * added_ns / r->base_time_ns);
    }
    uint32_t minor = r->verdicts[verdict] - count;
    if (minor > 0) {
        rh_buf_addf(p->out, "%s %s of less than %.1f %% of it", first ? "; and" : " but",
                    rh_human_count(minor, a), RH_IMPACT_MINOR_PCT);
    }
    rh_buf_add_byte(p->out, '\n');
    if (first) {
        rh_buf_addf(p->out, "        %016" PRIx64 " %s, %s: ", first->query->fingerprint,
                    rh_human_duration_signed(first->time_added_ns, a),
                    rh_human_ratio(first->ratio, b));
        page_how_sure(p, &first->test, slower ? RH_SLOWER : RH_FASTER);
        rh_buf_add_byte(p->out, '\n');
    }
}

static uint32_t count_why(const struct rh_result *r, const char *why)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < r->query_count; i++) {
        const struct rh_query_result *row = &r->queries[i];
        n += row->verdict == RH_QUERY_UNDECIDED && row->why && strcmp(row->why, why) == 0;
    }
    return n;
}

static void page_others(struct rh_text_page *p)
{
    static const struct {
        const char *why;
        const char *text;
    } reasons[] = {
        {RH_WHY_FEW, "too few calls"},
        {RH_WHY_BURST, "all at one time"},
        {RH_WHY_NOISY, "too noisy"},
        {RH_WHY_SMALL, "less than --min-change"},
        {RH_WHY_MEMORY, "not enough --memory"},
    };
    const struct rh_result *r = p->result;
    char n[RH_HUMAN_SIZE];
    page_label(p, "Others", RH_PLAIN);
    rh_buf_addf(p->out, "%s the same, ", rh_human_count(r->verdicts[RH_QUERY_SAME], n));
    rh_buf_addf(p->out, "%s undecided", rh_human_count(r->verdicts[RH_QUERY_UNDECIDED], n));
    const char *separator = " (";
    for (size_t i = 0; i < sizeof reasons / sizeof reasons[0]; i++) {
        uint32_t count = count_why(r, reasons[i].why);
        if (count > 0) {
            rh_buf_addf(p->out, "%s%s %s", separator, rh_human_count(count, n), reasons[i].text);
            separator = ", ";
        }
    }
    rh_buf_add_cstr(p->out, r->verdicts[RH_QUERY_UNDECIDED] ? ")" : "");
    if (r->verdicts[RH_QUERY_UNTESTED] > 0) {
        rh_buf_addf(p->out, ", %s not tested", rh_human_count(r->verdicts[RH_QUERY_UNTESTED], n));
    }
    rh_buf_add_byte(p->out, '\n');
}

static void page_speed(struct rh_text_page *p)
{
    const struct rh_result *r = p->result;
    if (r->latency == RH_LATENCY_ABSOLUTE && r->comparison->paired && !rh_result_withholds(r)) {
        page_changed(p, RH_QUERY_REGRESSED);
        page_changed(p, RH_QUERY_IMPROVED);
        page_others(p);
        return;
    }
    page_label(p, "Slower", RH_YELLOW);
    rh_buf_add_cstr(p->out, rh_result_withholds(r)
                                ? "not judged: see the checks; --judge-anyway does\n"
                            : r->latency == RH_LATENCY_RELATIVE
                                ? "not judged: the sides' times were taken at different places\n"
                            : r->latency == RH_LATENCY_NONE
                                ? "not judged: a side has no times\n"
                                : "not judged: without pairs queries are not tested\n");
}

static void page_failing(struct rh_text_page *p)
{
    const struct rh_result *r = p->result;
    char a[RH_HUMAN_SIZE];
    char b[RH_HUMAN_SIZE];
    page_label(p, "Fails", r->new_errors > 0 ? RH_RED : RH_PLAIN);
    if (r->new_errors > 0) {
        rh_buf_addf(p->out, "%s new errors, of %s kind%s", rh_human_count(r->new_errors, a),
                    rh_human_count(r->new_error_groups, b), r->new_error_groups > 1 ? "s" : "");
    } else {
        rh_buf_add_cstr(p->out, "no new errors");
    }
    if (r->new_by_chance > 0) {
        rh_buf_addf(p->out, "; %s more that may be chance (deadlocks, timeouts, conflicts)",
                    rh_human_count(r->new_by_chance, a));
    }
    rh_buf_add_byte(p->out, '\n');
}

static void page_trust(struct rh_text_page *p)
{
    const struct rh_result *r = p->result;
    const struct rh_side_summary *candidate = &r->comparison->side[RH_CANDIDATE];
    char a[RH_HUMAN_SIZE];
    char b[RH_HUMAN_SIZE];

    page_label(p, "Ran", r->missing > 0 || !r->complete ? RH_YELLOW : RH_PLAIN);
    rh_buf_addf(p->out, "%s statements in the candidate, %s of the base's did not",
                rh_human_count(candidate->calls, a), rh_human_count(r->missing, b));
    if (candidate->lag.count > 0) {
        rh_buf_addf(p->out, "; lag p99 %s",
                    rh_human_duration((double) rh_hist_quantile(&candidate->lag, 0.99), a));
    }
    rh_buf_add_byte(p->out, '\n');
    for (int side = 0; side < RH_SIDES; side++) {
        const struct rh_trace_file *f = p->comparison->file[side];
        if (!rh_trace_file_complete(f)) {
            rh_buf_addf(p->out, "The %s is not whole: ", side == RH_BASE ? "base" : "candidate");
            rh_human_text(p->out, rh_span_cstr(rh_trace_file_incomplete_reason(f)), 80);
            rh_buf_add_byte(p->out, '\n');
        }
    }
}

void rh_page_summary(struct rh_text_page *p)
{
    page_fitness(p);
    page_gate_verdict(p);
    page_speed(p);
    page_failing(p);
    page_trust(p);
}
