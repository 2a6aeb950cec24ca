#include "diff/summary.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "common/noun.h"
#include "diff/human.h"
#include "diff/noise.h"
#include "diff/sqlstate_name.h"

enum {
    TEXTS_MAX = 1 << 16,
    FITNESS_COLUMNS = 62, /* after which no further check is named */
    LINE_COLUMNS = 102,   /* of a text behind its label */
};

const char *rh_tone_name(enum rh_tone tone)
{
    static const char *const names[RH_TONES] = {"plain", "good", "bad", "doubt"};
    return names[tone];
}

const char *rh_fit_word(enum rh_fit fit)
{
    static const char *const words[] = {"VALID", "DEGRADED", "INVALID"};
    return words[fit];
}

const char *rh_verdict_word(enum rh_verdict verdict)
{
    static const char *const words[] = {"No gates were given: nothing fails by this page.", "PASS",
                                        "FAIL", "CANNOT JUDGE"};
    return words[verdict];
}

static const struct {
    const char *word;
    enum rh_tone tone;
} query_verdicts[RH_QUERY_VERDICTS] = {
    [RH_QUERY_UNTESTED] = {"-", RH_TONE_PLAIN},
    [RH_QUERY_REGRESSED] = {"REGRESSED", RH_TONE_BAD},
    [RH_QUERY_IMPROVED] = {"improved", RH_TONE_GOOD},
    [RH_QUERY_SAME] = {"same", RH_TONE_PLAIN},
    [RH_QUERY_UNDECIDED] = {"undecided", RH_TONE_DOUBT},
    [RH_QUERY_NEW] = {"new", RH_TONE_PLAIN},
    [RH_QUERY_GONE] = {"gone", RH_TONE_PLAIN},
};

const char *rh_query_verdict_word(const struct rh_query_result *row)
{
    return row->minor ? "minor" : query_verdicts[row->verdict].word;
}

enum rh_tone rh_query_verdict_tone(const struct rh_query_result *row)
{
    return row->minor ? RH_TONE_PLAIN : query_verdicts[row->verdict].tone;
}

/* What the functions below share.  A line's text lies between its begin and its end in the buffer,
 * which may move: so places are kept, and spans made at last. */
struct writer {
    struct rh_summary *summary;
    const struct rh_report *report;
    const struct rh_result *result;
    struct rh_buf *out;
    size_t from[RH_SUMMARY_LINES];
    size_t sql_from[RH_SUMMARY_LINES];
};

static void begin_line(struct writer *w, enum rh_summary_line line, const char *label,
                       enum rh_tone tone)
{
    w->summary->lines[line].label = label;
    w->summary->lines[line].tone = tone;
    w->from[line] = w->out->len;
}

static void end_line(struct writer *w, enum rh_summary_line line)
{
    w->summary->lines[line].text.len = w->out->len - w->from[line];
}

static void sum_gates(struct writer *w)
{
    static const enum rh_tone tones[] = {RH_TONE_PLAIN, RH_TONE_GOOD, RH_TONE_BAD, RH_TONE_DOUBT};
    const struct rh_report *report = w->report;

    begin_line(w, RH_SUMMARY_GATES, rh_verdict_word(report->verdict), tones[report->verdict]);
    const char *separator = "";
    for (size_t i = 0; i < report->gate_count; i++) {
        const struct rh_gate *g = &report->gates[i];
        if (g->state == RH_GATE_FAIL) {
            char actual[RH_GATE_ACTUAL_SIZE];
            rh_buf_addf(w->out, "%s%s %s > %.10g", separator, rh_gate_name(g->kind),
                        rh_gate_actual_text(g, actual), g->limit);
            separator = ", ";
        }
    }
    end_line(w, RH_SUMMARY_GATES);
}

/* A query's text in what the line has left of its columns.  Ends the line. */
static void end_line_with_sql(struct writer *w, enum rh_summary_line line, struct rh_span sql)
{
    end_line(w, line);
    size_t used = w->summary->lines[line].text.len;
    w->sql_from[line] = w->out->len;
    rh_human_text(w->out, sql, used + 20 < LINE_COLUMNS ? (unsigned) (LINE_COLUMNS - used) : 20);
    w->summary->lines[line].sql.len = w->out->len - w->sql_from[line];
}

