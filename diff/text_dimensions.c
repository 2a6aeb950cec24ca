#include <ctype.h>
#include <math.h>
#include <stdio.h>

#include "diff/text_page.h"

enum { NAME_COLUMNS = 28 };

static void page_value(struct rh_text_page *p, const struct rh_dimension_row *row)
{
    const struct rh_dimension_value *v = row->value;
    const char *verdict = rh_dimension_verdict(row);
    char text[6][RH_HUMAN_SIZE];
    char share[RH_HUMAN_SIZE] = "-";
    if (!isnan(row->time_added_pct)) {
        snprintf(share, sizeof share, "%+.1f %%", row->time_added_pct);
    }
    rh_buf_addf(p->out, "  %-10s %10s %8s %8s %11s %11s %8s %8s  ", verdict ? verdict : "-",
                rh_human_duration_signed(row->time_added_ns, text[0]), share,
                rh_human_ratio(row->ratio, text[1]),
                rh_human_count(v->counts.calls[RH_BASE], text[2]),
                rh_human_count(v->counts.calls[RH_CANDIDATE], text[3]),
                rh_human_count(v->counts.errors[RH_BASE], text[4]),
                rh_human_count(v->counts.errors[RH_CANDIDATE], text[5]));
    if (row->is_other) {
        rh_buf_add_cstr(p->out, "(all others)");
    } else if (v->name.len == 0) {
        rh_buf_add_cstr(p->out, "(none)");
    } else {
        rh_human_text(p->out, v->name, NAME_COLUMNS);
    }
    rh_buf_add_byte(p->out, '\n');
}

static void page_dimension(struct rh_text_page *p, const char *name,
                           const struct rh_dimension_result *d)
{
    char heading[40];
    uint32_t k = 0;
    size_t len = (size_t) snprintf(heading, sizeof heading, "BY %s", name);
    for (size_t c = 0; c < len && c < sizeof heading; c++) {
        heading[c] = (char) toupper((unsigned char) heading[c]);
    }
    rh_page_heading(p, heading);
    rh_buf_addf(p->out, "  %-10s %10s %8s %8s %11s %11s %8s %8s\n", "verdict", "time added",
                "of base", "ratio", "calls base", "candidate", "errors", "cand.");
    for (; k < d->count && k < p->report->limit; k++) {
        page_value(p, &d->rows[k]);
    }
    rh_page_rest(p, d->count, k);
}

/* Of one value there is nothing to tell that the whole does not. */
void rh_page_dimensions(struct rh_text_page *p)
{
    for (int i = 0; i < RH_DIMENSIONS; i++) {
        const struct rh_dimension_result *d = &p->result->dimensions[i];
        if (d->count > 1) {
            page_dimension(p, rh_dimension_name((enum rh_dimension) i), d);
        }
    }
}
