#include "diff/html_data.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/alloc.h"
#include "common/json.h"
#include "diff/html_query.h"
#include "diff/json_head.h"
#include "diff/sqlstate_name.h"

enum {
    TEXTS_BYTES = 300000,   /* all queries' texts together, of up to RH_PAGE_FEW queries */
    TEXTS_BYTES_EACH = 190, /* and of each query more */
    TEXT_MIN = 60,
    ERROR_SQL_MAX = 300,
    JSON_MAX = 1 << 24,
};

/* Which queries are on the page, and how much of each. */
struct plan {
    bool *kept;
    bool *detailed;
    uint32_t left_out;
    uint32_t text_max; /* bytes of a query's text */
};

struct writer {
    const struct rh_report *report;
    const struct rh_result *result;
    struct rh_report_sink *sink;
    struct rh_buf scratch;
    struct rh_json json; /* into scratch */
};

void rh_html_add_json(struct rh_buf *out, struct rh_span json)
{
    size_t from = 0;
    for (size_t i = 0; i < json.len; i++) {
        char c = json.data[i];
        bool separator = c == '\xe2' && json.len - i > 2 && json.data[i + 1] == '\x80' &&
                         (json.data[i + 2] == '\xa8' || json.data[i + 2] == '\xa9');
        if (c != '<' && c != '>' && c != '&' && !separator) {
            continue;
        }
        rh_buf_add(out, json.data + from, i - from);
        if (separator) {
            rh_buf_add_cstr(out, json.data[i + 2] == '\xa8' ? "\\u2028" : "\\u2029");
            i += 2;
        } else {
            rh_buf_addf(out, "\\u%04x", (unsigned) (unsigned char) c);
        }
        from = i + 1;
    }
    rh_buf_add(out, json.data + from, json.len - from);
}

static void flush(struct writer *w)
{
    rh_html_add_json(&w->sink->buf, rh_buf_span(&w->scratch));
    rh_buf_clear(&w->scratch);
    rh_report_sink_drain(w->sink);
}

/* A query and how much it matters: first those that changed, then by time. */
struct weight {
    uint32_t index;
    bool changed;
    double time_ns;
};

static int order_weights(const void *a, const void *b)
{
    const struct weight *x = a;
    const struct weight *y = b;
    if (x->changed != y->changed) {
        return x->changed ? -1 : 1;
    }
    if (x->time_ns != y->time_ns) {
        return x->time_ns > y->time_ns ? -1 : 1;
    }
    return x->index < y->index ? -1 : 1;
}

/* At least what it takes in the page. */
static uint64_t text_cost(struct rh_span text, uint32_t max)
{
    uint64_t cost = 0;
    for (size_t i = 0; i < text.len && i < max; i++) {
        unsigned char c = (unsigned char) text.data[i];
        bool escaped = c < 0x20 || c >= 0x7f || c == '<' || c == '>' || c == '&';
        cost += escaped ? 6 : c == '"' || c == '\\' ? 2 : 1;
    }
    return cost;
}

static uint32_t text_max(const struct rh_result *r, const struct plan *plan)
{
    uint32_t kept = r->query_count - plan->left_out;
    uint64_t budget = TEXTS_BYTES;
    if (kept > RH_PAGE_FEW) {
        budget += (uint64_t) (kept - RH_PAGE_FEW) * TEXTS_BYTES_EACH;
    }
    for (uint32_t max = RH_QUERY_SQL_MAX; max > TEXT_MIN; max = max / 4 * 3) {
        uint64_t cost = 0;
        for (uint32_t i = 0; i < r->query_count && cost <= budget; i++) {
            cost += plan->kept[i] ? text_cost(r->queries[i].query->sql, max) : 0;
        }
        if (cost <= budget) {
            return max;
        }
    }
    return TEXT_MIN;
}

static void plan_make(struct plan *plan, const struct rh_result *r)
{
    struct weight *weights = rh_calloc(r->query_count + 1, sizeof *weights);
    plan->kept = rh_calloc(r->query_count + 1, sizeof *plan->kept);
    plan->detailed = rh_calloc(r->query_count + 1, sizeof *plan->detailed);
    for (uint32_t i = 0; i < r->query_count; i++) {
        const struct rh_query_result *row = &r->queries[i];
        double added = fabs(isnan(row->relative_time_added_ns) ? row->time_added_ns
                                                               : row->relative_time_added_ns);
        bool changed = row->verdict == RH_QUERY_REGRESSED || row->verdict == RH_QUERY_IMPROVED;
        weights[i] = (struct weight){i, changed && !row->minor, isnan(added) ? -1 : added};
    }
    qsort(weights, r->query_count, sizeof *weights, order_weights);
    uint32_t details = r->query_count > RH_PAGE_FEW ? RH_PAGE_DETAILS_MANY : RH_PAGE_DETAILS;
    for (uint32_t i = 0; i < r->query_count && i < RH_PAGE_QUERIES_MAX; i++) {
        plan->kept[weights[i].index] = true;
        plan->detailed[weights[i].index] = i < details;
    }
    plan->left_out =
        r->query_count > RH_PAGE_QUERIES_MAX ? r->query_count - RH_PAGE_QUERIES_MAX : 0;
    plan->text_max = text_max(r, plan);
    rh_free(weights);
}

