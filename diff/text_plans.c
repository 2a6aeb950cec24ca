#include <inttypes.h>
#include <string.h>

#include "diff/escape.h"
#include "diff/text_page.h"

enum { COLUMNS = 53, LINES_MAX = 60 };

/* The next line of *text; blanks at its begin, which show the tree, count. */
static struct rh_span next_line(const char **text)
{
    size_t len = strcspn(*text, "\n");
    struct rh_span line = rh_span(*text, len);
    *text += len + ((*text)[len] == '\n');
    return line;
}

/* The line cut to its column and padded; the tree is drawn by its blanks, which
 * rh_human_text() would join. */
static void page_half(struct rh_text_page *p, struct rh_span line, bool pad)
{
    unsigned blanks = 0;
    while (blanks < line.len && line.data[blanks] == ' ' && blanks < COLUMNS / 2) {
        rh_buf_add_byte(p->out, ' ');
        blanks++;
    }
    rh_page_cell(p, rh_span(line.data + blanks, line.len - blanks), COLUMNS - blanks, pad);
}

static void page_pair(struct rh_text_page *p, const struct rh_plan_pair *plan)
{
    const char *left = plan->text[RH_BASE], *right = plan->text[RH_CANDIDATE];
    for (int n = 0; (*left || *right) && n < LINES_MAX; n++) {
        rh_buf_add_byte(p->out, ' ');
        page_half(p, next_line(&left), *right != '\0');
        if (*right) {
            rh_buf_add_cstr(p->out, "  ");
            page_half(p, next_line(&right), false);
        }
        rh_buf_add_byte(p->out, '\n');
    }
    if (*left || *right) {
        rh_buf_add_cstr(p->out, "  ... (the page and the JSON have all of it)\n");
    }
}

/* Plans for any values may be alike where those of some values are not. */
static void page_plan(struct rh_text_page *p, const struct rh_plan_text *plan)
{
    page_pair(p, &plan->any);
    if (plan->ordinal > 0) {
        rh_buf_add_cstr(p->out, "  for the ");
        rh_plan_text_name_call(plan, p->out);
        rh_buf_addf(p->out, "%s\n", plan->call.differ ? ": they DIFFER" : "");
        page_pair(p, &plan->call);
    }
}

void rh_page_plans(struct rh_text_page *p)
{
    const struct rh_plan_texts *plans = p->report->plans;
    uint32_t shown = 0;
    for (uint32_t i = 0; i < p->result->query_count && shown < p->report->limit; i++) {
        const struct rh_query *q = p->result->queries[i].query;
        const struct rh_plan_text *plan =
            p->result->queries[i].is_other ? NULL : rh_plan_texts_find(plans, q->fingerprint);
        if (!plan) {
            continue;
        }
        if (shown++ == 0) {
            rh_page_heading(p, "PLANS, of the base and of the candidate");
        }
        rh_buf_addf(p->out, "%s", plan->any.differ ? "  they DIFFER\n" : "");
        rh_page_query(p, (uint32_t) (q - p->comparison->queries.items));
        page_plan(p, plan);
        rh_report_sink_drain(p->sink);
    }
}
