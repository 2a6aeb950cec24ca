#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "common/clock.h"
#include "common/noun.h"
#include "diff/noise.h"
#include "diff/text_page.h"

enum { CELL_COLUMNS = 47, CELL_SIZE = 4 * CELL_COLUMNS };

/* One line of the comparison of both sides; nothing when neither cell has something. */
static void page_row(struct rh_text_page *p, const char *label, const char *base,
                     const char *candidate)
{
    if (*base || *candidate) {
        rh_buf_addf(p->out, "%-12s ", label);
        rh_page_cell(p, rh_span_cstr(base), CELL_COLUMNS, true);
        rh_buf_add_byte(p->out, ' ');
        rh_human_text(p->out, rh_span_cstr(candidate), CELL_COLUMNS);
        while (p->out->data[p->out->len - 1] == ' ') {
            p->out->len--;
        }
        rh_buf_add_byte(p->out, '\n');
    }
}

typedef void cell_writer(const struct rh_comparison *c, enum rh_side side, char cell[CELL_SIZE]);

static void cell_file(const struct rh_comparison *c, enum rh_side side, char cell[CELL_SIZE])
{
    const char *path = rh_trace_file_path(c->file[side]);
    size_t len = strlen(path);
    char more[40] = "";
    uint32_t count = rh_comparison_file_count(c, side);
    if (count > 1) {
        snprintf(more, sizeof more, " and %" PRIu32 " more", count - 1);
    }
    /* The end of a long path tells more than its start. */
    size_t room = CELL_COLUMNS - strlen(more);
    if (len > room) {
        snprintf(cell, CELL_SIZE, "...%s%s", path + len - (room - 3), more);
    } else {
        snprintf(cell, CELL_SIZE, "%s%s", path, more);
    }
}

static void cell_what(const struct rh_comparison *c, enum rh_side side, char cell[CELL_SIZE])
{
    const struct rh_trace_header *h = rh_trace_file_header(c->file[side]);
    struct rh_span speed = rh_trace_header_setting(h, "speed");
    int len = snprintf(cell, CELL_SIZE, "%s, times of the %s",
                       h->kind == RH_FILE_RUN ? "run" : "workload", rh_vantage_text(h->vantage));
    if (h->kind == RH_FILE_RUN && speed.len > 0 && speed.len < 20) {
        snprintf(cell + len, CELL_SIZE - (size_t) len, ", speed %.*s", (int) speed.len, speed.data);
    }
}

static void cell_server(const struct rh_comparison *c, enum rh_side side, char cell[CELL_SIZE])
{
    const struct rh_trace_header *h = rh_trace_file_header(c->file[side]);
    int version = (int) (h->server_version.len < 40 ? h->server_version.len : 40);
    int address = (int) (h->server_address.len < 80 ? h->server_address.len : 80);
    if (version > 0 || address > 0) {
        snprintf(cell, CELL_SIZE, "PostgreSQL %.*s%s%.*s", version,
                 version > 0 ? h->server_version.data : "", address > 0 ? " at " : "", address,
                 address > 0 ? h->server_address.data : "");
    }
}

static void cell_span(const struct rh_comparison *c, enum rh_side side, char cell[CELL_SIZE])
{
    const struct rh_side_summary *s = &c->side[side];
    char start[RH_TIME_TEXT_SIZE];
    char span[RH_HUMAN_SIZE];
    if (s->first_ns != RH_TIME_UNKNOWN) {
        rh_time_format(s->first_ns, start);
        snprintf(cell, CELL_SIZE, "%.10s %.8s UTC, %s", start, start + 11,
                 rh_human_duration((double) s->last_ns - (double) s->first_ns, span));
    }
}

static void cell_statements(const struct rh_comparison *c, enum rh_side side, char cell[CELL_SIZE])
{
    const struct rh_side_summary *s = &c->side[side];
    char ran[RH_HUMAN_SIZE];
    char all[RH_HUMAN_SIZE];
    char share[RH_HUMAN_SIZE];
    if (rh_trace_file_header(c->file[side])->kind == RH_FILE_RUN) {
        snprintf(cell, CELL_SIZE, "%s of %s ran (%s)", rh_human_count(s->calls, ran),
                 rh_human_count(s->statements, all),
                 rh_human_share(s->calls, s->statements, share));
        size_t len = strlen(cell);
        if (s->outside_window > 0) {
            snprintf(cell + len, CELL_SIZE - len, ", %s outside",
                     rh_human_count(s->outside_window, all));
        }
    } else {
        snprintf(cell, CELL_SIZE, "%s", rh_human_count(s->statements, all));
    }
}

