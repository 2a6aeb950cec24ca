/* capture/capture_summary.c */
#include "capture/capture_summary.h"

#include <inttypes.h>
#include <string.h>

#include "capture/assembler.h"
#include "capture/summary_text.h"
#include "common/clock.h"

static void print_input(const struct rh_capture_summary *m, FILE *out)
{
    const struct rh_log_reader_counts *c = m->counts;
    const struct rh_capture_stats *s = m->stats;
    char size[RH_SIZE_TEXT];
    fprintf(out, "read         %" PRIu64 " record%s, %s, %" PRIu32 " file%s\n", c->records,
            rh_plural(c->records), rh_size_text(c->bytes, size), m->file_count,
            rh_plural(m->file_count));
    if (m->empty_files > 0) {
        fprintf(out, "             %" PRIu32 " file%s empty\n", m->empty_files,
                m->empty_files == 1 ? " was" : "s were");
    }
    if (s->first_ns != RH_TIME_UNKNOWN) {
        char first[RH_TIME_TEXT_SIZE], last[RH_TIME_TEXT_SIZE];
        fprintf(out, "             from %s to %s\n", rh_time_format(s->first_ns, first),
                rh_time_format(s->last_ns, last));
    }
    if (m->verbose) {
        fprintf(out,
                "             of processes without a client %" PRIu64 ", plans %" PRIu64
                ", audits %" PRIu64 ", others %" PRIu64 "\n",
                s->background, s->plans, s->audits, s->other);
    }
    if (c->unknown_columns > 0) {
        fprintf(out,
                "             %" PRIu64 " record%s with other columns than any release known "
                "has: the known ones were read\n",
                c->unknown_columns, rh_plural(c->unknown_columns));
    }
}

static void print_bad(const struct rh_log_reader_counts *c, FILE *out)
{
    uint64_t bad = rh_log_reader_bad(c);
    if (bad == 0) {
        return;
    }
    char size[RH_SIZE_TEXT];
    fprintf(out, "bad          %" PRIu64 " record%s, %s\n", bad, rh_plural(bad),
            rh_size_text(c->bad_bytes, size));
    for (int i = 0; i < RH_CSVLOG_FAULT_COUNT; i++) {
        if (c->bad[i] > 0) {
            fprintf(out, "             %9" PRIu64 "  %s\n", c->bad[i],
                    rh_csvlog_fault_text((enum rh_csvlog_fault) i));
        }
    }
    for (uint32_t i = 0; i < c->sample_count; i++) {
        const struct rh_bad_sample *b = &c->samples[i];
        fprintf(out, "             %s:%" PRIu64 ": %s (%" PRIu64 " byte%s at byte %" PRIu64 ")\n",
                b->file, b->line, rh_csvlog_fault_text(b->fault), b->bytes, rh_plural(b->bytes),
                b->byte);
    }
    if (bad > c->sample_count) {
        fprintf(out, "             and %" PRIu64 " more\n", bad - c->sample_count);
    }
}

static void print_sessions(const struct rh_capture_stats *s, FILE *out)
{
    fprintf(out, "sessions     %" PRIu64, s->sessions);
    if (s->joined_midway > 0) {
        fprintf(out, ", %" PRIu64 " open before the log began", s->joined_midway);
    }
    if (s->left_open > 0) {
        fprintf(out, ", %" PRIu64 " without an end", s->left_open);
    }
    if (s->logins_failed > 0) {
        fprintf(out, ", %" PRIu64 " failed login%s", s->logins_failed, rh_plural(s->logins_failed));
    }
    fputc('\n', out);
    if (s->retired > 0) {
        fprintf(out,
                "             %" PRIu64
                " of these given up, idle longest, while more than %d were open; "
                "%" PRIu64
                " came\n             back as other sessions (log_disconnections = on tells "
                "the ends)\n",
                s->retired, RH_LOG_SESSIONS_MAX, s->resumed);
    }
    if (s->sessions_filtered > 0) {
        fprintf(out, "             %" PRIu64 " left out by --user, --database or --sample\n",
                s->sessions_filtered);
    }
    if (s->probes > 0) {
        fprintf(out, "             %" PRIu64 " connection%s that never logged in left out\n",
                s->probes, rh_plural(s->probes));
    }
}

