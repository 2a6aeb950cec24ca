#include "diff/gates.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct {
    const char *name;
    bool whole;
} kinds[RH_GATE_COUNT] = {
    [RH_GATE_REGRESSED] = {"regressed", true},
    [RH_GATE_NEW_ERRORS] = {"new-errors", true},
    [RH_GATE_MISSING] = {"missing", true},
    [RH_GATE_ROW_MISMATCHES] = {"row-mismatches", true},
    [RH_GATE_LAG_P99_MS] = {"lag-p99-ms", false},
    [RH_GATE_TIME_ADDED_PCT] = {"time-added-pct", false},
};

const char *rh_gate_name(enum rh_gate_kind kind)
{
    return kinds[kind].name;
}

char *rh_gate_actual_text(const struct rh_gate *gate, char text[RH_GATE_ACTUAL_SIZE])
{
    if (kinds[gate->kind].whole) {
        snprintf(text, RH_GATE_ACTUAL_SIZE, "%.0f", gate->actual);
        return text;
    }
    /* Three digits, and all those of a larger number that stand before the point. */
    int before = fabs(gate->actual) < 1000 ? 3 : (int) ceil(log10(fabs(gate->actual)));
    for (int digits = before; digits <= 17; digits++) {
        snprintf(text, RH_GATE_ACTUAL_SIZE, "%.*g", digits, gate->actual);
        if ((strtod(text, NULL) > gate->limit) == (gate->actual > gate->limit)) {
            break;
        }
    }
    return text;
}

const char *rh_gate_state_name(enum rh_gate_state state)
{
    static const char *const names[] = {"pass", "fail", "cannot-judge"};
    return names[state];
}

int rh_gate_parse(struct rh_gate *gate, const char *text, struct rh_error *err)
{
    const char *equals = strchr(text, '=');
    size_t len = equals ? (size_t) (equals - text) : strlen(text);
    int kind = 0;

    while (kind < RH_GATE_COUNT &&
           (strlen(kinds[kind].name) != len || memcmp(kinds[kind].name, text, len) != 0)) {
        kind++;
    }
    if (kind == RH_GATE_COUNT) {
        return rh_error_set(err, RH_ERR_USAGE,
                            "no gate is called \"%.*s\"; there are regressed, new-errors, missing, "
                            "row-mismatches, lag-p99-ms and time-added-pct",
                            (int) (len < 60 ? len : 60), text);
    }
    if (!equals || equals[1] == '\0') {
        return rh_error_set(err, RH_ERR_USAGE, "gate %s has no limit: write %s=LIMIT",
                            kinds[kind].name, kinds[kind].name);
    }
    char *end;
    double limit = strtod(equals + 1, &end);
    bool good = *end == '\0' && isfinite(limit) && limit >= 0 && !strpbrk(equals + 1, "xX \t");
    if (!good || (kinds[kind].whole && limit != floor(limit))) {
        return rh_error_set(
            err, RH_ERR_USAGE, "the limit of gate %s is %s of 0 or more, not \"%.40s\"",
            kinds[kind].name, kinds[kind].whole ? "a whole number" : "a number", equals + 1);
    }
    *gate = (struct rh_gate){.kind = (enum rh_gate_kind) kind, .limit = limit, .actual = NAN};
    return 0;
}

/* Why the candidate's errors, rows and times say nothing, or NULL. */
static const char *too_little_ran(const struct rh_comparison *c)
{
    const struct rh_side_summary *candidate = &c->side[RH_CANDIDATE];
    if (candidate->calls == 0) {
        return "nothing ran in the candidate";
    }
    if ((double) rh_comparison_unconnected(c) * 100 >
        (double) rh_comparison_in_scope(c) * RH_GATE_UNCONNECTED_PCT) {
        return "more than 1 % of the base's statements did not run in the candidate, as their "
               "sessions were refused, lost, stopped or damaged";
    }
    return NULL;
}

static void judge_missing(struct rh_gate *gate, const struct rh_result *r)
{
    const struct rh_comparison *c = r->comparison;
    if (!c->paired && rh_trace_file_header(c->file[RH_CANDIDATE])->kind != RH_FILE_RUN) {
        gate->why = "the two files are of different traces, and the candidate is no run";
        return;
    }
    if (c->paired && c->pairs.paired == 0) {
        gate->why = "no statement is in both files";
        return;
    }
    gate->actual = (double) r->missing;
}

static void judge_rows(struct rh_gate *gate, const struct rh_result *r)
{
    if (r->rows_compared == 0) {
        gate->why = r->volatile_compared > 0
                        ? "all queries with row counts are volatile: see REPORT.md"
                        : "no pair of statements has row counts on both sides";
        return;
    }
    gate->actual = (double) r->row_mismatches;
}

