#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "diff/escape.h"
#include "diff/human.h"
#include "diff/report.h"
#include "diff/sqlstate_name.h"
#include "diff/summary.h"

/*
 * For a pull request.  Tables are written row by row into a buffer of their own, and a row that
 * would pass the limit ends its table; so the page is whole whatever there is to tell.
 */
enum {
    SQL_COLUMNS = 90,
    SUMMARY_SQL_COLUMNS = 110, /* more than the summary leaves of it */
    NAME_COLUMNS = 60,
    NAME_BYTES = 400,
    /* Kept free for the ends of tables and for the sections that are of known size. */
    RESERVE = 8000,
};

struct page {
    const struct rh_report *report;
    const struct rh_result *result;
    struct rh_buf *out;
    struct rh_buf row;
};

/* Our own sentences; they may hold a file's reason. */
static void put_plain(struct rh_buf *out, struct rh_span s)
{
    for (size_t i = 0; i < s.len; i++) {
        if (strchr("|<>*_`[]&@#~\\", s.data[i])) {
            rh_buf_addf(out, "&#%d;", (unsigned char) s.data[i]);
        } else {
            rh_buf_add(out, s.data + i, 1);
        }
    }
}

static void put_summary(struct page *p)
{
    static const char *const marks[RH_TONES] = {"", "", "**", "**"};
    struct rh_summary s;
    rh_summary_make(&s, p->report);
    rh_buf_add_cstr(p->out, "| | |\n|---|---|\n");
    for (int i = 0; i < RH_SUMMARY_LINES; i++) {
        bool gates = i == RH_SUMMARY_GATES;
        if (!s.lines[i].label || (gates && p->report->verdict == RH_VERDICT_NONE)) {
            continue;
        }
        const char *mark = *s.lines[i].label ? marks[s.lines[i].tone] : "";
        rh_buf_addf(p->out, "| %s%s%s | ", mark, gates ? "Gates" : s.lines[i].label, mark);
        if (gates) {
            rh_buf_addf(p->out, "%s%s%s%s", mark, s.lines[i].label, mark,
                        s.lines[i].text.len ? ": " : "");
        }
        put_plain(p->out, s.lines[i].text);
        if (s.lines[i].sql.len > 0) {
            rh_escape_markdown(p->out, s.lines[i].sql, SUMMARY_SQL_COLUMNS);
        }
        rh_buf_add_cstr(p->out, " |\n");
    }
    rh_summary_release(&s);
}

/* The row goes to the page if there is room. */
static bool put_row(struct page *p)
{
    bool fits = p->out->len + p->row.len + RESERVE <= RH_MARKDOWN_MAX && !p->row.over;
    if (fits) {
        rh_buf_add_span(p->out, rh_buf_span(&p->row));
    }
    rh_buf_clear(&p->row);
    return fits;
}

static void put_rest(struct page *p, uint32_t total, uint32_t shown)
{
    char n[RH_HUMAN_SIZE];
    if (total > shown) {
        rh_buf_addf(p->out, "\n... and %s more\n", rh_human_count(total - shown, n));
    }
}

static void open_details(struct page *p, const char *what, uint64_t count)
{
    char n[RH_HUMAN_SIZE];
    rh_buf_addf(p->out, "\n<details><summary>%s: %s</summary>\n\n", what, rh_human_count(count, n));
}

static void close_details(struct page *p)
{
    rh_buf_add_cstr(p->out, "\n</details>\n");
}