/* A gate that says nothing fails nothing, also beside one that fails: so it is told, and why. */
static void sum_unjudged(struct writer *w)
{
    const struct rh_report *report = w->report;
    const char *separator = "";
    for (size_t i = 0; i < report->gate_count; i++) {
        const struct rh_gate *g = &report->gates[i];
        if (g->state != RH_GATE_CANNOT_JUDGE) {
            continue;
        }
        if (!*separator) {
            begin_line(w, RH_SUMMARY_UNJUDGED, "", RH_TONE_DOUBT);
        }
        rh_buf_addf(w->out, "%s%s cannot be judged: %s", separator, rh_gate_name(g->kind), g->why);
        separator = "; ";
    }
    if (*separator) {
        end_line(w, RH_SUMMARY_UNJUDGED);
    }
}

/* The checks that are worst, as many as fit. */
static void sum_fitness(struct writer *w)
{
    static const enum rh_tone tones[] = {RH_TONE_GOOD, RH_TONE_DOUBT, RH_TONE_BAD};
    const struct rh_fitness *f = &w->result->fitness;
    size_t start = w->out->len;
    begin_line(w, RH_SUMMARY_TRUST, "Trust", tones[f->verdict]);
    rh_buf_addf(w->out, "the rehearsal is %s", rh_fit_word(f->verdict));
    if (rh_result_withholds(w->result)) {
        rh_buf_add_cstr(w->out, " and judges no query");
    }
    const char *separator = ": ";
    for (int i = 0; i < RH_CHECKS; i++) {
        enum rh_check check = (enum rh_check) i;
        if (f->verdict == RH_FIT_VALID || f->checks[i].state != f->verdict) {
            continue;
        }
        if (w->out->len - start > FITNESS_COLUMNS) {
            rh_buf_add_cstr(w->out, ", ...");
            break;
        }
        rh_buf_addf(w->out, "%s%s %.4g", separator, rh_check_name(check), f->checks[i].actual);
        separator = ", ";
    }
    end_line(w, RH_SUMMARY_TRUST);
}

/* "33 %", or from twice on "2.13x". */
static char *margin_text(double margin, char text[RH_HUMAN_SIZE])
{
    if (margin >= 0.995) {
        return rh_human_ratio(1 + margin, text);
    }
    snprintf(text, RH_HUMAN_SIZE, "%.2g %%", 100 * margin);
    return text;
}

/* How blind the test is: where runs of one side differ by more than the effect that counts, by
 * that; else it was asked for no less than the effect. */
static void sum_noise(struct writer *w)
{
    const struct rh_result *r = w->result;
    const struct rh_noise *noise = r->rule.noise;
    bool blind = r->rule.margin > r->margin_given && r->rule.margin > r->rule.effect;
    char text[RH_HUMAN_SIZE];
    begin_line(w, RH_SUMMARY_NOISE, "Noise",
               r->fitness.checks[RH_CHECK_NOISE].state == RH_FIT_DEGRADED ? RH_TONE_DOUBT
                                                                          : RH_TONE_PLAIN);
    if (!noise || noise->pairs == 0) {
        rh_buf_add_cstr(w->out, "not measured, as no run of a side was repeated");
        rh_buf_add_cstr(w->out, noise && noise->rejected > 0 ? " validly" : "");
    } else if (isnan(noise->margin)) {
        rh_buf_add_cstr(w->out, "not measured, as too few queries repeat often enough");
    } else {
        rh_buf_addf(w->out, "runs of one side differ by %.*f %%", noise->margin < 0.0995 ? 1 : 0,
                    100 * noise->margin);
    }
    rh_buf_addf(w->out, ": changes below %s %s",
                margin_text(fmax(r->rule.margin, r->rule.effect), text),
                blind ? "cannot be seen" : "are not looked for");
    end_line(w, RH_SUMMARY_NOISE);
}

/* Estimate and interval are of one measure; the mean, which makes the time added, may be another.
 */
void rh_query_change_tell(const struct rh_query_result *row, enum rh_direction direction,
                          struct rh_buf *out)
{
    enum rh_measure best;
    double q = rh_query_test_q(&row->test, direction, &best);
    char text[3][RH_HUMAN_SIZE];
    struct rh_interval interval = rh_query_test_interval(&row->test, best);
    rh_buf_addf(out, "%s %s (%s to %s, %.4g %% sure), q ", rh_measure_name(best),
                rh_human_ratio(exp(row->test.measures[best].estimate.log_ratio), text[0]),
                rh_human_ratio(interval.low, text[1]), rh_human_ratio(interval.high, text[2]),
                100 * row->test.confidence);
    rh_buf_addf(out, q < 1e-9 ? "< 1e-9" : "%.1e", q);
    if (best != RH_MEASURE_MEAN) {
        rh_buf_addf(out, "; mean %s", rh_human_ratio(row->ratio, text[0]));
    }
}