/* The part of the trace, of a run that was given one. */
static void cell_part(const struct rh_comparison *c, enum rh_side side, char cell[CELL_SIZE])
{
    static const char *const names[] = {"from", "to", "read_only", "scale"};
    static const char *const words[] = {"from ", "to ", "read-only", "scale "};
    const struct rh_trace_header *h = rh_trace_file_header(c->file[side]);
    size_t used = 0;
    for (size_t i = 0; h->kind == RH_FILE_RUN && i < sizeof names / sizeof names[0]; i++) {
        struct rh_span value = rh_trace_header_setting(h, names[i]);
        if (value.len > 0 && used < CELL_SIZE) {
            bool is_time = i < 2 && value.len >= 19;
            int n = snprintf(cell + used, CELL_SIZE - used, "%s%s%.*s", used ? ", " : "", words[i],
                             i == 2    ? 0
                             : is_time ? 8
                                       : (int) (value.len < 20 ? value.len : 20),
                             is_time ? value.data + 11 : value.data);
            used += n > 0 ? (size_t) n : 0;
        }
    }
}

static void cell_failed(const struct rh_comparison *c, enum rh_side side, char cell[CELL_SIZE])
{
    const struct rh_side_summary *s = &c->side[side];
    char failed[RH_HUMAN_SIZE];
    char unknown[RH_HUMAN_SIZE];
    int len = snprintf(cell, CELL_SIZE, "%s", rh_human_count(s->errors, failed));
    if (s->unknown > 0) {
        snprintf(cell + len, CELL_SIZE - (size_t) len, ", outcome of %s unknown",
                 rh_human_count(s->unknown, unknown));
    }
}

static void cell_lag(const struct rh_comparison *c, enum rh_side side, char cell[CELL_SIZE])
{
    const struct rh_hist *lag = &c->side[side].lag;
    char p50[RH_HUMAN_SIZE];
    char p99[RH_HUMAN_SIZE];
    char max[RH_HUMAN_SIZE];
    if (lag->count > 0) {
        snprintf(cell, CELL_SIZE, "p50 %s, p99 %s, max %s",
                 rh_human_duration((double) rh_hist_quantile(lag, 0.5), p50),
                 rh_human_duration((double) rh_hist_quantile(lag, 0.99), p99),
                 rh_human_duration((double) lag->max, max));
    }
}

static void cell_behind(const struct rh_comparison *c, enum rh_side side, char cell[CELL_SIZE])
{
    const struct rh_hist *behind = &c->side[side].behind;
    char count[RH_HUMAN_SIZE];
    char p50[RH_HUMAN_SIZE];
    char max[RH_HUMAN_SIZE];
    if (behind->count > 0) {
        snprintf(cell, CELL_SIZE, "%s statement%s, p50 %s, max %s",
                 rh_human_count(behind->count, count), rh_plural(behind->count),
                 rh_human_duration((double) rh_hist_quantile(behind, 0.5), p50),
                 rh_human_duration((double) behind->max, max));
    }
}

static void cell_round_trip(const struct rh_comparison *c, enum rh_side side, char cell[CELL_SIZE])
{
    char text[RH_HUMAN_SIZE];
    double ns = rh_report_round_trip_ns(rh_trace_file_header(c->file[side]));
    if (!isnan(ns)) {
        snprintf(cell, CELL_SIZE, "%s", rh_human_duration(ns, text));
    }
}

static void cell_lacks(const struct rh_comparison *c, enum rh_side side, char cell[CELL_SIZE])
{
    const struct rh_side_summary *s = &c->side[side];
    char n[RH_HUMAN_SIZE];
    int len = 0;
    if (s->gaps > 0) {
        len = snprintf(cell, CELL_SIZE, "%s gap%s", rh_human_count(s->gaps, n), rh_plural(s->gaps));
    }
    if (s->damaged_blocks > 0) {
        snprintf(cell + len, CELL_SIZE - (size_t) len, "%s%s record%s in damaged blocks",
                 len ? ", " : "", rh_human_count(s->damaged_records, n),
                 rh_plural(s->damaged_records));
    }
}

static void page_sides(struct rh_text_page *p)
{
    static const struct {
        const char *label;
        cell_writer *write;
    } rows[] = {
        {"file", cell_file},     {"what", cell_what},
        {"server", cell_server}, {"time", cell_span},
        {"part", cell_part},     {"statements", cell_statements},
        {"failed", cell_failed}, {"lag", cell_lag},
        {"behind", cell_behind}, {"round trip", cell_round_trip},
        {"lacks", cell_lacks},
    };
    rh_page_begin(p, RH_BOLD);
    page_row(p, "", "BASE", "CANDIDATE");
    rh_page_end(p, RH_BOLD);
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        char cells[RH_SIDES][CELL_SIZE] = {"", ""};
        rows[i].write(p->comparison, RH_BASE, cells[RH_BASE]);
        rows[i].write(p->comparison, RH_CANDIDATE, cells[RH_CANDIDATE]);
        page_row(p, rows[i].label, cells[RH_BASE], cells[RH_CANDIDATE]);
    }
}