static void query_row(struct page *p, const struct rh_query_result *row)
{
    const struct rh_query *q = row->query;
    bool relative = p->result->latency == RH_LATENCY_RELATIVE;
    enum rh_direction direction = row->ratio >= 1 ? RH_SLOWER : RH_FASTER;
    struct rh_interval interval = {NAN, NAN};
    double least_q = rh_query_test_q(&row->test, direction, NULL);
    char text[8][RH_HUMAN_SIZE];
    if (row->test.pairs > 0) {
        interval = rh_query_test_interval(&row->test, RH_MEASURE_MEAN);
    }
    rh_buf_addf(&p->row, "| %s | %s | ", rh_query_verdict_word(row),
                rh_human_duration_signed(
                    relative ? row->relative_time_added_ns : row->time_added_ns, text[0]));
    rh_buf_addf(&p->row, isnan(row->time_added_pct) ? "- | " : "%+.1f %% | ", row->time_added_pct);
    rh_buf_addf(&p->row, "%s | ",
                rh_human_ratio(relative ? row->relative_ratio : row->ratio, text[0]));
    if (isfinite(interval.low) && interval.high < 1e6) {
        rh_buf_addf(&p->row, "%.2f - %.2f | ", interval.low, interval.high);
    } else {
        rh_buf_add_cstr(&p->row, "- | ");
    }
    rh_buf_addf(&p->row, isnan(least_q) ? "- | " : "%.1e | ", least_q);
    rh_buf_addf(&p->row, "%s | %s / %s | %s / %s | ",
                rh_human_count(q->side[RH_BASE].calls, text[1]),
                rh_human_duration(rh_query_mean_ns(q, RH_BASE), text[2]),
                rh_human_duration(rh_query_mean_ns(q, RH_CANDIDATE), text[3]),
                rh_human_duration(rh_query_quantile_ns(q, RH_BASE, 0.95), text[4]),
                rh_human_duration(rh_query_quantile_ns(q, RH_CANDIDATE, 0.95), text[5]));
    if (row->is_other) {
        rh_buf_add_cstr(&p->row, "all other queries |\n");
        return;
    }
    rh_buf_addf(&p->row, "`%016" PRIx64 "` ", q->fingerprint);
    rh_escape_markdown(&p->row, q->sql, SQL_COLUMNS);
    rh_buf_add_cstr(&p->row, " |\n");
}

/* Queries of one verdict, most time first. */
static void query_table(struct page *p, enum rh_query_verdict verdict, const char *what,
                        bool folded)
{
    const struct rh_result *r = p->result;
    uint32_t total = r->verdicts[verdict];
    uint32_t shown = 0;
    bool backwards = verdict == RH_QUERY_IMPROVED; /* ranked by time added */
    if (total == 0) {
        return;
    }
    if (folded) {
        open_details(p, what, total);
    } else {
        rh_buf_addf(p->out, "\n### %s: %" PRIu32 "\n\n", what, total);
    }
    rh_buf_add_cstr(
        p->out, "| verdict | time added | of base | ratio | interval of mean ratio | q | calls | "
                "mean base / cand. | p95 base / cand. | query |\n"
                "|---|--:|--:|--:|--:|--:|--:|--:|--:|---|\n");
    for (uint32_t i = 0; i < r->query_count && shown < p->report->limit; i++) {
        const struct rh_query_result *row = &r->queries[backwards ? r->query_count - 1 - i : i];
        if (row->verdict != verdict) {
            continue;
        }
        query_row(p, row);
        if (!put_row(p)) {
            break;
        }
        shown++;
    }
    put_rest(p, total, shown);
    if (folded) {
        close_details(p);
    }
}

static void error_row(struct page *p, const struct rh_error_result *row)
{
    const struct rh_error_group *g = row->group;
    const struct rh_query *q = &p->result->comparison->queries.items[g->query];
    const char *name = rh_sqlstate_name(g->sqlstate);
    char state[6];
    char n[2][RH_HUMAN_SIZE];
    rh_buf_addf(&p->row, "| %s%s | %s %s | %s | %s | ", rh_error_class_name(row->klass),
                row->follows          ? ", follows"
                : row->test.by_chance ? ", may be chance"
                                      : "",
                row->is_other ? "all further groups" : rh_sqlstate_unpack(g->sqlstate, state),
                name && !row->is_other ? name : "", rh_human_count(g->counts[RH_BASE], n[0]),
                rh_human_count(g->counts[RH_CANDIDATE], n[1]));
    if (!row->is_other && g->query != RH_QUERY_OTHER) {
        rh_buf_addf(&p->row, "`%016" PRIx64 "` ", q->fingerprint);
        rh_escape_markdown(&p->row, q->sql, SQL_COLUMNS);
    }
    rh_buf_add_cstr(&p->row, " |\n");
}

static bool is_new(const struct rh_error_result *row)
{
    return row->klass == RH_ERROR_NEW && !row->follows && !row->test.by_chance;
}