/* Its figures, and in the next line its SQL. */
static void sum_query(struct writer *w, enum rh_summary_line line,
                      const struct rh_query_result *row, enum rh_direction direction)
{
    char added[RH_HUMAN_SIZE];
    begin_line(w, line, "", RH_TONE_PLAIN);
    rh_buf_addf(w->out, "%016" PRIx64 " %s: ", row->query->fingerprint,
                rh_human_duration_signed(row->time_added_ns, added));
    rh_query_change_tell(row, direction, w->out);
    end_line(w, line);
    line = (enum rh_summary_line)(line + 1);
    begin_line(w, line, "", RH_TONE_PLAIN);
    end_line_with_sql(w, line, row->query->sql);
}

/* Those that matter most: they are ranked by time added. */
static void sum_queries(struct writer *w, enum rh_query_verdict verdict, uint32_t count)
{
    const struct rh_result *r = w->result;
    bool slower = verdict == RH_QUERY_REGRESSED;
    uint32_t wanted = slower ? RH_SUMMARY_SLOWEST_MAX : 1, told = 0;
    char n[RH_HUMAN_SIZE];
    for (uint32_t i = 0; i < r->query_count && told < wanted; i++) {
        const struct rh_query_result *row = &r->queries[slower ? i : r->query_count - 1 - i];
        if (row->verdict == verdict && !row->minor) {
            int line = slower ? RH_SUMMARY_SLOWEST + 2 * (int) told : RH_SUMMARY_FASTEST;
            sum_query(w, (enum rh_summary_line) line, row, slower ? RH_SLOWER : RH_FASTER);
            told++;
        }
    }
    if (slower && count > told) {
        begin_line(w, RH_SUMMARY_SLOWEST_REST, "", RH_TONE_PLAIN);
        rh_buf_addf(w->out, "and %s more", rh_human_count(count - told, n));
        end_line(w, RH_SUMMARY_SLOWEST_REST);
    }
}

/* The queries of one verdict together, and in lines of their own those that matter most. */
static void sum_changed(struct writer *w, enum rh_query_verdict verdict)
{
    const struct rh_result *r = w->result;
    bool slower = verdict == RH_QUERY_REGRESSED;
    enum rh_summary_line line = slower ? RH_SUMMARY_SLOWER : RH_SUMMARY_FASTER;
    uint32_t count = 0;
    double added_ns = 0;
    char a[RH_HUMAN_SIZE];
    char b[RH_HUMAN_SIZE];

    for (uint32_t i = 0; i < r->query_count; i++) {
        const struct rh_query_result *row = &r->queries[i];
        if (row->verdict == verdict && !row->minor) {
            added_ns += row->time_added_ns;
            count++;
        }
    }
    begin_line(w, line, slower ? "Slower" : "Faster",
               !count   ? RH_TONE_PLAIN
               : slower ? RH_TONE_BAD
                        : RH_TONE_GOOD);
    if (count == 0) {
        rh_buf_addf(w->out, "no query %s", slower ? "regressed" : "improved");
    } else {
        rh_buf_addf(w->out, "%s quer%s %s: %s (%+.1f %% of the base's time)",
                    rh_human_count(count, a), rh_noun(count, "y", "ies"),
                    slower ? "regressed" : "improved", rh_human_duration_signed(added_ns, b),
                    100 * added_ns / r->base_time_ns);
    }
    uint32_t minor = r->verdicts[verdict] - count;
    if (minor > 0) {
        rh_buf_addf(w->out, "%s %s of less than %.1f %% of it", count ? "; and" : " but",
                    rh_human_count(minor, a), RH_IMPACT_MINOR_PCT);
    }
    end_line(w, line);
    sum_queries(w, verdict, count);
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

static void sum_others(struct writer *w)
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
    const struct rh_result *r = w->result;
    char n[RH_HUMAN_SIZE];
    begin_line(w, RH_SUMMARY_OTHERS, "Others", RH_TONE_PLAIN);
    rh_buf_addf(w->out, "%s the same, ", rh_human_count(r->verdicts[RH_QUERY_SAME], n));
    rh_buf_addf(w->out, "%s undecided", rh_human_count(r->verdicts[RH_QUERY_UNDECIDED], n));
    const char *separator = " (";
    for (size_t i = 0; i < sizeof reasons / sizeof reasons[0]; i++) {
        uint32_t count = count_why(r, reasons[i].why);
        if (count > 0) {
            rh_buf_addf(w->out, "%s%s %s", separator, rh_human_count(count, n), reasons[i].text);
            separator = ", ";
        }
    }
    rh_buf_add_cstr(w->out, r->verdicts[RH_QUERY_UNDECIDED] ? ")" : "");
    if (r->verdicts[RH_QUERY_UNTESTED] > 0) {
        rh_buf_addf(w->out, ", %s not tested", rh_human_count(r->verdicts[RH_QUERY_UNTESTED], n));
    }
    end_line(w, RH_SUMMARY_OTHERS);
}