static void page_copies(struct rh_text_page *p)
{
    for (int side = 0; side < RH_SIDES; side++) {
        if (p->comparison->stands_for[side] > 1) {
            rh_buf_addf(p->out, "%-12s each statement of the %s stands against %u copies\n",
                        "scale", side == RH_BASE ? "base" : "candidate",
                        p->comparison->stands_for[side]);
        }
    }
}

static void page_pairs(struct rh_text_page *p)
{
    const struct rh_pair_totals *t = &p->comparison->pairs;
    char n[4][RH_HUMAN_SIZE];
    if (!p->comparison->paired) {
        rh_buf_addf(p->out,
                    "%-12s none: the files come from different traces; queries are compared "
                    "by their mean times\n",
                    "pairs");
        return;
    }
    if (p->comparison->windows_differ) {
        rh_buf_addf(p->out,
                    "%-12s the runs were given different parts (--from, --to): only what both had "
                    "in scope\n%-12s is compared\n",
                    "part", "");
    }
    page_copies(p);
    rh_buf_addf(p->out, "%-12s %s statement%s; only the base ran %s, only the candidate %s\n",
                "pairs", rh_human_count(t->paired, n[0]), rh_plural(t->paired),
                rh_human_count(t->missing, n[1]),
                rh_human_count(t->candidate_only + t->ran_only_in_candidate, n[2]));
    if (p->report->inputs && p->comparison->part_count > p->report->inputs->part_count) {
        rh_buf_addf(p->out,
                    "%-12s of %" PRIu32
                    " pairs of runs, counted together: calls, rows, errors and times are sums\n",
                    "", p->comparison->part_count);
    }
    if (t->unpairable > 0) {
        rh_buf_addf(p->out, "%-12s %s statement%s an identity that another one has too\n", "",
                    rh_human_count(t->unpairable, n[3]), rh_noun(t->unpairable, " has", "s have"));
    }
}

/* What the latencies are worth. */
static void page_latency(struct rh_text_page *p)
{
    const struct rh_result *r = p->result;
    char a[RH_HUMAN_SIZE];
    char b[RH_HUMAN_SIZE];
    switch (r->latency) {
    case RH_LATENCY_ABSOLUTE:
        if (!isnan(r->time_added_pct)) {
            rh_buf_addf(p->out, "%-12s %s in the base, %s (%+.1f %%) in the candidate\n", "time",
                        rh_human_duration(r->base_time_ns, a),
                        rh_human_duration_signed(r->time_added_ns, b), r->time_added_pct);
        }
        break;
    case RH_LATENCY_RELATIVE:
        rh_buf_addf(
            p->out,
            "%-12s taken at different places: ratios are relative to the median shift of %s\n",
            "times", rh_human_ratio(r->median_shift, a));
        break;
    case RH_LATENCY_NONE:
        rh_buf_addf(p->out, "%-12s a side has none: only errors, rows and coverage are compared\n",
                    "times");
        break;
    }
}

/* What is tested against, and where it comes from. */
static void page_noise(struct rh_text_page *p)
{
    const struct rh_result *r = p->result;
    const struct rh_noise *noise = r->rule.noise;
    char n[RH_HUMAN_SIZE];
    if (r->latency != RH_LATENCY_ABSOLUTE || !p->comparison->paired) {
        return;
    }
    rh_buf_addf(p->out, "%-12s margin %.3g %%", "noise", 100 * r->rule.margin);
    if (!noise) {
        rh_buf_add_cstr(p->out, " by --margin: one run of each side does not tell it\n");
        return;
    }
    if (noise->pairs == 0) {
        rh_buf_add_cstr(p->out, " by --margin: the runs of one side are no valid repeats\n");
        return;
    }
    if (noise->margin > r->margin_given) {
        rh_buf_addf(p->out, ", as %" PRIu32 " pair%s of runs of one side differ", noise->pairs,
                    rh_plural(noise->pairs));
    } else if (isnan(noise->margin)) {
        rh_buf_add_cstr(p->out, " by --margin: too few queries repeat often enough to tell it");
    } else {
        rh_buf_addf(p->out, " by --margin; runs of one side differ by %.2g %%",
                    100 * noise->margin);
    }
    if (r->noisier > 0) {
        rh_buf_addf(p->out, "; %s quer%s more of %s own", rh_human_count(r->noisier, n),
                    rh_noun(r->noisier, "y has", "ies have"), rh_noun(r->noisier, "its", "their"));
    }
    rh_buf_add_byte(p->out, '\n');
    if (noise->rejected > 0) {
        rh_buf_addf(p->out, "%-12s %" PRIu32 " pair%s of runs left out: invalid as repeats\n", "",
                    noise->rejected, rh_plural(noise->rejected));
    }
}

void rh_page_header(struct rh_text_page *p)
{
    rh_page_summary(p);
    rh_buf_add_byte(p->out, '\n');
    page_sides(p);
    page_pairs(p);
    page_latency(p);
    page_noise(p);
}
