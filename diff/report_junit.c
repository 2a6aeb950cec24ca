#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "diff/escape.h"
#include "diff/human.h"
#include "diff/report.h"
#include "diff/summary.h"

/*
 * JUnit's XML, as CI servers show it.  A case fails where a gate fails and has an error where the
 * page cannot judge, so there are failures or errors exactly when the exit status is not 0.  What
 * was found and no gate fails for is skipped, with what was found as its message.
 */
enum { SQL_COLUMNS = 100 };

enum state { PASSED, FAILED, ERRED, SKIPPED, STATES };

/* One test suite, whose counts stand before its cases. */
struct suite {
    const struct rh_report *report;
    struct rh_buf cases;
    uint32_t counts[STATES];
};

static struct rh_span printed(char *text, size_t size, int len)
{
    return rh_span(text, len < 0 ? 0 : (size_t) len < size ? (size_t) len : size - 1);
}

static void put_attribute(struct rh_buf *out, const char *name, struct rh_span value)
{
    rh_buf_addf(out, " %s=\"", name);
    rh_escape_xml(out, value);
    rh_buf_add_byte(out, '"');
}

/* seconds NAN: none.  message is not used for PASSED. */
static void put_case(struct suite *s, const char *class, struct rh_span name, double seconds,
                     enum state state, struct rh_span message)
{
    static const char *const elements[STATES] = {NULL, "failure", "error", "skipped"};
    s->counts[state]++;
    rh_buf_add_cstr(&s->cases, "    <testcase");
    put_attribute(&s->cases, "classname", rh_span_cstr(class));
    put_attribute(&s->cases, "name", name);
    if (isfinite(seconds)) {
        rh_buf_addf(&s->cases, " time=\"%.9f\"", seconds);
    }
    if (state == PASSED) {
        rh_buf_add_cstr(&s->cases, "/>\n");
        return;
    }
    rh_buf_addf(&s->cases, "><%s", elements[state]);
    put_attribute(&s->cases, "message", message);
    rh_buf_add_cstr(&s->cases, "/></testcase>\n");
}

static void gate_cases(struct suite *s)
{
    static const enum state states[] = {PASSED, FAILED, ERRED};
    const struct rh_report *report = s->report;
    char text[200];
    char actual[RH_GATE_ACTUAL_SIZE];
    for (size_t i = 0; i < report->gate_count; i++) {
        const struct rh_gate *g = &report->gates[i];
        int len = g->why ? snprintf(text, sizeof text, "cannot be judged: %s", g->why)
                         : snprintf(text, sizeof text, "%s, and the limit is %.10g",
                                    rh_gate_actual_text(g, actual), g->limit);
        put_case(s, "pgrehearse.gate", rh_span_cstr(rh_gate_name(g->kind)), NAN, states[g->state],
                 printed(text, sizeof text, len));
    }
}

static void check_cases(struct suite *s)
{
    const struct rh_result *r = s->report->result;
    char text[200];
    for (int i = 0; i < RH_CHECKS; i++) {
        enum rh_check check = (enum rh_check) i;
        const struct rh_fitness_check *c = &r->fitness.checks[i];
        bool cannot_judge = (c->state == RH_FIT_INVALID && rh_result_withholds(r)) ||
                            (check == RH_CHECK_COMPLETE && !r->complete);
        int len = isnan(c->actual)
                      ? snprintf(text, sizeof text, "%s: %s", rh_check_state_name(c->state),
                                 rh_check_text(check))
                      : snprintf(text, sizeof text, "%s: %.6g, %s", rh_check_state_name(c->state),
                                 c->actual, rh_check_text(check));
        put_case(s, "pgrehearse.rehearsal", rh_span_cstr(rh_check_name(check)), NAN,
                 cannot_judge               ? ERRED
                 : c->state == RH_FIT_VALID ? PASSED
                                            : SKIPPED,
                 printed(text, sizeof text, len));
    }
}

static bool gate_failed(const struct rh_report *report, enum rh_gate_kind kind)
{
    for (size_t i = 0; i < report->gate_count; i++) {
        if (report->gates[i].kind == kind) {
            return report->gates[i].state == RH_GATE_FAIL;
        }
    }
    return false;
}

/* "FINGERPRINT SQL" */
static void put_query_name(struct rh_buf *name, const struct rh_query *q)
{
    rh_buf_addf(name, "%016" PRIx64 " ", q->fingerprint);
    rh_human_text(name, q->sql, SQL_COLUMNS);
}

static void regressed_message(const struct rh_query_result *row, struct rh_buf *message)
{
    char added[RH_HUMAN_SIZE];
    rh_buf_addf(message, "%s%s by %s (%+.1f %% of the base's time): ", row->minor ? "minor, " : "",
                rh_query_verdict_name(row->verdict),
                rh_human_duration_signed(row->time_added_ns, added), row->time_added_pct);
    rh_query_change_tell(row, RH_SLOWER, message);
}

