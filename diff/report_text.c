#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "common/alloc.h"
#include "common/noun.h"
#include "diff/noise.h"
#include "diff/text_page.h"

void rh_page_begin(struct rh_text_page *p, enum rh_emphasis emphasis)
{
    static const char *const codes[] = {"", "\033[1m", "\033[1;31m", "\033[1;32m", "\033[1;33m"};
    if (p->report->colour) {
        rh_buf_add_cstr(p->out, codes[emphasis]);
    }
}

void rh_page_end(struct rh_text_page *p, enum rh_emphasis emphasis)
{
    if (p->report->colour && emphasis != RH_PLAIN) {
        rh_buf_add_cstr(p->out, "\033[0m");
    }
}

void rh_page_cell(struct rh_text_page *p, struct rh_span text, unsigned columns, bool pad)
{
    unsigned used = 0;
    size_t start = p->out->len;
    rh_human_text(p->out, text, columns);
    for (size_t i = start; i < p->out->len; i++) {
        used += ((unsigned char) p->out->data[i] & 0xc0) != 0x80;
    }
    rh_buf_addf(p->out, "%*s", (int) (pad && used < columns ? columns - used : 0), "");
}

void rh_page_heading(struct rh_text_page *p, const char *text)
{
    rh_buf_add_byte(p->out, '\n');
    rh_page_begin(p, RH_BOLD);
    rh_buf_add_cstr(p->out, text);
    rh_page_end(p, RH_BOLD);
    rh_buf_add_byte(p->out, '\n');
    rh_report_sink_drain(p->sink);
}

void rh_page_rest(struct rh_text_page *p, uint64_t total, uint64_t shown)
{
    char text[RH_HUMAN_SIZE];
    if (total > shown) {
        rh_buf_addf(p->out, "  ... and %s more (--limit)\n", rh_human_count(total - shown, text));
    }
}

void rh_page_query(struct rh_text_page *p, uint32_t query)
{
    const struct rh_query *q = &p->comparison->queries.items[query];
    if (query == RH_QUERY_OTHER) {
        rh_buf_addf(p->out, "      all queries beyond the first %" PRIu32 "\n",
                    p->comparison->queries.count - 1);
        return;
    }
    rh_buf_addf(p->out, "      %016" PRIx64 "  ", q->fingerprint);
    rh_human_text(p->out, q->sql, RH_PAGE_COLUMNS - 24);
    rh_buf_add_byte(p->out, '\n');
    rh_report_sink_drain(p->sink);
}

static void page_missing(struct rh_text_page *p)
{
    const struct rh_comparison *c = p->comparison;
    const struct rh_side_summary *side = &c->side[RH_CANDIDATE];
    const uint64_t *by_reason = c->paired ? c->pairs.missing_by_reason : side->by_reason;
    uint64_t lost = c->paired ? c->pairs.missing_lost : side->lost;
    char n[RH_HUMAN_SIZE];

    if (p->result->missing == 0) {
        return;
    }
    char heading[100];
    snprintf(heading, sizeof heading, "NOT RUN BY THE CANDIDATE: %s statement%s%s",
             rh_human_count(p->result->missing, n), rh_plural(p->result->missing),
             c->paired ? " that ran in the base" : " of its trace");
    rh_page_heading(p, heading);
    if (lost > 0) {
        rh_buf_addf(p->out, "  %12s  connection lost before the answer\n", rh_human_count(lost, n));
    }
    for (uint32_t reason = 0; reason < RH_REASON_COUNT; reason++) {
        if (by_reason[reason] > 0) {
            rh_buf_addf(p->out, "  %12s  %s\n", rh_human_count(by_reason[reason], n),
                        reason == RH_REASON_NONE ? "no reason recorded"
                                                 : rh_reason_text((enum rh_reason) reason));
        }
    }
    if (c->pairs.missing_absent > 0) {
        rh_buf_addf(p->out, "  %12s  not in the candidate's file\n",
                    rh_human_count(c->pairs.missing_absent, n));
    }
}

static int order_mismatches(const void *a, const void *b)
{
    const struct rh_query *x = (*(const struct rh_query_result *const *) a)->query;
    const struct rh_query *y = (*(const struct rh_query_result *const *) b)->query;
    if (x->pairs.row_mismatches != y->pairs.row_mismatches) {
        return x->pairs.row_mismatches > y->pairs.row_mismatches ? -1 : 1;
    }
    return (x->fingerprint > y->fingerprint) - (x->fingerprint < y->fingerprint);
}

