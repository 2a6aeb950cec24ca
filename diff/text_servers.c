#include "diff/server_difference.h"
#include "diff/text_page.h"

enum { NAME_COLUMNS = 44, VALUE_COLUMNS = 30, NAME_MAX_BYTES = 400 };

static void page_difference(struct rh_text_page *p, const struct rh_server_difference *d)
{
    struct rh_buf name;
    rh_buf_init(&name, NAME_MAX_BYTES);
    rh_server_difference_name(d, &name);
    rh_buf_add_cstr(p->out, "  ");
    rh_page_cell(p, rh_buf_span(&name), NAME_COLUMNS, true);
    rh_buf_add_byte(p->out, ' ');
    rh_page_cell(p, rh_span_cstr(d->text[RH_BASE]), VALUE_COLUMNS, true);
    rh_buf_add_byte(p->out, ' ');
    rh_human_text(p->out, rh_span_cstr(d->text[RH_CANDIDATE]), VALUE_COLUMNS);
    rh_buf_add_byte(p->out, '\n');
    rh_report_sink_drain(p->sink);
    rh_buf_release(&name);
}

void rh_page_servers(struct rh_text_page *p)
{
    const struct rh_server_differences *d = p->report->servers;
    if (!d || d->count == 0 || p->report->limit == 0) {
        return;
    }
    uint32_t shown = d->count < p->report->limit ? d->count : p->report->limit;
    rh_page_heading(p, "THE SERVERS DIFFER");
    rh_buf_addf(p->out, "  %-*s %-*s %s\n", NAME_COLUMNS, "", VALUE_COLUMNS, "base", "candidate");
    for (uint32_t i = 0; i < shown; i++) {
        page_difference(p, &d->items[i]);
    }
    rh_page_rest(p, d->count, shown);
}
