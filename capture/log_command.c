/* capture/log_command.c */
#include "capture/log_command.h"

#include <inttypes.h>
#include <stdio.h>
#include <sys/stat.h>

#include "capture/assembler.h"
#include "capture/capture_summary.h"
#include "capture/log_files.h"
#include "capture/summary_text.h"
#include "capture/trace_sink.h"
#include "common/clock.h"
#include "common/log.h"
#include "common/noun.h"
#include "common/progress.h"
#include "common/stop.h"
#include "rh_version.h"

enum { CHECK_EVERY = 1024 }; /* records between looks at the clock and for a stop */

struct command {
    const struct rh_capture_options *options;
    struct rh_capture_filter filter;
    struct rh_capture_stats stats;
    struct rh_log_files *files;
    struct rh_trace_writer *writer;
    struct rh_capture_sink sink;
    struct rh_assembler *assembler;
    struct rh_progress progress;
    int64_t begin_ns;
    bool stopped;
    bool damaged; /* an input file could not be read to its end */
};

static int open_output(struct command *c, struct rh_error *err)
{
    const char *path = c->options->output;
    if (rh_trace_sink_check_output(path, err) != 0) {
        return -1;
    }
    struct rh_trace_header header = {
        .kind = RH_FILE_WORKLOAD,
        .vantage = RH_VANTAGE_SERVER_LOG,
        .source = RH_SPAN_LITERAL("csvlog"),
        .tool = RH_SPAN_LITERAL("pgrehearse " RH_VERSION),
        .server_address = rh_span_cstr(c->options->server),
        .created_ns = rh_clock_wall_ns(),
    };
    rh_uuid_make(header.uuid);
    return rh_trace_writer_open(&c->writer, path, &header, NULL, err);
}

static int open_all(struct command *c, const char *const *paths, size_t count, struct rh_error *err)
{
    const struct rh_capture_options *o = c->options;
    rh_capture_stats_init(&c->stats);
    if (rh_capture_filter_open(&c->filter, o, err) != 0 ||
        rh_log_files_open(&c->files, paths, count, err) != 0 || open_output(c, err) != 0) {
        return -1;
    }
    rh_trace_sink_init(&c->sink, c->writer);
    c->assembler = rh_assembler_new(&c->sink, &c->filter, rh_log_files_reader(c->files), &c->stats);
    if (o->redact) {
        rh_assembler_redact(c->assembler);
    }
    return 0;
}

static void show_progress(struct command *c)
{
    double seconds = (double) (rh_clock_mono_ns() - c->begin_ns) / 1e9;
    double done = (double) rh_log_files_consumed_bytes(c->files);
    double size = (double) rh_log_files_size_bytes(c->files);
    uint64_t bad = rh_log_reader_bad(&rh_log_files_reader(c->files)->counts);
    char eta[32] = "";
    if (size > 0 && done > 0) {
        snprintf(eta, sizeof eta, ", %.0f %%, %.0f s left", 100 * done / size,
                 seconds * (size - done) / done);
    }
    rh_progress_show(&c->progress, "%" PRIu64 " statements, %.0f MB/s%s, %" PRIu64 " bad record%s",
                     rh_capture_stats_statements(&c->stats),
                     seconds > 0 ? done / 1048576 / seconds : 0.0, eta, bad, rh_plural(bad));
}

/* 0, or -1 when the output failed. */
static int read_all(struct command *c, struct rh_error *err)
{
    struct rh_log_entry e;
    uint32_t until_check = CHECK_EVERY;
    for (;;) {
        int rc = rh_log_files_next(c->files, &e, err);
        if (rc == 0) {
            return 0;
        }
        if (rc < 0 && err->code == RH_ERR_STOPPED) {
            c->stopped = true;
            return 0;
        }
        if (rc < 0) {
            rh_log_error(err);
            c->damaged = true;
            continue;
        }
        if (rh_assembler_add(c->assembler, &e, err) != 0) {
            return -1;
        }
        if (--until_check == 0) {
            until_check = CHECK_EVERY;
            if (rh_stop_requested()) {
                c->stopped = true;
                return 0;
            }
            if (rh_progress_due(&c->progress)) {
                show_progress(c);
            }
        }
    }
}

static struct rh_capture_summary summarise(struct command *c)
{
    return (struct rh_capture_summary){
        .stats = &c->stats,
        .counts = &rh_log_files_reader(c->files)->counts,
        .file_count = rh_log_files_count(c->files),
        .empty_files = rh_log_files_empty(c->files),
        .verbose = c->options->verbose,
        .redacted = c->options->redact,
        .sample = c->options->sample,
        .include_runaways = c->filter.include_runaways,
        .exclude_runaways = c->filter.exclude_runaways,
        .output = c->options->output,
    };
}