static void judge_lag(struct rh_gate *gate, const struct rh_result *r)
{
    const struct rh_hist *lag = &r->comparison->side[RH_CANDIDATE].lag;
    if (lag->count == 0) {
        gate->why = "the candidate is no run, or sent nothing";
        return;
    }
    gate->actual = (double) rh_hist_quantile(lag, 0.99) / 1e6;
}

static void judge_regressed(struct rh_gate *gate, const struct rh_result *r)
{
    if (r->latency != RH_LATENCY_ABSOLUTE) {
        gate->why = r->latency == RH_LATENCY_RELATIVE ? "the sides' times have different vantages"
                                                      : "there are no times to compare";
    } else if (!r->comparison->paired) {
        gate->why = "the two files are of different traces, and single queries are tested by pairs";
    } else if (r->tested == 0) {
        gate->why = rh_result_withholds(r)
                        ? "the rehearsal is invalid: see its checks (--judge-anyway)"
                        : "no query has enough pairs of calls to be tested";
    } else {
        gate->actual = r->regressed;
    }
}

static void judge_time_added(struct rh_gate *gate, const struct rh_result *r)
{
    if (r->latency == RH_LATENCY_RELATIVE) {
        gate->why = "the sides' times have different vantages";
    } else if (r->latency == RH_LATENCY_NONE || isnan(r->time_added_pct)) {
        gate->why = "there are no times to compare";
    } else {
        gate->actual = r->time_added_pct;
    }
}

/* A gate on what ran: nothing is known of what did not. */
static bool depends_on_coverage(enum rh_gate_kind kind)
{
    return kind == RH_GATE_REGRESSED || kind == RH_GATE_NEW_ERRORS ||
           kind == RH_GATE_ROW_MISMATCHES || kind == RH_GATE_LAG_P99_MS ||
           kind == RH_GATE_TIME_ADDED_PCT;
}

static void judge(struct rh_gate *gate, const struct rh_result *r)
{
    switch (gate->kind) {
    case RH_GATE_COUNT:
        break;
    case RH_GATE_REGRESSED:
        judge_regressed(gate, r);
        break;
    case RH_GATE_NEW_ERRORS:
        gate->actual = (double) r->new_errors;
        break;
    case RH_GATE_MISSING:
        judge_missing(gate, r);
        break;
    case RH_GATE_ROW_MISMATCHES:
        judge_rows(gate, r);
        break;
    case RH_GATE_LAG_P99_MS:
        judge_lag(gate, r);
        break;
    case RH_GATE_TIME_ADDED_PCT:
        judge_time_added(gate, r);
        break;
    }
}

void rh_gate_judge(struct rh_gate *gate, const struct rh_result *r)
{
    gate->actual = NAN;
    gate->why = depends_on_coverage(gate->kind) ? too_little_ran(r->comparison) : NULL;
    if (!gate->why) {
        judge(gate, r);
    }
    if (gate->why) {
        gate->state = RH_GATE_CANNOT_JUDGE;
    } else {
        gate->state = gate->actual <= gate->limit ? RH_GATE_PASS : RH_GATE_FAIL;
    }
}

enum rh_verdict rh_verdict_make(const struct rh_gate *gates, size_t count,
                                const struct rh_result *r)
{
    bool failed = false;
    bool unjudged = rh_result_withholds(r);
    if (!r->complete) {
        return RH_VERDICT_CANNOT_JUDGE;
    }
    for (size_t i = 0; i < count; i++) {
        failed |= gates[i].state == RH_GATE_FAIL;
        unjudged |= gates[i].state == RH_GATE_CANNOT_JUDGE;
    }
    if (failed) {
        return RH_VERDICT_FAIL;
    }
    if (unjudged) {
        return RH_VERDICT_CANNOT_JUDGE;
    }
    return count > 0 ? RH_VERDICT_PASS : RH_VERDICT_NONE;
}

const char *rh_verdict_name(enum rh_verdict verdict)
{
    static const char *const names[] = {NULL, "pass", "fail", "cannot-judge"};
    return names[verdict];
}

enum rh_exit rh_verdict_exit(enum rh_verdict verdict)
{
    switch (verdict) {
    case RH_VERDICT_FAIL:
        return RH_EXIT_GATE;
    case RH_VERDICT_CANNOT_JUDGE:
        return RH_EXIT_PARTIAL;
    case RH_VERDICT_NONE:
    case RH_VERDICT_PASS:
        break;
    }
    return RH_EXIT_DONE;
}