/* New ones in sight, the others folded. */
static void error_table(struct page *p, bool wanted_new)
{
    const struct rh_result *r = p->result;
    uint32_t total = 0;
    uint32_t shown = 0;
    for (uint32_t i = 0; i < r->error_count; i++) {
        total += is_new(&r->errors[i]) == wanted_new;
    }
    if (total == 0) {
        return;
    }
    if (wanted_new) {
        rh_buf_addf(p->out, "\n### New errors: %" PRIu32 " kind%s\n\n", total,
                    total > 1 ? "s" : "");
    } else {
        open_details(p, "Other errors, kinds", total);
    }
    rh_buf_add_cstr(p->out,
                    "| class | SQLSTATE | base | candidate | query |\n|---|---|--:|--:|---|\n");
    for (uint32_t i = 0; i < r->error_count && shown < p->report->limit; i++) {
        if (is_new(&r->errors[i]) != wanted_new) {
            continue;
        }
        error_row(p, &r->errors[i]);
        if (!put_row(p)) {
            break;
        }
        shown++;
    }
    put_rest(p, total, shown);
    if (!wanted_new) {
        close_details(p);
    }
}

static void checks_table(struct page *p)
{
    const struct rh_fitness *f = &p->result->fitness;
    open_details(p, "Checks of the rehearsal", RH_CHECKS);
    rh_buf_add_cstr(p->out, "| check | actual | result | |\n|---|--:|---|---|\n");
    for (int i = 0; i < RH_CHECKS; i++) {
        enum rh_check check = (enum rh_check) i;
        rh_buf_addf(p->out, isnan(f->checks[i].actual) ? "| %s | - |" : "| %s | %.6g |",
                    rh_check_name(check), f->checks[i].actual);
        rh_buf_addf(p->out, " %s | %s |\n", rh_check_state_name(f->checks[i].state),
                    rh_check_text(check));
    }
    close_details(p);
}

static void gates_table(struct page *p)
{
    static const char *const words[] = {"pass", "**FAIL**", "**cannot be judged**"};
    if (p->report->gate_count == 0) {
        return;
    }
    open_details(p, "Gates", p->report->gate_count);
    rh_buf_add_cstr(p->out, "| gate | limit | actual | result |\n|---|--:|--:|---|\n");
    for (size_t i = 0; i < p->report->gate_count; i++) {
        const struct rh_gate *g = &p->report->gates[i];
        char actual[RH_GATE_ACTUAL_SIZE];
        rh_buf_addf(p->out, "| %s | %.10g | %s |", rh_gate_name(g->kind), g->limit,
                    g->why ? "-" : rh_gate_actual_text(g, actual));
        rh_buf_addf(p->out, " %s%s%s |\n", words[g->state], g->why ? ": " : "",
                    g->why ? g->why : "");
    }
    close_details(p);
}

static void put_sides(struct page *p)
{
    const struct rh_comparison *c = p->result->comparison;
    char n[RH_HUMAN_SIZE];
    rh_buf_add_cstr(p->out, "\n| | file | server | statements |\n|---|---|---|--:|\n");
    for (int side = 0; side < RH_SIDES; side++) {
        const struct rh_trace_header *h = rh_trace_file_header(c->file[side]);
        rh_buf_addf(p->out, "| %s | ", side == RH_BASE ? "base" : "candidate");
        rh_escape_markdown(p->out, rh_span_cstr(rh_trace_file_path(c->file[side])), NAME_COLUMNS);
        uint32_t count = rh_comparison_file_count(c, (enum rh_side) side);
        if (count > 1) {
            rh_buf_addf(p->out, " and %s more", rh_human_count(count - 1, n));
        }
        rh_buf_add_cstr(p->out, " | ");
        rh_escape_markdown(p->out, h->server_version, NAME_COLUMNS);
        rh_buf_add_byte(p->out, ' ');
        rh_escape_markdown(p->out, h->server_address, NAME_COLUMNS);
        rh_buf_addf(p->out, " | %s |\n", rh_human_count(c->side[side].calls, n));
    }
}

