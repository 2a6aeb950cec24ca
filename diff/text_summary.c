#include "diff/summary.h"
#include "diff/text_page.h"

static const enum rh_emphasis tone_emphasis[RH_TONES] = {
    [RH_TONE_PLAIN] = RH_PLAIN,
    [RH_TONE_GOOD] = RH_GREEN,
    [RH_TONE_BAD] = RH_RED,
    [RH_TONE_DOUBT] = RH_YELLOW,
};

enum rh_emphasis rh_page_emphasis(enum rh_tone tone)
{
    return tone_emphasis[tone];
}

static const enum rh_emphasis fit_emphasis[] = {RH_GREEN, RH_YELLOW, RH_RED, RH_PLAIN};

void rh_page_checks(struct rh_text_page *p)
{
    const struct rh_fitness *f = &p->result->fitness;
    rh_page_heading(p, "CHECKS OF THE REHEARSAL");
    for (int i = 0; i < RH_CHECKS; i++) {
        enum rh_check check = (enum rh_check) i;
        enum rh_fit state = f->checks[i].state;
        rh_buf_addf(p->out, "  %-20s ", rh_check_name(check));
        if (state == RH_FIT_UNKNOWN) {
            rh_buf_addf(p->out, "%10s ", "-");
        } else {
            rh_buf_addf(p->out, "%10.6g ", f->checks[i].actual);
        }
        rh_page_begin(p, fit_emphasis[state]);
        rh_buf_addf(p->out, "%-8s", rh_check_state_name(state));
        rh_page_end(p, fit_emphasis[state]);
        rh_buf_addf(p->out, "  %s\n", rh_check_text(check));
    }
}

static bool is_cut_line(int line)
{
    return line == RH_SUMMARY_BASE_CUT || line == RH_SUMMARY_CANDIDATE_CUT;
}

void rh_page_summary(struct rh_text_page *p)
{
    struct rh_summary s;
    rh_summary_make(&s, p->report);
    for (int i = 0; i < RH_SUMMARY_LINES; i++) {
        if (!s.lines[i].label) {
            continue;
        }
        enum rh_emphasis emphasis = is_cut_line(i) ? RH_PLAIN : tone_emphasis[s.lines[i].tone];
        rh_page_begin(p, emphasis);
        rh_buf_addf(p->out, i == RH_SUMMARY_GATES || is_cut_line(i) ? "%s" : "%-8s",
                    s.lines[i].label);
        rh_page_end(p, emphasis);
        if (i == RH_SUMMARY_GATES && s.lines[i].text.len > 0) {
            rh_buf_add_cstr(p->out, ": ");
        }
        rh_buf_add_span(p->out, s.lines[i].text);
        rh_buf_add_span(p->out, s.lines[i].sql);
        rh_buf_add_byte(p->out, '\n');
    }
    rh_summary_release(&s);
}
