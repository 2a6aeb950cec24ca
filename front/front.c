#include "front/front.h"

#include <stdio.h>
#include <string.h>

#include "common/error.h"
#include "common/log.h"
#include "common/nearest.h"
#include "common/opt.h"
#include "front/tool_exec.h"

struct front_command {
    const char *name;
    int (*run)(int argc, char **argv); /* NULL: another program */
};

static const struct front_command commands[] = {
    {"capture", NULL},     {"replay", NULL},      {"diff", NULL},
    {"info", rh_info_run}, {"show", rh_show_run}, {"explain", NULL},
    {"calibrate", NULL},   {"nullserver", NULL},  {NULL, NULL},
};

static const struct rh_opt no_options[] = {{0}};

static const struct rh_opt_command front_help = {
    .program = "pgrehearse",
    .synopsis = "COMMAND [ARGUMENT]...\n"
                "help [COMMAND]",
    .summary = "Captures what a PostgreSQL server did, replays it on a candidate, and compares.",
    .options = no_options,
    .footer =
        "Commands:\n"
        "  capture log     make a trace from server logs\n"
        "  capture wire    make a trace from packets: live, or of capture files\n"
        "  replay          play a trace on a server; what came of it goes to a run file\n"
        "  diff            compare two runs, or a run and its trace\n"
        "  explain         the plans of the queries that got slower, from both servers\n"
        "  info            what traces and runs hold\n"
        "  show            their records as JSON lines\n"
        "  calibrate       what this host can drive, by replaying a trace on a null server\n"
        "  nullserver      a server that answers anything at once, to measure clients\n"
        "  help COMMAND    the options of a command\n"
        "\n"
        "Exit status: 0 done; 1 a gate of diff failed; 2 usage or trouble, nothing usable was "
        "made;\n"
        "3 stopped early, damaged or cannot judge, what was made is kept.\n"
        "\n"
        "A rehearsal:\n"
        "  pgrehearse capture log -o prod.trace postgresql-*.csv\n"
        "  pgrehearse replay -h old-server -o old.run prod.trace\n"
        "  pgrehearse replay -h new-server -o new.run prod.trace\n"
        "  pgrehearse diff old.run new.run",
};

static const struct front_command *find_command(const char *name)
{
    for (const struct front_command *c = commands; c->name; c++) {
        if (strcmp(c->name, name) == 0) {
            return c;
        }
    }
    return NULL;
}

static int unknown_command(const char *name)
{
    struct rh_nearest nearest;
    rh_nearest_init(&nearest, name);
    for (const struct front_command *c = commands; c->name; c++) {
        rh_nearest_offer(&nearest, c->name);
    }
    rh_nearest_offer(&nearest, "help");
    if (nearest.best) {
        rh_log(RH_LOG_ERROR, "unknown command \"%s\"; did you mean \"%s\"?", name, nearest.best);
    } else {
        rh_log(RH_LOG_ERROR, "unknown command \"%s\"; see \"pgrehearse --help\"", name);
    }
    return RH_EXIT_TROUBLE;
}

/* argv[0] is the command's name. */
static int run_command(int argc, char **argv)
{
    const struct front_command *command = find_command(argv[0]);
    if (command && command->run) {
        return command->run(argc, argv);
    }
    struct rh_error err = {0};
    if (rh_tool_exec(argv, &err) != 0 && command) {
        rh_log_error(&err);
        return RH_EXIT_TROUBLE;
    }
    return unknown_command(argv[0]);
}

static int help_of(const char *name)
{
    char help[] = "--help";
    char *argv[] = {(char *) name, help, NULL};
    return run_command(2, argv);
}

/* The commands, then the options, for the completion of the first word. */
static int complete_first_word(void)
{
    for (const struct front_command *c = commands; c->name; c++) {
        puts(c->name);
    }
    puts("help");
    rh_opt_completion(&front_help, stdout);
    return RH_EXIT_DONE;
}

static int run_own_option(char **argv)
{
    struct rh_str_list operands = {0};
    enum rh_opt_result result = rh_opt_parse(&front_help, 2, argv, NULL, &operands);
    rh_str_list_release(&operands);
    if (result == RH_OPT_EXIT_DONE) {
        return RH_EXIT_DONE;
    }
    if (result == RH_OPT_RUN) {
        rh_log(RH_LOG_ERROR, "a command comes first; see \"pgrehearse --help\"");
    }
    return RH_EXIT_TROUBLE;
}

int rh_front_run(int argc, char **argv)
{
    rh_log_setup("pgrehearse", RH_LOG_INFO);
    if (argc < 2) {
        rh_log(RH_LOG_ERROR, "no command is given; see \"pgrehearse --help\"");
        return RH_EXIT_TROUBLE;
    }
    if (strcmp(argv[1], "--completion") == 0) {
        return complete_first_word();
    }
    if (argv[1][0] == '-') {
        return run_own_option(argv);
    }
    if (strcmp(argv[1], "help") != 0) {
        return run_command(argc - 1, argv + 1);
    }
    if (argc > 2 && argv[2][0] != '-' && strcmp(argv[2], "help") != 0) {
        return help_of(argv[2]);
    }
    rh_opt_help(&front_help, stdout);
    return RH_EXIT_DONE;
}
