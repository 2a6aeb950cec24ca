#include "diff/diff_command.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/alloc.h"
#include "common/log.h"
#include "common/noun.h"
#include "common/opt.h"
#include "diff/gate_list.h"
#include "diff/noise.h"
#include "diff/report.h"

/* How to write each of them. */
struct diff_format {
    const char *name;
    int (*write)(const struct rh_report *report, struct rh_report_sink *sink);
};

static const struct diff_format formats[] = {
    {"text", rh_report_text}, {"json", rh_report_json},   {"markdown", rh_report_markdown},
    {"html", rh_report_html}, {"junit", rh_report_junit}, {"csv", rh_report_csv},
};

struct diff_options {
    const struct diff_format *format;
    const char *output;
    struct rh_str_list files[RH_SIDES]; /* --base, --candidate */
    struct rh_str_list gates;
    const char *gates_file;
    const char *plans_file;
    struct rh_plan_texts plans; /* of that file */
    uint32_t limit;
    uint64_t memory_bytes;
    bool quiet;
    uint32_t pairs_min;
    double margin_pct;
    double effect_pct;
    int64_t change_min_ns;
    double false_share;
    bool judge_anyway;
    bool with_examples;
};

static int read_format(const char *arg, void *target, struct rh_error *err)
{
    for (size_t i = 0; i < sizeof formats / sizeof formats[0]; i++) {
        if (strcmp(arg, formats[i].name) == 0) {
            *(const struct diff_format **) target = &formats[i];
            return 0;
        }
    }
    return rh_error_set(err, RH_ERR_USAGE,
                        "\"%s\" is none of text, json, html, markdown, junit and csv", arg);
}

#define AT(field) offsetof(struct diff_options, field)

static const struct rh_opt options[] = {
    {"format", 'f', RH_OPT_ARG, "FORMAT", read_format, AT(format),
     "text, json, html (a page for a browser), markdown (for a\npull request), junit or csv "
     "[default: text]",
     NULL, "text json html markdown junit csv"},
    {"output", 'o', RH_OPT_ARG, "FILE", rh_opt_string, AT(output),
     "write the report to FILE [default: standard output]", NULL},
    {"base", 0, RH_OPT_ARG, "FILE", rh_opt_list, AT(files[RH_BASE]),
     "a file of the base, instead of the operands (repeatable): another\nrun of the same trace "
     "counts too, and tells how far runs differ\nwithout a change, a run of another trace is a "
     "further part",
     NULL, "*.trace *.run"},
    {"candidate", 0, RH_OPT_ARG, "FILE", rh_opt_list, AT(files[RH_CANDIDATE]),
     "a file of the candidate, likewise", NULL, "*.trace *.run"},
    {"gate", 'g', RH_OPT_ARG, "NAME=LIMIT", rh_opt_list, AT(gates),
     "fail (exit status 1) when more than LIMIT is found\n"
     "(repeatable) [default: nothing is judged]:\n"
     "new-errors=N, missing=N, row-mismatches=N, lag-p99-ms=X,\n"
     "time-added-pct=X, regressed=N",
     NULL, "new-errors= missing= row-mismatches= lag-p99-ms= time-added-pct= regressed="},
    {"gates", 0, RH_OPT_ARG, "FILE", rh_opt_string, AT(gates_file),
     "gates from FILE too, a line NAME = LIMIT for each; the limit\nof --gate wins", NULL, "*.ini"},
    {"min-pairs", 0, RH_OPT_ARG, "N", rh_opt_count, AT(pairs_min),
     "test queries of at least N pairs of calls [default: 15]", NULL},
    {"margin", 0, RH_OPT_ARG, "PERCENT", rh_opt_double, AT(margin_pct),
     "noise between two runs, at least: test against so much more\n[default: 5]", NULL},
    {"effect", 0, RH_OPT_ARG, "PERCENT", rh_opt_double, AT(effect_pct),
     "a query regressed if it takes so much longer [default: 10]", NULL},
    {"min-change", 0, RH_OPT_ARG, "DURATION", rh_opt_duration, AT(change_min_ns),
     "and a call at least so much longer [default: 100us]", NULL},
    {"false-share", 0, RH_OPT_ARG, "Q", rh_opt_double, AT(false_share),
     "of the queries called regressed at most so many are so by\n"
     "chance, on average [default: 0.05]",
     NULL},
    {"judge-anyway", 0, RH_OPT_NO_ARG, NULL, rh_opt_flag, AT(judge_anyway),
     "test queries even when the rehearsal is invalid", NULL},
    {"with-examples", 0, RH_OPT_NO_ARG, NULL, rh_opt_flag, AT(with_examples),
     "in html: show some statements as they were sent, with\ntheir literals; and the values in "
     "plans "
     "of single calls",
     NULL},
    {"plans", 0, RH_OPT_ARG, "FILE", rh_opt_string, AT(plans_file),
     "in text, markdown and html: show the plans that pgrehearse\nexplain put into this report",
     NULL, "*.json"},
    {"limit", 'n', RH_OPT_ARG, "N", rh_opt_number, AT(limit),
     "rows of each table of text and markdown, and of junit's\ncases of queries that did not "
     "regress; 0: none [default: 20]",
     NULL},
    {"memory", 0, RH_OPT_ARG, "SIZE", rh_opt_bytes, AT(memory_bytes),
     "for statements that wait for their twin; with less the files\n"
     "are read more often [default: 256MB]",
     NULL},
    {"quiet", 'q', RH_OPT_NO_ARG, NULL, rh_opt_flag, AT(quiet),
     "no progress [default: shown on a terminal]", NULL},
    {0},
};

