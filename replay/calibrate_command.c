#include "replay/calibrate_command.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "common/clock.h"
#include "common/log.h"
#include "common/opt.h"
#include "common/stop.h"
#include "replay/calibration.h"
#include "replay/calibration_report.h"

struct options {
    bool is_json;
    int64_t first_ns;
    uint32_t jobs;
    bool quiet;
};

static int read_format(const char *arg, void *target, struct rh_error *err)
{
    bool *is_json = target;
    *is_json = strcmp(arg, "json") == 0;
    if (!*is_json && strcmp(arg, "text") != 0) {
        return rh_error_set(err, RH_ERR_USAGE, "\"%s\" is neither text nor json", arg);
    }
    return 0;
}

#define AT(field) offsetof(struct options, field)

static const struct rh_opt table[] = {
    {"first", 0, RH_OPT_ARG, "TIME", rh_replay_read_time, AT(first_ns),
     "replay the first TIME of the trace [default: 30s]", NULL},
    {"jobs", 'j', RH_OPT_ARG, "N", rh_replay_read_jobs, AT(jobs),
     "worker threads [default: as replay has them]", NULL},
    {"format", 'f', RH_OPT_ARG, "FORMAT", read_format, AT(is_json), "text or json [default: text]",
     NULL, "text json"},
    {"quiet", 'q', RH_OPT_NO_ARG, NULL, rh_opt_flag, AT(quiet),
     "no progress [default: shown on a terminal]", NULL},
    {0},
};

static const struct rh_opt_command command = {
    .program = "pgrehearse-calibrate",
    .synopsis = "[OPTION]... T.trace",
    .summary = "Tell what this host can drive, by replaying a trace on a null server.",
    .options = table,
    .footer =
        "A server that answers anything at once is started for it on this host, and ended. The\n"
        "trace is replayed flat out, again if that takes less than two seconds, and then at its\n"
        "original speed, so it takes about as long as --first says. Lag at original speed is\n"
        "what this host adds by itself to every replay.\n"
        "\n"
        "Hosts needed: as many as drive the trace's busiest second when each is busy for half\n"
        "of its time, and have files and ports for its sessions.\n"
        "\n"
        "Exit status: 0 done; 2 nothing was measured; 3 stopped early, what was measured is\n"
        "shown.\n"
        "\n"
        "Example:\n"
        "  pgrehearse calibrate --first 1min shop.trace\n",
    .operand_words = "*.trace",
};

static int calibrate(const struct options *o, struct rh_calibration_options *options)
{
    struct rh_calibration c;
    struct rh_error err;
    int status = RH_EXIT_DONE;
    if (rh_calibration_measure(&c, options, &err) != 0) {
        rh_log_error(&err);
        status = RH_EXIT_TROUBLE;
    } else if (o->is_json) {
        rh_calibration_print_json(&c, options->trace_path, stdout);
    } else {
        rh_calibration_print_text(&c, options->trace_path, stdout);
    }
    if (status == RH_EXIT_DONE && c.original.is_stopped) {
        rh_log(RH_LOG_WARNING, "stopped early");
        status = RH_EXIT_PARTIAL;
    }
    rh_calibration_release(&c);
    return status;
}

static int run(void *options, const struct rh_str_list *operands)
{
    struct options *o = options;
    struct rh_calibration_options calibration = {.first_ns = o->first_ns};
    rh_log_setup(command.program, RH_LOG_WARNING);
    if (operands->count != 1) {
        rh_log(RH_LOG_ERROR,
               operands->count == 0 ? "by which trace?" : "one trace is taken at a time");
        rh_log_hint("pgrehearse-calibrate --help");
        return RH_EXIT_TROUBLE;
    }
    rh_stop_install();
    calibration.trace_path = operands->items[0];
    rh_replay_options_init(&calibration.replay);
    calibration.replay.quiet = o->quiet;
    calibration.replay.jobs = o->jobs ? o->jobs : calibration.replay.jobs;
    int status = calibrate(o, &calibration);
    rh_replay_options_release(&calibration.replay);
    return status;
}

int rh_calibrate_command_run(int argc, char **argv)
{
    struct options o = {.first_ns = 30 * RH_NS_PER_SEC};
    rh_log_setup(command.program, RH_LOG_INFO);
    return rh_opt_run(&command, argc, argv, &o, run);
}