static void print_statements(const struct rh_capture_stats *s, FILE *out)
{
    uint64_t statements = rh_capture_stats_statements(s);
    fprintf(out, "statements   %" PRIu64 ": %" PRIu64 " simple, %" PRIu64 " extended", statements,
            s->kinds[RH_KIND_QUERY], s->kinds[RH_KIND_EXECUTE]);
    if (s->kinds[RH_KIND_FUNCTION] > 0) {
        fprintf(out, ", %" PRIu64 " function call%s", s->kinds[RH_KIND_FUNCTION],
                rh_plural(s->kinds[RH_KIND_FUNCTION]));
    }
    fprintf(out, "; %" PRIu64 " with a duration\n", s->timed);
    if (s->kinds[RH_KIND_FETCH] + s->kinds[RH_KIND_PROTOCOL] > 0) {
        fprintf(out,
                "             beside them %" PRIu64 " later fetch%s of a portal, %" PRIu64
                " parse or bind without an execution\n",
                s->kinds[RH_KIND_FETCH], s->kinds[RH_KIND_FETCH] == 1 ? "" : "es",
                s->kinds[RH_KIND_PROTOCOL]);
    }
    rh_summary_filtered(s, out);
    if (s->outcome_unknown > 0) {
        fprintf(out, "             %" PRIu64 " of unknown outcome\n", s->outcome_unknown);
    }
    if (s->failed > 0) {
        fprintf(out, "failed       %" PRIu64, s->failed);
        if (s->error_only > 0) {
            fprintf(out, ", %" PRIu64 " of them known from their error alone", s->error_only);
        }
        fputc('\n', out);
        rh_summary_errors(s, out);
    }
}

static void print_missing(const struct rh_capture_summary *m, FILE *out)
{
    const struct rh_capture_stats *s = m->stats;
    const struct {
        uint64_t count;
        const char *what;
    } rows[] = {
        {s->missing_lines, "log lines (gaps in the sessions' line numbers)"},
        {s->textless, "executions logged without their text (log_duration alone does that)"},
        {s->textless_prepares,
         "parses or binds logged without their text and without an execution"},
        {s->errors_without_text, "errors without their statement (log_min_error_statement)"},
    };
    const char *label = "missing";
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        if (rows[i].count > 0) {
            fprintf(out, "%-13s%9" PRIu64 "  %s\n", label, rows[i].count, rows[i].what);
            label = "";
        }
    }
    if (s->repeated > 0) {
        fprintf(out,
                "repeated     %" PRIu64
                " record%s read before and left out, the first at %s:%" PRIu64 "\n",
                s->repeated, rh_plural(s->repeated), s->repeated_at.file, s->repeated_at.line);
    }
    if (s->disordered > 0) {
        fprintf(out,
                "disorder     %" PRIu64
                " record%s out of order, behind later ones of their sessions, left out,\n"
                "             the first at %s:%" PRIu64 "\n",
                s->disordered, rh_plural(s->disordered), s->disordered_at.file,
                s->disordered_at.line);
    }
    fputs("             A log never holds: COPY data, parameter types, row counts and row limits,\n"
          "             Describe, Close and Sync.",
          out);
    if (s->commit_not_timed > 0) {
        fprintf(out, " %" PRIu64 " duration%s lack%s the commit.", s->commit_not_timed,
                rh_plural(s->commit_not_timed), s->commit_not_timed == 1 ? "s" : "");
    }
    fputc('\n', out);
}

void rh_capture_summary_print(const struct rh_capture_summary *m, FILE *out)
{
    rh_capture_stats_sort(m->stats);
    print_input(m, out);
    print_bad(m->counts, out);
    print_sessions(m->stats, out);
    print_statements(m->stats, out);
    rh_summary_runaways("--include", m->include_runaways, out);
    rh_summary_runaways("--exclude", m->exclude_runaways, out);
    rh_summary_held(m->stats, out);
    print_missing(m, out);
    if (m->redacted) {
        fputs("redacted     all literals, parameters and comments: the trace feeds only the diff, "
              "nothing\n             of it is replayed\n",
              out);
    }
    uint64_t statements = rh_capture_stats_statements(m->stats);
    char size[RH_SIZE_TEXT];
    if (m->output && m->output_bytes > 0 && statements > 0) {
        fprintf(out, "wrote        %s: %s, %.1f bytes a statement\n", m->output,
                rh_size_text(m->output_bytes, size),
                (double) m->output_bytes / (double) statements);
    }
}