static const struct rh_opt_command command = {
    .program = "pgrehearse-diff",
    .synopsis = "[OPTION]... BASE CANDIDATE\n"
                "[OPTION]... --base=FILE... --candidate=FILE...",
    .summary = "Compare two runs, or a run with the workload it replayed: times, errors, rows.",
    .options = options,
    .footer = "Exit status: 0 done, all gates passed; 1 a gate failed; 2 nothing to compare;\n"
              "3 a file is not whole, a gate cannot be judged, or the rehearsal is invalid by its\n"
              "checks and no gate failed (the report is written).  All gates but\n"
              "missing cannot when over 1 % of the base's statements did not run in the candidate\n"
              "as sessions were refused, lost or stopped.\n"
              "\n"
              "Examples:\n"
              "  pgrehearse diff old.run new.run\n"
              "  pgrehearse diff --gate regressed=0 --gate new-errors=0 old.run new.run\n"
              "  pgrehearse diff --gates gates.ini --format junit -o junit.xml old.run new.run\n"
              "  pgrehearse diff --base old-1.run --base old-2.run --candidate new.run\n"
              "  pgrehearse diff --format json -o report.json shop.trace shop.run\n"
              "  pgrehearse diff --format html -o report.html old.run new.run\n"
              "  pgrehearse diff --format markdown old.run new.run | gh pr comment 42 -F -\n",
    .operand_words = "*.trace *.run",
};

/* Those of the command line, then what the file has beside them. */
static int read_gates(struct rh_gate_list *gates, const struct diff_options *o,
                      struct rh_error *err)
{
    for (size_t i = 0; i < o->gates.count; i++) {
        if (rh_gate_list_add(gates, o->gates.items[i], err) < 0) {
            return -1;
        }
    }
    return o->gates_file ? rh_gate_list_read(gates, o->gates_file, err) : 0;
}

static bool wants_colour(const struct diff_options *o)
{
    const char *no_colour = getenv("NO_COLOR");
    const char *term = getenv("TERM");
    bool to_terminal = strcmp(o->output, "-") == 0 && isatty(STDOUT_FILENO);
    return to_terminal && !(no_colour && *no_colour) && !(term && strcmp(term, "dumb") == 0);
}

