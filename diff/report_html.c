#include <string.h>

#include "diff/escape.h"
#include "diff/html_assets.h"
#include "diff/html_data.h"
#include "diff/report.h"
#include "diff/summary.h"
#include "rh_version.h"

/*
 * One page that needs nothing but itself.  Its first screen is plain HTML; the rest is made by its
 * script (diff/html) from the data in it.  The policy in its head forbids every request, whatever
 * were to get into the page.
 */

static void put_text(struct rh_buf *out, const char *text)
{
    rh_escape_xml(out, rh_span_cstr(text));
}

static void put_head(const struct rh_report *report, struct rh_buf *out)
{
    rh_buf_add_cstr(out,
                    "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
                    "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; "
                    "style-src 'unsafe-inline'; script-src 'unsafe-inline'; base-uri 'none'; "
                    "form-action 'none'\">\n"
                    "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
                    "<meta name=\"robots\" content=\"noindex\">\n<title>pgrehearse diff: ");
    put_text(out,
             report->verdict == RH_VERDICT_NONE ? "no gates" : rh_verdict_word(report->verdict));
    rh_buf_add_cstr(out, "</title>\n<style>\n");
    rh_buf_add(out, rh_html_style, rh_html_style_len);
    rh_buf_add_cstr(out, "</style>\n</head>\n<body>\n");
}

/* Names and what they mean; a line without a name belongs to the one before it. */
static void put_summary(const struct rh_report *report, struct rh_buf *out)
{
    struct rh_summary s;
    rh_summary_make(&s, report);
    rh_buf_addf(out, "<header>\n<h1>pgrehearse diff: <span class=\"%s\">",
                rh_tone_name(s.lines[RH_SUMMARY_GATES].tone));
    put_text(out,
             report->verdict == RH_VERDICT_NONE ? "no gates" : rh_verdict_word(report->verdict));
    rh_buf_add_cstr(out, "</span></h1>\n</header>\n<main id=\"main\">\n<dl class=\"summary\">\n");
    for (int i = 0; i < RH_SUMMARY_LINES; i++) {
        bool gates = i == RH_SUMMARY_GATES;
        if (!s.lines[i].label || (gates && s.lines[i].text.len == 0)) {
            continue;
        }
        if (*s.lines[i].label) {
            rh_buf_addf(out, "<dt class=\"%s\">", rh_tone_name(s.lines[i].tone));
            put_text(out, gates ? "Gates" : s.lines[i].label);
            rh_buf_add_cstr(out, "</dt>");
        }
        rh_buf_add_cstr(out, "<dd>");
        rh_escape_xml(out, s.lines[i].text);
        if (s.lines[i].sql.len > 0) {
            rh_buf_add_cstr(out, "<code>");
            rh_escape_xml(out, s.lines[i].sql);
            rh_buf_add_cstr(out, "</code>");
        }
        rh_buf_add_cstr(out, "</dd>\n");
    }
    rh_buf_add_cstr(out,
                    "</dl>\n<noscript><p>Tables and plots need JavaScript; the text report has "
                    "the tables without it.</p></noscript>\n</main>\n");
    rh_summary_release(&s);
}

int rh_report_html(const struct rh_report *report, struct rh_report_sink *sink)
{
    put_head(report, &sink->buf);
    put_summary(report, &sink->buf);
    rh_buf_add_cstr(&sink->buf, "<footer><p class=\"quiet\">Made by pgrehearse " RH_VERSION
                                ". What each number means: docs/REPORT.md.</p></footer>\n"
                                "<script type=\"application/json\" id=\"data\">");
    rh_html_data(report, sink);
    rh_buf_add_cstr(&sink->buf, "</script>\n<script>\n(() => {\n\"use strict\";\n");
    rh_buf_add(&sink->buf, rh_html_script, rh_html_script_len);
    rh_buf_add_cstr(&sink->buf, "})();\n</script>\n</body>\n</html>\n");
    return rh_report_sink_flush(sink);
}
