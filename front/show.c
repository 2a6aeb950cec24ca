#include <stdlib.h>
#include <string.h>

#include "common/log.h"
#include "common/opt.h"
#include "formats/trace_reader.h"
#include "front/damage_list.h"
#include "front/front.h"
#include "front/kind_name.h"
#include "front/output.h"
#include "front/record_filter.h"
#include "front/record_json.h"

/* The longest text a trace may hold. */
#define TEXT_MAX_BYTES ((size_t) 1 << 30)

static const struct rh_opt show_options[] = {
    {.name = "session",
     .letter = 's',
     .has_arg = RH_OPT_ARG,
     .arg = "N",
     .read = rh_record_filter_read_session,
     .help = "only this session; may be repeated",
     .group = "Which records"},
    {.name = "ordinal",
     .has_arg = RH_OPT_ARG,
     .arg = "A[-B]",
     .read = rh_record_filter_read_ordinal,
     .help = "only the statements with these numbers within their session"},
    {.name = "kind",
     .letter = 'k',
     .has_arg = RH_OPT_ARG,
     .arg = "KIND",
     .read = rh_record_filter_read_kind,
     .help = "only this kind: query, execute, function, fetch, protocol, cancel, open, close, gap, "
             "copy-data; may be repeated",
     .words = "query execute function fetch protocol cancel open close gap copy-data"},
    {.name = "errors",
     .letter = 'e',
     .read = rh_opt_flag,
     .offset = offsetof(struct rh_record_filter, only_errors),
     .help = "only statements that failed"},
    {.name = "sqlstate",
     .has_arg = RH_OPT_ARG,
     .arg = "CODE",
     .read = rh_record_filter_read_sqlstate,
     .help = "only statements that failed with this SQLSTATE"},
    {.name = "fingerprint",
     .letter = 'f',
     .has_arg = RH_OPT_ARG,
     .arg = "HEX",
     .read = rh_record_filter_read_fingerprint,
     .help = "only statements of this query, as the diff names it"},
    {.name = "from",
     .has_arg = RH_OPT_ARG,
     .arg = "TIME",
     .read = rh_opt_time,
     .offset = offsetof(struct rh_record_filter, from_ns),
     .help = "only records that start at this time or later"},
    {.name = "to",
     .has_arg = RH_OPT_ARG,
     .arg = "TIME",
     .read = rh_opt_time,
     .offset = offsetof(struct rh_record_filter, to_ns),
     .help = "only records that start before this time"},
    {.name = "limit",
     .letter = 'n',
     .has_arg = RH_OPT_ARG,
     .arg = "N",
     .read = rh_opt_count,
     .offset = offsetof(struct rh_record_filter, limit),
     .help = "stop after so many records"},
    {0},
};

static const struct rh_opt_command show_command = {
    .program = "pgrehearse show",
    .synopsis = "[OPTION]... FILE",
    .summary = "Prints the records of a trace or run in the order of their start, one JSON object "
               "a line.",
    .options = show_options,
    .footer = "Examples:\n"
              "  pgrehearse show --errors prod.trace | jq -r '[.sqlstate, .sql] | @tsv'\n"
              "  pgrehearse show --session 12 --ordinal 1-20 new.run\n"
              "  pgrehearse show -k query -k execute -f 4c8cd3185a81d1f2 -n 1 new.run",
    .operand_words = "*.trace *.run",
};

/* 0 or -1; *shown counts what was printed. */
static int print_records(struct rh_trace_reader *reader, struct rh_record_filter *filter,
                         bool is_run, struct rh_output *out, uint64_t *shown, struct rh_error *err)
{
    struct rh_buf scratch;
    rh_buf_init(&scratch, TEXT_MAX_BYTES);
    struct rh_json j;
    rh_json_init(&j, &out->buf, false);
    struct rh_record r;
    int got = 0;
    while (!out->gone && (filter->limit == 0 || *shown < filter->limit) &&
           (got = rh_trace_reader_next(reader, &r, err)) > 0) {
        if (!rh_record_filter_takes(filter, &r)) {
            continue;
        }
        rh_record_json(&j, &r, rh_trace_reader_session(reader), is_run, &scratch);
        rh_buf_add_byte(&out->buf, '\n');
        ++*shown;
        if (rh_output_flush_if_large(out, err) != 0) {
            got = -1;
            break;
        }
    }
    rh_buf_release(&scratch);
    return got < 0 ? -1 : 0;
}

static int tell_damage(const struct rh_trace_file *file, const struct rh_trace_reader *reader)
{
    struct rh_damage_list damage;
    rh_damage_list_init(&damage);
    rh_damage_list_collect(&damage, file, reader);
    bool any = rh_damage_list_tell(&damage, file);
    rh_damage_list_release(&damage);
    return any ? RH_EXIT_PARTIAL : RH_EXIT_DONE;
}

static int show_file(const char *path, struct rh_record_filter *filter)
{
    struct rh_error err = {0};
    struct rh_trace_file *file = NULL;
    struct rh_trace_reader *reader = NULL;
    struct rh_output out;
    int status = RH_EXIT_TROUBLE;
    uint64_t shown = 0;
    rh_output_init(&out);
    if (rh_trace_file_open(&file, path, &err) != 0 ||
        rh_trace_reader_open(&reader, file, filter->from_ns, filter->to_ns, &err) != 0) {
        goto out;
    }
    bool is_run = rh_trace_file_header(file)->kind == RH_FILE_RUN;
    if (print_records(reader, filter, is_run, &out, &shown, &err) == 0 &&
        rh_output_flush(&out, &err) == 0) {
        if (shown == 0) {
            rh_log(RH_LOG_INFO, "no record of \"%s\" is selected", path);
        }
        status = out.gone ? RH_EXIT_DONE : tell_damage(file, reader);
    }
out:
    if (err.code != RH_ERR_NONE) {
        rh_log_error(&err);
    }
    rh_output_release(&out);
    if (reader) {
        rh_trace_reader_close(reader);
    }
    if (file) {
        rh_trace_file_close(file);
    }
    return status;
}

static int run(void *filter, const struct rh_str_list *operands)
{
    if (operands->count != 1) {
        rh_log(RH_LOG_ERROR,
               "show needs one trace or run file, %zu are given; see \"pgrehearse show --help\"",
               operands->count);
        return RH_EXIT_TROUBLE;
    }
    return show_file(operands->items[0], filter);
}

int rh_show_run(int argc, char **argv)
{
    struct rh_record_filter filter;
    rh_record_filter_init(&filter);
    int status = rh_opt_run(&show_command, argc, argv, &filter, run);
    rh_record_filter_release(&filter);
    return status;
}