static int write_report(const struct diff_options *o, const struct rh_report *report,
                        struct rh_error *err)
{
    struct rh_outfile *file = NULL;
    struct rh_report_sink sink;
    if (rh_outfile_open(&file, o->output, err) < 0) {
        return -1;
    }
    rh_report_sink_init(&sink, file, err);
    int rc = o->format->write(report, &sink);
    rh_report_sink_release(&sink);
    if (rc < 0) {
        rh_outfile_discard(file);
        return -1;
    }
    return rh_outfile_finish(file, err);
}

static void warn_incomplete(const struct rh_comparison *c)
{
    for (int side = 0; side < RH_SIDES; side++) {
        const struct rh_trace_file *f = rh_comparison_cut_file(c, (enum rh_side) side);
        if (f) {
            rh_log(RH_LOG_WARNING, "\"%s\" is not whole: %s", rh_trace_file_path(f),
                   rh_trace_file_incomplete_reason(f));
        } else if (c->side[side].damaged_blocks > 0) {
            rh_log(RH_LOG_WARNING, "\"%s\"%s has %u damaged block%s",
                   rh_trace_file_path(c->file[side]),
                   c->part_count > 1 ? " or a file beside it" : "", c->side[side].damaged_blocks,
                   rh_plural(c->side[side].damaged_blocks));
        }
    }
}

static struct rh_test_rule test_rule(const struct diff_options *o)
{
    return (struct rh_test_rule){.pairs_min = o->pairs_min,
                                 .margin = o->margin_pct / 100,
                                 .effect = o->effect_pct / 100,
                                 .change_min_ns = o->change_min_ns,
                                 .judge_anyway = o->judge_anyway,
                                 .false_share = o->false_share};
}

static int check_rule(const struct diff_options *o, struct rh_error *err)
{
    if (o->with_examples && o->format->write != rh_report_html && !o->plans_file) {
        return rh_error_set(err, RH_ERR_USAGE, "--with-examples is for --format html and --plans");
    }
    if (o->plans_file && o->format->write != rh_report_text &&
        o->format->write != rh_report_markdown && o->format->write != rh_report_html) {
        return rh_error_set(err, RH_ERR_USAGE, "--plans is for text, markdown and html");
    }
    if (o->effect_pct < o->margin_pct) {
        return rh_error_set(err, RH_ERR_USAGE,
                            "the effect that counts (--effect, %g %%) is less than the noise "
                            "(--margin, %g %%)",
                            o->effect_pct, o->margin_pct);
    }
    if (o->false_share >= 1) {
        return rh_error_set(err, RH_ERR_USAGE, "--false-share is a share below 1, not %g",
                            o->false_share);
    }
    return 0;
}

/* The exit status, or -1 when there is no report. */
static int report_comparison(const struct diff_options *o, struct rh_gate_list *gates,
                             const struct rh_inputs *inputs, const struct rh_noise *noise,
                             const struct rh_comparison *c, struct rh_error *err)
{
    struct rh_result result;
    for (int side = 0; side < RH_SIDES; side++) {
        if (c->side[side].statements == 0) {
            return rh_error_set(err, RH_ERR_FORMAT, "\"%s\" holds no statement: nothing to compare",
                                rh_trace_file_path(c->file[side]));
        }
    }
    struct rh_test_rule rule = test_rule(o);
    rule.noise = noise;
    rh_result_make(&result, c, &rule);
    for (size_t i = 0; i < gates->count; i++) {
        rh_gate_judge(&gates->items[i], &result);
    }
    struct rh_report report = {
        .result = &result,
        .inputs = inputs,
        .gates = gates->items,
        .gate_count = gates->count,
        .verdict = rh_verdict_make(gates->items, gates->count, &result),
        .limit = o->limit,
        .colour = wants_colour(o),
    };
    struct rh_server_differences servers;
    rh_server_differences_make(&servers, rh_trace_file_header(c->file[RH_BASE]),
                               rh_trace_file_header(c->file[RH_CANDIDATE]));
    report.servers = &servers;
    report.plans = o->plans_file ? &o->plans : NULL;
    struct rh_example_texts examples = {0};
    int rc = 0;
    if (o->with_examples && o->format->write == rh_report_html) {
        rc = rh_example_texts_read(&examples, &result, err);
        report.examples = &examples;
    }
    if (rc == 0) {
        rc = write_report(o, &report, err);
    }
    rh_example_texts_release(&examples);
    rh_server_differences_release(&servers);
    rh_result_release(&result);
    return rc < 0 ? -1 : (int) rh_verdict_exit(report.verdict);
}