static void sum_speed(struct writer *w)
{
    const struct rh_result *r = w->result;
    if (rh_result_judges_times(r)) {
        sum_noise(w);
        sum_changed(w, RH_QUERY_REGRESSED);
        sum_changed(w, RH_QUERY_IMPROVED);
        sum_others(w);
        return;
    }
    begin_line(w, RH_SUMMARY_SLOWER, "Slower", RH_TONE_DOUBT);
    rh_buf_add_cstr(w->out, rh_result_withholds(r)
                                ? "not judged: see the checks; --judge-anyway does"
                            : r->latency == RH_LATENCY_RELATIVE
                                ? "not judged: the sides' times were taken at different places"
                            : r->latency == RH_LATENCY_NONE
                                ? "not judged: a side has no times"
                                : "not judged: without pairs queries are not tested");
    end_line(w, RH_SUMMARY_SLOWER);
}

/* "20 of 42703 undefined_column, FINGERPRINT" and its SQL. */
static void sum_new_error(struct writer *w, enum rh_summary_line line,
                          const struct rh_error_result *row)
{
    const struct rh_error_group *g = row->group;
    const struct rh_query *q = &w->result->comparison->queries.items[g->query];
    const char *name = rh_sqlstate_name(g->sqlstate);
    char state[6];
    char n[RH_HUMAN_SIZE];
    begin_line(w, line, "", RH_TONE_PLAIN);
    rh_buf_addf(w->out, "%s of %s%s%s",
                rh_human_count(g->counts[RH_CANDIDATE] - g->follows[RH_CANDIDATE], n),
                row->is_other ? "other kinds" : rh_sqlstate_unpack(g->sqlstate, state),
                name && !row->is_other ? " " : "", name && !row->is_other ? name : "");
    if (row->is_other || g->query == RH_QUERY_OTHER) {
        end_line(w, line);
        return;
    }
    rh_buf_addf(w->out, ", %016" PRIx64 ": ", q->fingerprint);
    end_line_with_sql(w, line, q->sql);
}

/* The most frequent kinds come first (result.c). */
static void sum_new_errors(struct writer *w)
{
    const struct rh_result *r = w->result;
    uint32_t told = 0;
    char n[RH_HUMAN_SIZE];
    for (uint32_t i = 0; i < r->error_count && told < RH_SUMMARY_ERRORS_MAX; i++) {
        const struct rh_error_result *row = &r->errors[i];
        bool causes = row->group->counts[RH_CANDIDATE] > row->group->follows[RH_CANDIDATE];
        if (row->klass == RH_ERROR_NEW && causes && !row->test.by_chance) {
            sum_new_error(w, (enum rh_summary_line)(RH_SUMMARY_ERRORS + (int) told++), row);
        }
    }
    if (r->new_error_groups > told) {
        begin_line(w, RH_SUMMARY_ERRORS_REST, "", RH_TONE_PLAIN);
        rh_buf_addf(w->out, "and %s kind%s more", rh_human_count(r->new_error_groups - told, n),
                    rh_plural(r->new_error_groups - told));
        end_line(w, RH_SUMMARY_ERRORS_REST);
    }
}

static void sum_failing(struct writer *w)
{
    const struct rh_result *r = w->result;
    char a[RH_HUMAN_SIZE];
    char b[RH_HUMAN_SIZE];
    begin_line(w, RH_SUMMARY_FAILS, "Fails", r->new_errors > 0 ? RH_TONE_BAD : RH_TONE_PLAIN);
    if (r->new_errors > 0) {
        rh_buf_addf(w->out, "%s new error%s, of %s kind%s", rh_human_count(r->new_errors, a),
                    rh_plural(r->new_errors), rh_human_count(r->new_error_groups, b),
                    rh_plural(r->new_error_groups));
    } else {
        rh_buf_add_cstr(w->out, "no new errors");
    }
    if (r->new_by_chance > 0) {
        rh_buf_addf(w->out, "; %s more that may be chance (deadlocks, timeouts, conflicts)",
                    rh_human_count(r->new_by_chance, a));
    }
    end_line(w, RH_SUMMARY_FAILS);
    sum_new_errors(w);
}

enum { VOLATILE_NAMED = 3 };

