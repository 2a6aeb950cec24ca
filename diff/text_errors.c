#include <inttypes.h>
#include <string.h>

#include "common/clock.h"
#include "common/noun.h"
#include "diff/noise.h"
#include "diff/sqlstate_name.h"
#include "diff/text_page.h"

enum { FILE_COLUMNS = 30 };

static const enum rh_emphasis class_emphasis[] = {
    [RH_ERROR_NEW] = RH_RED,    [RH_ERROR_CHANGED] = RH_YELLOW,
    [RH_ERROR_GONE] = RH_GREEN, [RH_ERROR_TYPES_UNKNOWN] = RH_PLAIN,
    [RH_ERROR_SAME] = RH_PLAIN,
};

static void page_error_example(struct rh_text_page *p, const struct rh_error_result *row)
{
    const struct rh_error_group *g = row->group;
    enum rh_side side = g->example[RH_CANDIDATE].known ? RH_CANDIDATE : RH_BASE;
    const struct rh_error_example *e = &g->example[side];
    char time[RH_TIME_TEXT_SIZE] = "time unknown";
    if (e->ref.start_ns != RH_TIME_UNKNOWN) {
        rh_time_format(e->ref.start_ns, time);
    }
    rh_buf_addf(p->out, "      first at %s, session %" PRIu32 ", statement %" PRIu64, time,
                e->ref.session, e->ref.ordinal);
    if (p->comparison->part_count > 1) {
        const char *path = rh_trace_file_path(p->comparison->parts[e->ref.part].file[side]);
        rh_buf_add_cstr(p->out, " of ");
        rh_human_text(p->out, rh_span_cstr(basename(path)), FILE_COLUMNS);
    }
    if (e->ref.copy > 0) {
        rh_buf_addf(p->out, ", copy %" PRIu32, e->ref.copy);
    }
    if (side == RH_BASE) {
        rh_buf_add_cstr(p->out, " of the base");
    }
    if (g->cause) {
        const struct rh_error_group *cause = &p->comparison->errors.items[g->cause];
        char state[6];
        rh_buf_addf(p->out, "; follows %s of %016" PRIx64,
                    rh_sqlstate_unpack(cause->sqlstate, state),
                    p->comparison->queries.items[cause->query].fingerprint);
    }
    if (row->test.tested) {
        rh_buf_addf(p->out, "; %s (q %.2g)",
                    row->test.by_chance ? "may be chance" : "more than chance", row->test.q);
    }
    rh_buf_add_byte(p->out, '\n');
}

/* An error that comes and goes without a change says less. */
static void page_runs(struct rh_text_page *p, const struct rh_error_group *g)
{
    const struct rh_noise *noise = p->result->rule.noise;
    uint64_t fingerprint = p->comparison->queries.items[g->query].fingerprint;
    const struct rh_query_noise *runs = noise ? rh_noise_find(noise, fingerprint) : NULL;
    char n[RH_HUMAN_SIZE];
    if (runs && runs->outcomes_differ > 0) {
        rh_buf_addf(
            p->out,
            "      of this query %s call%s failed in one run of a side and not in another\n",
            rh_human_count(runs->outcomes_differ, n), rh_plural(runs->outcomes_differ));
    }
}

static void page_error(struct rh_text_page *p, const struct rh_error_result *row)
{
    const struct rh_error_group *g = row->group;
    const char *name = rh_sqlstate_name(g->sqlstate);
    char state[6];
    char n[4][RH_HUMAN_SIZE];

    rh_buf_add_cstr(p->out, "  ");
    rh_page_begin(p, class_emphasis[row->klass]);
    rh_buf_addf(p->out, "%-14s", rh_error_class_name(row->klass));
    rh_page_end(p, class_emphasis[row->klass]);
    rh_buf_addf(p->out, "%-5s %-40.40s %11s %11s", rh_sqlstate_unpack(g->sqlstate, state),
                row->is_other ? "(all further groups)"
                : name        ? name
                              : "",
                rh_human_count(g->counts[RH_BASE], n[0]),
                rh_human_count(g->counts[RH_CANDIDATE], n[1]));
    if (p->comparison->paired) {
        rh_buf_addf(p->out, " %11s %11s", rh_human_count(g->broke, n[2]),
                    rh_human_count(g->fixed, n[3]));
    }
    rh_buf_add_byte(p->out, '\n');
    if (!row->is_other) {
        rh_page_query(p, g->query);
        page_error_example(p, row);
        page_runs(p, g);
    }
}

/* Those that only follow from another failure of their transaction, or the others. */
static void page_error_table(struct rh_text_page *p, bool follows, const char *heading)
{
    const struct rh_result *r = p->result;
    uint32_t count = 0;
    uint32_t shown = 0;
    for (uint32_t i = 0; i < r->error_count; i++) {
        const struct rh_error_result *row = &r->errors[i];
        if (row->follows != follows) {
            continue;
        }
        if (count++ == 0) {
            rh_page_heading(p, heading);
            rh_buf_addf(p->out, "  %-14s%-46s %11s %11s", "class", "SQLSTATE", "base", "candidate");
            if (p->comparison->paired) {
                rh_buf_addf(p->out, " %11s %11s", "ok before", "ok now");
            }
            rh_buf_add_byte(p->out, '\n');
        }
        if (shown < p->report->limit) {
            page_error(p, row);
            shown++;
        }
    }
    rh_page_rest(p, count, shown);
}

void rh_page_errors(struct rh_text_page *p)
{
    if (p->result->error_count == 0) {
        rh_page_heading(p, "ERRORS: none on either side");
        return;
    }
    page_error_table(p, false, "ERRORS");
    page_error_table(p, true, "ERRORS THAT ONLY FOLLOW from one before in their transaction");
}