/* One run of a side against its repeats: what differs there differs without a change. */
static int measure_noise(const struct diff_options *o, const struct rh_inputs *inputs,
                         struct rh_comparison_part *parts, struct rh_noise *noise,
                         struct rh_error *err)
{
    const struct rh_comparison_options how = {.memory_bytes = o->memory_bytes,
                                              .show_progress = !o->quiet};
    struct rh_test_rule rule = test_rule(o);
    for (int side = 0; side < RH_SIDES; side++) {
        uint32_t count;
        for (uint32_t i = 1; (count = rh_inputs_repeat(inputs, (enum rh_side) side, i, parts)) > 0;
             i++) {
            struct rh_comparison c;
            int rc = rh_comparison_make_of_parts(&c, parts, count, &how, err);
            if (rc == 0) {
                warn_incomplete(&c);
                rh_noise_add(noise, &c, &rule);
            }
            rh_comparison_release(&c);
            if (rc < 0) {
                return -1;
            }
        }
    }
    rh_noise_finish(noise);
    return 0;
}

static bool has_repeats(const struct rh_inputs *inputs)
{
    return rh_inputs_repeat_count(inputs, RH_BASE) + rh_inputs_repeat_count(inputs, RH_CANDIDATE) >
           0;
}

static int compare_inputs(const struct diff_options *o, struct rh_gate_list *gates,
                          const struct rh_inputs *inputs, struct rh_error *err)
{
    const struct rh_comparison_options how = {.memory_bytes = o->memory_bytes,
                                              .show_progress = !o->quiet,
                                              .with_timeline = o->format->write == rh_report_html ||
                                                               o->format->write == rh_report_json};
    const uint32_t pair_count = rh_inputs_pair_count(inputs);
    struct rh_comparison_part *parts = rh_calloc(pair_count, sizeof *parts);
    struct rh_comparison comparison;
    struct rh_noise noise = {0};
    bool measured = has_repeats(inputs);
    int rc = measured ? measure_noise(o, inputs, parts, &noise, err) : 0;
    if (rc == 0) {
        rh_inputs_compared(inputs, parts);
        rc = rh_comparison_make_of_parts(&comparison, parts, pair_count, &how, err);
        if (rc == 0) {
            warn_incomplete(&comparison);
            rc = report_comparison(o, gates, inputs, measured ? &noise : NULL, &comparison, err);
        }
        rh_comparison_release(&comparison);
    }
    rh_noise_release(&noise);
    rh_free(parts);
    return rc;
}

static int compare_files(const struct diff_options *o, struct rh_gate_list *gates,
                         const struct rh_str_list files[RH_SIDES], struct rh_error *err)
{
    struct rh_inputs inputs;
    int rc = rh_inputs_open(&inputs, &files[RH_BASE], &files[RH_CANDIDATE], err);
    if (rc == 0) {
        rc = compare_inputs(o, gates, &inputs, err);
    }
    rh_inputs_close(&inputs);
    return rc;
}