static void servers_table(struct page *p)
{
    const struct rh_server_differences *d = p->report->servers;
    struct rh_buf name;
    uint32_t shown = 0;
    if (!d || d->count == 0) {
        return;
    }
    rh_buf_init(&name, NAME_BYTES);
    open_details(p, "The servers differ, settings and the like", d->count);
    rh_buf_add_cstr(p->out, "| what | name | base | candidate |\n|---|---|---|---|\n");
    for (; shown < d->count && shown < p->report->limit; shown++) {
        const struct rh_server_difference *item = &d->items[shown];
        rh_buf_clear(&name);
        rh_server_difference_name(item, &name);
        rh_buf_add_cstr(&p->row, "| ");
        rh_escape_markdown(&p->row, item->kind, NAME_COLUMNS);
        rh_buf_add_cstr(&p->row, " | ");
        rh_escape_markdown(&p->row, rh_buf_span(&name), NAME_COLUMNS);
        for (int side = 0; side < RH_SIDES; side++) {
            rh_buf_add_cstr(&p->row, " | ");
            rh_escape_markdown(&p->row, rh_span_cstr(item->text[side]), NAME_COLUMNS);
        }
        rh_buf_add_cstr(&p->row, " |\n");
        if (!put_row(p)) {
            break;
        }
    }
    put_rest(p, d->count, shown);
    close_details(p);
    rh_buf_release(&name);
}

static void put_pair(struct page *p, const struct rh_plan_pair *plan)
{
    for (int side = 0; side < RH_SIDES; side++) {
        rh_buf_addf(&p->row, "\n%s:\n\n<pre>", side == RH_BASE ? "Base" : "Candidate");
        /* An empty line would end the element. */
        for (const char *at = plan->text[side]; *at; at += strspn(at, "\n")) {
            size_t len = strcspn(at, "\n");
            rh_escape_xml(&p->row, rh_span(at, len));
            rh_buf_add_byte(&p->row, '\n');
            at += len;
        }
        rh_buf_add_cstr(&p->row, "</pre>\n");
    }
}

static void plan_row(struct page *p, const struct rh_query *q, const struct rh_plan_text *plan)
{
    rh_buf_addf(&p->row, "\n`%016" PRIx64 "`%s\n", q->fingerprint,
                plan->any.differ ? ": the plans **differ**" : "");
    put_pair(p, &plan->any);
    if (plan->ordinal > 0) {
        rh_buf_add_cstr(&p->row, "\nFor the ");
        rh_plan_text_name_call(plan, &p->row);
        rh_buf_addf(&p->row, "%s\n", plan->call.differ ? ": the plans **differ**" : "");
        put_pair(p, &plan->call);
    }
}

static void plans_section(struct page *p)
{
    const struct rh_plan_texts *plans = p->report->plans;
    if (!plans) {
        return;
    }
    open_details(p, "Plans, queries", plans->count);
    for (uint32_t i = 0; i < p->result->query_count; i++) {
        const struct rh_query_result *row = &p->result->queries[i];
        const struct rh_plan_text *plan =
            row->is_other ? NULL : rh_plan_texts_find(plans, row->query->fingerprint);
        if (plan) {
            plan_row(p, row->query, plan);
            if (!put_row(p)) {
                rh_buf_add_cstr(p->out, "\n... and more, in the page and the JSON\n");
                break;
            }
        }
    }
    close_details(p);
}

int rh_report_markdown(const struct rh_report *report, struct rh_report_sink *sink)
{
    struct page p = {.report = report, .result = report->result, .out = &sink->buf};
    char a[RH_HUMAN_SIZE];
    char b[RH_HUMAN_SIZE];
    rh_buf_init(&p.row, 1 << 16);

    /* By the first line a job finds its comment again. */
    rh_buf_addf(p.out, "<!-- pgrehearse diff -->\n## pgrehearse diff: %s\n\n",
                report->verdict == RH_VERDICT_NONE ? "no gates" : rh_verdict_word(report->verdict));
    put_summary(&p);
    query_table(&p, RH_QUERY_REGRESSED, "Slower queries", false);
    error_table(&p, true);
    if (p.result->row_mismatches > 0) {
        rh_buf_addf(p.out, "\n**Other row counts**: %s of %s compared statements\n",
                    rh_human_count(p.result->row_mismatches, a),
                    rh_human_count(p.result->rows_compared, b));
    }
    put_sides(&p);
    servers_table(&p);
    query_table(&p, RH_QUERY_IMPROVED, "Faster queries", true);
    query_table(&p, RH_QUERY_UNDECIDED, "Undecided queries", true);
    error_table(&p, false);
    plans_section(&p);
    gates_table(&p);
    checks_table(&p);
    rh_buf_release(&p.row);
    return rh_report_sink_flush(sink);
}
