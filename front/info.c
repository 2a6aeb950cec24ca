#include <stdio.h>
#include <string.h>

#include "common/log.h"
#include "common/opt.h"
#include "formats/trace_file.h"
#include "front/front.h"
#include "front/info_write.h"
#include "front/output.h"
#include "front/trace_summary.h"

struct info_options {
    bool json;
};

static int read_format(const char *arg, void *target, struct rh_error *err)
{
    bool json = strcmp(arg, "json") == 0;
    if (!json && strcmp(arg, "text") != 0) {
        return rh_error_set(err, RH_ERR_USAGE, "\"%s\" is neither text nor json", arg);
    }
    *(bool *) target = json;
    return 0;
}

static const struct rh_opt info_options[] = {
    {.name = "format",
     .letter = 'f',
     .has_arg = RH_OPT_ARG,
     .arg = "FORMAT",
     .read = read_format,
     .offset = offsetof(struct info_options, json),
     .help = "text, or json: an array with one object a file [default: text]",
     .words = "text json"},
    {0},
};

static const struct rh_opt_command info_command = {
    .program = "pgrehearse info",
    .synopsis = "[OPTION]... FILE...",
    .summary = "Tells what traces and runs hold: sessions, statements, span, gaps, size, damage.",
    .options = info_options,
    .footer = "Exit status: 0; 3 if a file is incomplete or damaged, what it holds is told all the "
              "same;\n2 if nothing can be told.",
    .operand_words = "*.trace *.run",
};

/* An exit status for this file alone. */
static int info_of_file(struct rh_info_writer *w, const char *path)
{
    struct rh_error err = {0};
    struct rh_trace_file *file;
    if (rh_trace_file_open(&file, path, &err) != 0) {
        rh_log_error(&err);
        return RH_EXIT_TROUBLE;
    }
    int status = RH_EXIT_TROUBLE;
    struct rh_trace_summary summary;
    rh_trace_summary_init(&summary);
    if (rh_trace_summary_read(&summary, file, &err) != 0) {
        rh_log_error(&err);
        goto out;
    }
    rh_info_write_file(w, file, &summary);
    status = rh_damage_list_tell(&summary.damage, file) ? RH_EXIT_PARTIAL : RH_EXIT_DONE;
out:
    rh_trace_summary_release(&summary);
    rh_trace_file_close(file);
    return status;
}

static int info_of_files(const struct rh_str_list *paths, bool json)
{
    struct rh_error err = {0};
    struct rh_output out;
    rh_output_init(&out);
    struct rh_info_writer w;
    rh_info_write_begin(&w, &out.buf, json);
    size_t usable = 0;
    int status = RH_EXIT_DONE;
    for (size_t i = 0; i < paths->count; i++) {
        int of_file = info_of_file(&w, paths->items[i]);
        usable += of_file != RH_EXIT_TROUBLE;
        status = of_file == RH_EXIT_DONE ? status : RH_EXIT_PARTIAL;
    }
    rh_info_write_end(&w);
    if (usable == 0) {
        status = RH_EXIT_TROUBLE;
    } else if (rh_output_flush(&out, &err) != 0) {
        rh_log_error(&err);
        status = RH_EXIT_TROUBLE;
    }
    rh_output_release(&out);
    return status;
}

static int run(void *options, const struct rh_str_list *paths)
{
    const struct info_options *o = options;
    if (paths->count == 0) {
        rh_log(RH_LOG_ERROR, "info needs a trace or run file; see \"pgrehearse info --help\"");
        return RH_EXIT_TROUBLE;
    }
    return info_of_files(paths, o->json);
}

int rh_info_run(int argc, char **argv)
{
    struct info_options options = {0};
    return rh_opt_run(&info_command, argc, argv, &options, run);
}