/* A report must not replace what it is made from, nor any other trace or run. */
static int check_output(const struct diff_options *o, const struct rh_str_list files[RH_SIDES],
                        struct rh_error *err)
{
    if (o->plans_file && rh_outfile_is_same(o->output, o->plans_file)) {
        return rh_error_set(err, RH_ERR_USAGE, "\"%s\" holds the plans: name another file with -o",
                            o->output);
    }
    bool is_input = false;
    for (int side = 0; side < RH_SIDES; side++) {
        for (size_t i = 0; i < files[side].count; i++) {
            is_input |= rh_outfile_is_same(o->output, files[side].items[i]);
        }
    }
    if (is_input || rh_trace_file_is_trace(o->output)) {
        return rh_error_set(
            err, RH_ERR_USAGE,
            "\"%s\" is a trace or a run: a report does not replace it; name another "
            "file with -o",
            o->output);
    }
    return 0;
}

/* From the options, or the two operands.  files points into both. */
static int choose_files(struct rh_str_list files[RH_SIDES], const struct diff_options *o,
                        const struct rh_str_list *operands, struct rh_error *err)
{
    bool by_option = o->files[RH_BASE].count + o->files[RH_CANDIDATE].count > 0;
    for (int side = 0; side < RH_SIDES; side++) {
        files[side] = o->files[side];
        if (!by_option && operands->count == RH_SIDES) {
            files[side] = (struct rh_str_list){.items = &operands->items[side], .count = 1};
        }
    }
    if (by_option && operands->count > 0) {
        return rh_error_set(err, RH_ERR_USAGE,
                            "\"%s\" is of neither side: with --base or --candidate each file is "
                            "named by one of them",
                            operands->items[0]);
    }
    if (by_option && (files[RH_BASE].count == 0 || files[RH_CANDIDATE].count == 0)) {
        return rh_error_set(err, RH_ERR_USAGE, "no file of the %s is named (--%s)",
                            files[RH_BASE].count ? "candidate" : "base",
                            files[RH_BASE].count ? "candidate" : "base");
    }
    if (!by_option && operands->count != RH_SIDES) {
        return rh_error_set(err, RH_ERR_USAGE,
                            "two files are compared, BASE and CANDIDATE; %zu given (try --help; "
                            "--base and --candidate take several)",
                            operands->count);
    }
    return 0;
}

static int read_plans(struct diff_options *o, struct rh_error *err)
{
    return o->plans_file ? rh_plan_texts_read(&o->plans, o->plans_file, o->with_examples, err) : 0;
}

static int run(void *target, const struct rh_str_list *operands)
{
    struct diff_options *o = target;
    struct rh_str_list files[RH_SIDES];
    struct rh_gate_list gates = {.count = 0};
    struct rh_error err = {0};
    int status = -1;
    if (choose_files(files, o, operands, &err) == 0 && check_output(o, files, &err) == 0 &&
        check_rule(o, &err) == 0 && read_gates(&gates, o, &err) == 0 && read_plans(o, &err) == 0) {
        status = compare_files(o, &gates, files, &err);
    }
    if (status < 0) {
        rh_log_error(&err);
        status = RH_EXIT_TROUBLE;
    }
    return status;
}

int rh_diff_main(int argc, char **argv)
{
    struct rh_test_rule rule = rh_test_rule_default();
    struct diff_options o = {.format = &formats[0],
                             .output = "-",
                             .limit = 20,
                             .memory_bytes = RH_COMPARISON_MEMORY_DEFAULT,
                             .pairs_min = rule.pairs_min,
                             .margin_pct = 100 * rule.margin,
                             .effect_pct = 100 * rule.effect,
                             .change_min_ns = rule.change_min_ns,
                             .false_share = rule.false_share};
    int status = rh_opt_run(&command, argc, argv, &o, run);
    rh_str_list_release(&o.files[RH_BASE]);
    rh_str_list_release(&o.files[RH_CANDIDATE]);
    rh_plan_texts_release(&o.plans);
    rh_str_list_release(&o.gates);
    return status;
}