/* By name, those first that differ. */
static void sum_volatile(struct writer *w)
{
    const struct rh_result *r = w->result;
    char a[RH_HUMAN_SIZE];
    uint32_t named = 0, all = 0;
    for (uint32_t i = 0; i < r->query_count; i++) {
        const struct rh_query_result *row = &r->queries[i];
        if (!rh_query_result_names_volatile(row) || all++ >= VOLATILE_NAMED) {
            continue;
        }
        if (named++ == 0) {
            begin_line(w, RH_SUMMARY_VOLATILE, "", RH_TONE_PLAIN);
            rh_buf_addf(w->out,
                        "volatile, %s not counted: ", rh_human_count(r->volatile_mismatches, a));
        }
        rh_buf_addf(w->out, "%s%016" PRIx64 " (%s)", named > 1 ? ", " : "", row->query->fingerprint,
                    rh_volatility_name(row->volatility));
    }
    if (all > named) {
        rh_buf_addf(w->out, ", %s more", rh_human_count(all - named, a));
    }
    if (named > 0) {
        end_line(w, RH_SUMMARY_VOLATILE);
    }
}

static void sum_rows(struct writer *w)
{
    const struct rh_result *r = w->result;
    char a[RH_HUMAN_SIZE];
    char b[RH_HUMAN_SIZE];
    if (r->row_mismatches > 0) {
        begin_line(w, RH_SUMMARY_ROWS, "Rows", RH_TONE_DOUBT);
        rh_buf_addf(w->out, "%s of %s compared statement%s another number of rows",
                    rh_human_count(r->row_mismatches, a), rh_human_count(r->rows_compared, b),
                    rh_noun(r->rows_compared, " has", "s have"));
        end_line(w, RH_SUMMARY_ROWS);
    } else if (r->volatile_mismatches > 0) {
        begin_line(w, RH_SUMMARY_ROWS, "Rows", RH_TONE_PLAIN);
        rh_buf_add_cstr(w->out, "the same numbers, but for queries that differ anyway");
        end_line(w, RH_SUMMARY_ROWS);
    }
    sum_volatile(w);
}

static void sum_coverage(struct writer *w)
{
    const struct rh_result *r = w->result;
    const struct rh_side_summary *candidate = &r->comparison->side[RH_CANDIDATE];
    char a[RH_HUMAN_SIZE];
    char b[RH_HUMAN_SIZE];

    begin_line(w, RH_SUMMARY_RAN, "Ran",
               r->missing > 0 || !r->complete ? RH_TONE_DOUBT : RH_TONE_PLAIN);
    rh_buf_addf(w->out, "%s statement%s in the candidate, %s of the base's did not",
                rh_human_count(candidate->calls, a), rh_plural(candidate->calls),
                rh_human_count(r->missing, b));
    if (candidate->lag.count > 0) {
        rh_buf_addf(w->out, "; lag p99 %s",
                    rh_human_duration((double) rh_hist_quantile(&candidate->lag, 0.99), a));
    }
    end_line(w, RH_SUMMARY_RAN);
    for (int side = 0; side < RH_SIDES; side++) {
        const struct rh_trace_file *f = rh_comparison_cut_file(r->comparison, (enum rh_side) side);
        if (f) {
            enum rh_summary_line line =
                side == RH_BASE ? RH_SUMMARY_BASE_CUT : RH_SUMMARY_CANDIDATE_CUT;
            begin_line(w, line, "", RH_TONE_DOUBT);
            rh_buf_addf(w->out, "The %s is not whole: ", side == RH_BASE ? "base" : "candidate");
            rh_human_text(w->out, rh_span_cstr(rh_trace_file_incomplete_reason(f)), 80);
            end_line(w, line);
        }
    }
}

void rh_summary_make(struct rh_summary *s, const struct rh_report *report)
{
    *s = (struct rh_summary){0};
    rh_buf_init(&s->texts, TEXTS_MAX);
    struct writer w = {.summary = s, .report = report, .result = report->result, .out = &s->texts};
    sum_fitness(&w);
    sum_gates(&w);
    sum_unjudged(&w);
    sum_speed(&w);
    sum_failing(&w);
    sum_rows(&w);
    sum_coverage(&w);
    const char *texts = rh_buf_cstr(&s->texts);
    for (int i = 0; i < RH_SUMMARY_LINES; i++) {
        s->lines[i].text.data = texts + w.from[i];
        s->lines[i].sql.data = texts + w.sql_from[i];
    }
}

void rh_summary_release(struct rh_summary *s)
{
    rh_buf_release(&s->texts);
}