static void plan_release(struct plan *plan)
{
    rh_free(plan->kept);
    rh_free(plan->detailed);
}

static void put_queries(struct writer *w, const struct plan *plan)
{
    struct rh_json *j = &w->json;
    rh_json_key(j, "queries_left_out");
    rh_json_int(j, plan->left_out);
    rh_html_query_names(j);
    rh_json_key(j, "queries");
    rh_json_open(j, '[');
    for (uint32_t i = 0; i < w->result->query_count; i++) {
        if (plan->kept[i]) {
            rh_html_query_row(j, &w->result->queries[i], plan->text_max);
            flush(w);
        }
    }
    rh_json_close(j);
}

/* By the place of the query's row. */
static void put_details(struct writer *w, const struct plan *plan)
{
    struct rh_json *j = &w->json;
    uint32_t place = 0;
    rh_json_key(j, "details");
    rh_json_open(j, '{');
    for (uint32_t i = 0; i < w->result->query_count; i++) {
        if (plan->detailed[i]) {
            char key[16];
            snprintf(key, sizeof key, "%" PRIu32, place);
            rh_json_key(j, key);
            rh_html_query_detail(j, w->report, &w->result->queries[i]);
            flush(w);
        }
        place += plan->kept[i];
    }
    rh_json_close(j);
}

static void put_kind(struct rh_json *j, const struct rh_comparison *c,
                     const struct rh_error_result *row)
{
    const struct rh_error_group *g = row->group;
    char state[6];
    rh_json_key(j, "class");
    rh_json_cstr(j, rh_error_class_name(row->klass));
    rh_json_key(j, "sqlstate");
    rh_json_cstr(j, row->is_other || g->sqlstate == RH_SQLSTATE_UNKNOWN
                        ? NULL
                        : rh_sqlstate_unpack(g->sqlstate, state));
    rh_json_key(j, "name");
    rh_json_cstr(j, row->is_other ? NULL : rh_sqlstate_name(g->sqlstate));
    rh_json_key(j, "follows");
    rh_json_bool(j, row->follows);
    rh_json_key(j, "cause");
    if (g->cause) {
        const struct rh_error_group *cause = &c->errors.items[g->cause];
        char text[40];
        snprintf(text, sizeof text, "%s of %016" PRIx64, rh_sqlstate_unpack(cause->sqlstate, state),
                 c->queries.items[cause->query].fingerprint);
        rh_json_cstr(j, text);
    } else {
        rh_json_null(j);
    }
}

static void put_error(struct writer *w, const struct rh_error_result *row)
{
    const struct rh_comparison *c = w->result->comparison;
    const struct rh_error_group *g = row->group;
    const struct rh_query *q = &c->queries.items[g->query];
    enum rh_side side = g->example[RH_CANDIDATE].known ? RH_CANDIDATE : RH_BASE;
    const struct rh_error_example *e = &g->example[side];
    struct rh_json *j = &w->json;

    rh_json_open(j, '{');
    put_kind(j, c, row);
    rh_json_key(j, "base");
    rh_json_int(j, (int64_t) g->counts[RH_BASE]);
    rh_json_key(j, "candidate");
    rh_json_int(j, (int64_t) g->counts[RH_CANDIDATE]);
    rh_json_key(j, "broke");
    rh_json_int(j, (int64_t) g->broke);
    rh_json_key(j, "fixed");
    rh_json_int(j, (int64_t) g->fixed);
    rh_json_key(j, "by_chance");
    if (row->test.tested) {
        rh_json_bool(j, row->test.by_chance);
    } else {
        rh_json_null(j);
    }
    rh_json_key(j, "sql");
    rh_json_text(j, rh_html_cut(row->is_other ? RH_SPAN_LITERAL("(all further groups)") : q->sql,
                                ERROR_SQL_MAX));
    rh_html_example(j, "example", &e->ref, side);
    if (w->report->examples && e->text && !row->is_other) {
        rh_html_example_text(j, rh_span(e->text, e->text_len), e->text_cut);
    }
    rh_json_close(j);
}

static void put_errors(struct writer *w)
{
    struct rh_json *j = &w->json;
    uint32_t count = w->result->error_count;
    uint32_t shown = count < RH_PAGE_ERRORS_MAX ? count : RH_PAGE_ERRORS_MAX;
    rh_json_key(j, "errors_left_out");
    rh_json_int(j, count - shown);
    rh_json_key(j, "errors");
    rh_json_open(j, '[');
    for (uint32_t i = 0; i < shown; i++) {
        put_error(w, &w->result->errors[i]);
        flush(w);
    }
    rh_json_close(j);
}

void rh_html_data(const struct rh_report *report, struct rh_report_sink *sink)
{
    struct writer w = {.report = report, .result = report->result, .sink = sink};
    struct plan plan;
    rh_buf_init(&w.scratch, JSON_MAX);
    rh_json_init(&w.json, &w.scratch, false);
    plan_make(&plan, w.result);
    rh_json_open(&w.json, '{');
    rh_json_head(&w.json, report);
    flush(&w);
    put_queries(&w, &plan);
    put_details(&w, &plan);
    put_errors(&w);
    rh_json_plan_texts(&w.json, report->plans);
    rh_json_close(&w.json);
    flush(&w);
    plan_release(&plan);
    rh_buf_release(&w.scratch);
}