/* "  why: the text" or "  why: 3 of 400 differ between runs of one side" */
static void page_volatility(struct rh_text_page *p, const struct rh_query_result *row)
{
    char n[RH_HUMAN_SIZE];
    char of[RH_HUMAN_SIZE];
    if (row->volatility == RH_VOLATILE_BY_TEXT) {
        rh_buf_add_cstr(p->out, "; its text chooses rows by time, chance or a sequence");
    } else if (row->noise && row->noise->row_mismatches > 0) {
        rh_buf_addf(p->out, "; %s of %s between runs of one side",
                    rh_human_count(row->noise->row_mismatches, n),
                    rh_human_count(row->noise->rows_compared, of));
    }
}

static void page_row_list(struct rh_text_page *p, bool are_volatile)
{
    const struct rh_result *r = p->result;
    const struct rh_query_result **found =
        rh_calloc(r->query_count + 1, sizeof(struct rh_query_result *));
    char n[RH_HUMAN_SIZE];
    char of[RH_HUMAN_SIZE];
    uint32_t count = 0;
    for (uint32_t i = 0; i < r->query_count; i++) {
        const struct rh_query_result *row = &r->queries[i];
        bool differs = row->volatility == RH_VOLATILE_NOT && row->query->pairs.row_mismatches > 0;
        if (are_volatile ? rh_query_result_names_volatile(row) : differs) {
            found[count++] = row;
        }
    }
    qsort(found, count, sizeof(struct rh_query_result *), order_mismatches);
    uint32_t i = 0;
    for (; i < count && i < p->report->limit; i++) {
        const struct rh_query *q = found[i]->query;
        rh_buf_addf(p->out, "  %12s of %s", rh_human_count(q->pairs.row_mismatches, n),
                    rh_human_count(q->pairs.rows_compared, of));
        page_volatility(p, found[i]);
        rh_buf_add_byte(p->out, '\n');
        rh_page_query(p, (uint32_t) (q - p->comparison->queries.items));
    }
    rh_page_rest(p, count, i);
    rh_free(found);
}

static bool has_volatile(const struct rh_result *r)
{
    uint32_t i = 0;
    while (i < r->query_count && !rh_query_result_names_volatile(&r->queries[i])) {
        i++;
    }
    return i < r->query_count;
}

static void page_rows(struct rh_text_page *p)
{
    const struct rh_result *r = p->result;
    char n[RH_HUMAN_SIZE];
    char of[RH_HUMAN_SIZE];
    char heading[120];
    if (r->row_mismatches > 0) {
        snprintf(heading, sizeof heading, "OTHER ROW COUNTS: %s of %s compared statement%s",
                 rh_human_count(r->row_mismatches, n), rh_human_count(r->rows_compared, of),
                 rh_plural(r->rows_compared));
        rh_page_heading(p, heading);
        page_row_list(p, false);
    }
    if (has_volatile(r)) {
        snprintf(
            heading, sizeof heading, "OTHER ROW COUNTS OF VOLATILE QUERIES, not counted: %s of %s",
            rh_human_count(r->volatile_mismatches, n), rh_human_count(r->volatile_compared, of));
        rh_page_heading(p, heading);
        page_row_list(p, true);
    }
}

static void page_gates(struct rh_text_page *p)
{
    if (p->report->gate_count == 0) {
        return;
    }
    rh_page_heading(p, "GATES");
    for (size_t i = 0; i < p->report->gate_count; i++) {
        const struct rh_gate *g = &p->report->gates[i];
        static const enum rh_emphasis emphasis[] = {RH_GREEN, RH_RED, RH_YELLOW};
        static const char *const words[] = {"pass", "FAIL", "CANNOT JUDGE"};
        rh_buf_addf(p->out, "  %-16s limit %-10g ", rh_gate_name(g->kind), g->limit);
        if (!g->why) {
            char actual[RH_GATE_ACTUAL_SIZE];
            rh_buf_addf(p->out, "actual %-12s ", rh_gate_actual_text(g, actual));
        }
        rh_page_begin(p, emphasis[g->state]);
        rh_buf_add_cstr(p->out, words[g->state]);
        rh_page_end(p, emphasis[g->state]);
        rh_buf_addf(p->out, "%s%s\n", g->why ? ": " : "", g->why ? g->why : "");
    }
}

int rh_report_text(const struct rh_report *report, struct rh_report_sink *sink)
{
    struct rh_text_page p = {
        .report = report,
        .result = report->result,
        .comparison = report->result->comparison,
        .sink = sink,
        .out = &sink->buf,
    };
    rh_page_header(&p);
    rh_page_servers(&p);
    rh_page_queries(&p);
    rh_page_plans(&p);
    rh_page_errors(&p);
    page_missing(&p);
    page_rows(&p);
    rh_page_dimensions(&p);
    rh_page_checks(&p);
    page_gates(&p);
    return rh_report_sink_flush(sink);
}