static int write_gap(struct command *c, const char *what, uint64_t count, struct rh_error *err)
{
    if (count == 0) {
        return 0;
    }
    struct rh_record r;
    rh_record_init_gap(&r, c->stats.last_ns, count, what);
    return c->sink.record(c->sink.context, &r, err);
}

/* Records that are no session's: bad pieces of the log, by kind, and what came too late. */
static int write_bad(struct command *c, struct rh_error *err)
{
    const struct rh_log_reader_counts *counts = &rh_log_files_reader(c->files)->counts;
    for (int i = 0; i < RH_CSVLOG_FAULT_COUNT; i++) {
        char what[96];
        snprintf(what, sizeof what, "bad log records: %s",
                 rh_csvlog_fault_text((enum rh_csvlog_fault) i));
        if (write_gap(c, what, counts->bad[i], err) != 0) {
            return -1;
        }
    }
    return write_gap(c, "records out of order, left out", c->stats.disordered, err);
}

/* Nothing usable: no trace is left behind. */
static int end_empty(struct command *c)
{
    const char *reason, *hint;
    struct rh_capture_summary m = summarise(c);
    rh_trace_writer_discard(c->writer);
    c->writer = NULL;
    rh_capture_summary_why_empty(&m, rh_log_files_reader(c->files)->messages.lang_seen, &reason,
                                 &hint);
    if (!c->options->quiet) {
        m.output = NULL;
        rh_capture_summary_print(&m, stderr);
    }
    rh_log(RH_LOG_ERROR, "%s", reason);
    if (hint) {
        rh_log_hint("%s", hint);
    }
    return RH_EXIT_TROUBLE;
}

static int end_all(struct command *c, bool output_failed, struct rh_error *err)
{
    if (!output_failed && (rh_assembler_finish(c->assembler, err) != 0 ||
                           (c->stats.last_ns != RH_TIME_UNKNOWN && write_bad(c, err) != 0))) {
        output_failed = true;
    }
    if (!output_failed && rh_capture_stats_statements(&c->stats) == 0) {
        return end_empty(c);
    }
    struct rh_capture_summary m = summarise(c);
    struct rh_error finish_error;
    rh_capture_summary_note(&m, c->writer);
    bool partial = c->stopped || c->damaged || output_failed;
    if (c->damaged && !c->stopped && !output_failed) {
        rh_trace_writer_note(c->writer, "incomplete", RH_SPAN_LITERAL("input"));
    }
    int rc = rh_trace_writer_finish(c->writer, partial, &finish_error);
    c->writer = NULL;
    if (output_failed || rc != 0) {
        rh_log_error(output_failed ? err : &finish_error);
        return RH_EXIT_PARTIAL;
    }
    struct stat st;
    m.output_bytes = stat(c->options->output, &st) == 0 ? (uint64_t) st.st_size : 0;
    if (!c->options->quiet) {
        rh_capture_summary_print(&m, stderr);
    }
    rh_summary_warn_runaways(m.include_runaways + m.exclude_runaways);
    if (c->stats.disordered > 0) {
        rh_log(RH_LOG_WARNING, "%" PRIu64 " record%s out of order %s left out", c->stats.disordered,
               rh_plural(c->stats.disordered), rh_noun(c->stats.disordered, "was", "were"));
        rh_log_hint("give each part of the log as a file of its own: files are put in order");
    }
    rh_summary_warn_incomplete(c->stopped, c->damaged);
    return partial ? RH_EXIT_PARTIAL : RH_EXIT_DONE;
}

int rh_log_command_run(const struct rh_capture_options *options, const char *const *paths,
                       size_t count)
{
    struct command c = {.options = options, .begin_ns = rh_clock_mono_ns()};
    struct rh_error err = {0};
    int status = RH_EXIT_TROUBLE;
    rh_progress_init(&c.progress);
    if (options->quiet) {
        c.progress.on_terminal = false;
    }
    if (open_all(&c, paths, count, &err) != 0) {
        rh_log_error(&err);
    } else {
        bool failed = read_all(&c, &err) != 0;
        rh_progress_end(&c.progress);
        status = end_all(&c, failed, &err);
    }
    rh_assembler_free(c.assembler);
    rh_log_files_close(c.files);
    if (c.writer) {
        rh_trace_writer_discard(c.writer);
    }
    rh_capture_filter_release(&c.filter);
    rh_capture_stats_release(&c.stats);
    return status;
}