void rh_capture_summary_note(const struct rh_capture_summary *m, struct rh_trace_writer *w)
{
    const struct rh_capture_stats *s = m->stats;
    const struct rh_log_reader_counts *c = m->counts;
    if (s->server_version[0] != '\0') {
        rh_trace_writer_note(w, "server_version", rh_span_cstr(s->server_version));
    }
    rh_summary_note(w, "log_files", m->file_count);
    rh_summary_note(w, "log_records", c->records);
    rh_summary_note(w, "log_bytes", c->bytes);
    rh_summary_note(w, "log_bad_records", rh_log_reader_bad(c));
    rh_summary_note(w, "log_missing_lines", s->missing_lines);
    rh_summary_note(w, "log_repeated_records", s->repeated);
    rh_summary_note(w, "log_records_out_of_order", s->disordered);
    rh_summary_note(w, "log_executions_without_text", s->textless);
    rh_summary_note(w, "log_errors_without_statement", s->errors_without_text);
    rh_summary_note(w, "log_plans", s->plans);
    rh_summary_note(w, "log_audits", s->audits);
    rh_summary_note(w, "filtered_statements", s->filtered);
    rh_summary_note(w, "include_pattern_ran_away", m->include_runaways);
    rh_summary_note(w, "exclude_pattern_ran_away", m->exclude_runaways);
    rh_summary_note(w, "sessions_given_up", s->retired);
    rh_summary_note(w, "sessions_given_up_too_early", s->resumed);
    rh_summary_note(w, "filtered_sessions", s->sessions_filtered);
    rh_summary_note(w, "statements_from_before", s->carried);
    rh_summary_note(w, "redacted", m->redacted);
    if (m->sample < 1) {
        char text[32];
        snprintf(text, sizeof text, "%g", m->sample);
        rh_trace_writer_note(w, "sample", rh_span_cstr(text));
    }
    rh_summary_note(w, "connections_without_login", s->probes);
    for (uint32_t i = 0; i < c->sample_count; i++) {
        const struct rh_bad_sample *b = &c->samples[i];
        char name[32], text[512];
        snprintf(name, sizeof name, "log_bad_record_%" PRIu32, i + 1);
        snprintf(text, sizeof text, "%s:%" PRIu64 ": %s (%" PRIu64 " bytes at byte %" PRIu64 ")",
                 b->file, b->line, rh_csvlog_fault_text(b->fault), b->bytes, b->byte);
        rh_trace_writer_note(w, name, rh_span_cstr(text));
    }
}

void rh_capture_summary_why_empty(const struct rh_capture_summary *m, bool language_known,
                                  const char **reason, const char **hint)
{
    const struct rh_capture_stats *s = m->stats;
    *hint = "on the server set log_min_duration_statement = 0 (or log_statement = 'all'), and "
            "capture again";
    if (m->include_runaways + m->exclude_runaways > 0) {
        *reason = "no statement passes the filters: a pattern ran away";
        *hint = "a simpler pattern of --include or --exclude, without nested repetition, does not";
    } else if (s->filtered > 0) {
        *reason = "no statement passes the filters";
        *hint = "with --user, --database and --application names must be exactly as in the log";
    } else if (s->disordered > 0) {
        *reason = "the log's records are in a wrong order";
        *hint = "sort them by time, or give each part of the log as a file of its own";
    } else if (s->textless > 0) {
        *reason = "the log has durations, but not the statements they belong to";
    } else if (s->plans > 0 || s->audits > 0) {
        *reason = "the log has plans of auto_explain or records of pgaudit, but no statements";
    } else if (!language_known && s->other > 0) {
        *reason = "the log has no message that is understood: no statement is logged, or "
                  "lc_messages is a language that is not known here";
        *hint = "on the server set lc_messages = 'C' and log_min_duration_statement = 0";
    } else if (m->counts->entries == 0) {
        *reason = "the log has no record that can be read";
        *hint = NULL;
    } else {
        *reason = "no statement is logged";
    }
}