/* The regressed ones, and the first of the others. */
static void query_cases(struct suite *s)
{
    const struct rh_report *report = s->report;
    const struct rh_result *r = report->result;
    bool fails = gate_failed(report, RH_GATE_REGRESSED);
    uint32_t others = 0;
    struct rh_buf name;
    struct rh_buf message;
    rh_buf_init(&name, 4096);
    rh_buf_init(&message, 4096);
    for (uint32_t i = 0; i < r->query_count; i++) {
        const struct rh_query_result *row = &r->queries[i];
        bool regressed = row->verdict == RH_QUERY_REGRESSED;
        bool decided = row->verdict == RH_QUERY_SAME || row->verdict == RH_QUERY_IMPROVED;
        if (row->is_other || (!regressed && others++ >= report->limit)) {
            continue;
        }
        rh_buf_clear(&name);
        rh_buf_clear(&message);
        put_query_name(&name, row->query);
        if (regressed) {
            regressed_message(row, &message);
        } else {
            rh_buf_addf(&message, "%s%s%s",
                        row->verdict ? rh_query_verdict_name(row->verdict) : "not tested",
                        row->why ? ": " : "", row->why ? row->why : "");
        }
        put_case(s, "pgrehearse.query", rh_buf_span(&name),
                 rh_query_mean_ns(row->query, RH_CANDIDATE) / 1e9,
                 regressed && fails && !row->minor ? FAILED
                 : decided                         ? PASSED
                                                   : SKIPPED,
                 rh_buf_span(&message));
    }
    rh_buf_release(&name);
    rh_buf_release(&message);
}

/* Kinds of errors that the base has not. */
static void error_cases(struct suite *s)
{
    const struct rh_report *report = s->report;
    const struct rh_result *r = report->result;
    bool fails = gate_failed(report, RH_GATE_NEW_ERRORS);
    struct rh_buf name;
    rh_buf_init(&name, 4096);
    for (uint32_t i = 0; i < r->error_count; i++) {
        const struct rh_error_result *row = &r->errors[i];
        const struct rh_error_group *g = row->group;
        char state[6];
        char text[120];
        if (row->klass != RH_ERROR_NEW || row->is_other) {
            continue;
        }
        rh_buf_clear(&name);
        rh_buf_addf(&name, "%s ", rh_sqlstate_unpack(g->sqlstate, state));
        put_query_name(&name, &r->comparison->queries.items[g->query]);
        int len =
            snprintf(text, sizeof text, "%s: %" PRIu64 " in the candidate, none in the base%s",
                     state, g->counts[RH_CANDIDATE],
                     row->follows          ? "; they follow from another error"
                     : row->test.by_chance ? "; may be chance"
                                           : "");
        put_case(s, "pgrehearse.error", rh_buf_span(&name), NAN,
                 fails && !row->follows && !row->test.by_chance ? FAILED : SKIPPED,
                 printed(text, sizeof text, len));
    }
    rh_buf_release(&name);
}

/* What the other reports begin with. */
static void put_summary(const struct rh_report *report, struct rh_buf *out)
{
    struct rh_summary summary;
    rh_summary_make(&summary, report);
    rh_buf_add_cstr(out, "    <system-out>");
    for (int i = 0; i < RH_SUMMARY_LINES; i++) {
        if (summary.lines[i].label) {
            rh_buf_addf(out, "%s%s", summary.lines[i].label, *summary.lines[i].label ? ": " : "  ");
            rh_escape_xml(out, summary.lines[i].text);
            rh_escape_xml(out, summary.lines[i].sql);
            rh_buf_add_byte(out, '\n');
        }
    }
    rh_buf_add_cstr(out, "</system-out>\n");
    rh_summary_release(&summary);
}

static void put_suite(const struct rh_report *report, struct rh_report_sink *sink, const char *name,
                      void (*make)(struct suite *))
{
    struct suite s = {.report = report};
    rh_buf_init(&s.cases, sink->buf.max);
    make(&s);
    uint32_t tests = s.counts[PASSED] + s.counts[FAILED] + s.counts[ERRED] + s.counts[SKIPPED];
    rh_buf_addf(&sink->buf,
                "  <testsuite name=\"%s\" tests=\"%" PRIu32 "\" failures=\"%" PRIu32
                "\" errors=\"%" PRIu32 "\" skipped=\"%" PRIu32 "\">\n",
                name, tests, s.counts[FAILED], s.counts[ERRED], s.counts[SKIPPED]);
    rh_buf_add_span(&sink->buf, rh_buf_span(&s.cases));
    if (make == gate_cases) {
        put_summary(report, &sink->buf);
    }
    rh_buf_add_cstr(&sink->buf, "  </testsuite>\n");
    rh_buf_release(&s.cases);
    rh_report_sink_drain(sink);
}

int rh_report_junit(const struct rh_report *report, struct rh_report_sink *sink)
{
    rh_buf_add_cstr(&sink->buf, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
                                "<testsuites name=\"pgrehearse diff\">\n");
    put_suite(report, sink, "gates", gate_cases);
    put_suite(report, sink, "rehearsal", check_cases);
    put_suite(report, sink, "queries", query_cases);
    put_suite(report, sink, "errors", error_cases);
    rh_buf_add_cstr(&sink->buf, "</testsuites>\n");
    return rh_report_sink_flush(sink);
}
