#include "replay/null_command.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/log.h"
#include "common/noun.h"
#include "common/opt.h"
#include "common/stop.h"
#include "formats/record.h"
#include "replay/null_server.h"

struct options {
    struct rh_str_list hosts;
    uint32_t port;
    uint32_t jobs;
    bool quiet;
    struct rh_null_options answers;
};

static int read_whole(const char *arg, uint64_t max, uint64_t *value, struct rh_error *err)
{
    char *end;
    bool is_number = arg[0] >= '0' && arg[0] <= '9' && strlen(arg) < 19;
    *value = is_number ? strtoull(arg, &end, 10) : 0;
    if (!is_number || *end || *value > max) {
        return rh_error_set(err, RH_ERR_USAGE, "\"%s\" is not a whole number from 0 to %" PRIu64,
                            arg, max);
    }
    return 0;
}

static int read_port(const char *arg, void *target, struct rh_error *err)
{
    uint64_t value;
    int rc = read_whole(arg, 65535, &value, err);
    *(uint32_t *) target = (uint32_t) value;
    return rc;
}

static int read_rows(const char *arg, void *target, struct rh_error *err)
{
    return read_whole(arg, INT64_MAX / 2, target, err);
}

static int read_width(const char *arg, void *target, struct rh_error *err)
{
    uint64_t value;
    int rc = read_whole(arg, RH_NULL_WIDTH_MAX, &value, err);
    *(uint32_t *) target = (uint32_t) value;
    return rc;
}

static int read_limited(const char *arg, uint32_t max, void *target, struct rh_error *err)
{
    uint32_t *value = target;
    if (rh_opt_count(arg, value, err) != 0) {
        return -1;
    }
    return *value <= max ? 0 : rh_error_set(err, RH_ERR_USAGE, "must be at most %" PRIu32, max);
}

static int read_columns(const char *arg, void *target, struct rh_error *err)
{
    return read_limited(arg, RH_NULL_COLUMNS_MAX, target, err);
}

static int read_jobs(const char *arg, void *target, struct rh_error *err)
{
    return read_limited(arg, RH_NULL_JOBS_MAX, target, err);
}

static int read_connections(const char *arg, void *target, struct rh_error *err)
{
    return read_limited(arg, RH_NULL_CONNECTIONS_MAX, target, err);
}

static int read_fraction(const char *arg, void *target, struct rh_error *err)
{
    double *fraction = target;
    if (rh_opt_double(arg, fraction, err) != 0) {
        return -1;
    }
    return *fraction <= 1 ? 0 : rh_error_set(err, RH_ERR_USAGE, "must be at most 1");
}

static int read_state(const char *arg, void *target, struct rh_error *err)
{
    if (strlen(arg) != 5 || strspn(arg, "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ") != 5 ||
        strcmp(arg, "00000") == 0) {
        return rh_error_set(err, RH_ERR_USAGE, "\"%s\" is not an SQLSTATE such as 40001", arg);
    }
    *(uint32_t *) target = rh_sqlstate_pack(rh_span_cstr(arg));
    return 0;
}

#define AT(field) offsetof(struct options, field)

static const struct rh_opt table[] = {
    {.group = "Where it listens"},
    {"host", 'h', RH_OPT_ARG, "HOST", rh_opt_list, AT(hosts),
     "address, name, or folder for a socket (repeatable)\n[default: 127.0.0.1]", NULL},
    {"port", 'p', RH_OPT_ARG, "PORT", read_port, AT(port), "port [default: 0, a free one]", NULL},
    {"jobs", 'j', RH_OPT_ARG, "N", read_jobs, AT(jobs),
     "worker threads [default: number of cores, at most 4]", NULL},
    {"max-connections", 0, RH_OPT_ARG, "N", read_connections, AT(answers.max_connections),
     "refuse those beyond with 53300\n[default: as many as files can be open]", NULL},
    {.group = "What it answers"},
    {"rows", 0, RH_OPT_ARG, "N", read_rows, AT(answers.rows), "rows of a SELECT [default: 1]",
     NULL},
    {"columns", 0, RH_OPT_ARG, "N", read_columns, AT(answers.columns),
     "columns of a row [default: 1]", NULL},
    {"width", 0, RH_OPT_ARG, "BYTES", read_width, AT(answers.width),
     "bytes of a value [default: 1]", NULL},
    {"delay", 0, RH_OPT_ARG, "TIME", rh_opt_duration, AT(answers.delay_ns),
     "wait before each answer [default: none]", NULL},
    {"errors", 0, RH_OPT_ARG, "FRACTION", read_fraction, AT(answers.error_fraction),
     "let this part of the statements fail, BEGIN, COMMIT and\nthe like apart [default: none]",
     NULL},
    {"error-state", 0, RH_OPT_ARG, "SQLSTATE", read_state, AT(answers.error_state),
     "with this error [default: XX000]", NULL},
    {"server-version", 0, RH_OPT_ARG, "VERSION", rh_opt_string, AT(answers.server_version),
     "the version it tells [default: 17.0]", NULL},
    {.group = "Output"},
    {"quiet", 'q', RH_OPT_NO_ARG, NULL, rh_opt_flag, AT(quiet),
     "warnings and errors only: no counts at the end", NULL},
    {0},
};

static const struct rh_opt_command command = {
    .program = "pgrehearse-nullserver",
    .synopsis = "[OPTION]...",
    .summary = "A server that answers anything at once, to measure what a client can do.",
    .options = table,
    .footer =
        "It lets everybody in, looks at the first word of a command and keeps nothing. A line\n"
        "\"ready host=HOST port=PORT\" goes to standard output for each address once it listens.\n"
        "\n"
        "A comment within a command asks for another answer:\n"
        "  /* null: rows 1000, width 80, delay 5ms */   in place of the options\n"
        "  /* null: error 40001 */                      this error\n"
        "  /* null: fatal 57P01 */                      this error, and the connection ends\n"
        "  /* null: close */                            the connection ends without an answer\n"
        "\n"
        "SIGINT and SIGTERM end it; exit status 0 then, 2 if it cannot listen.\n"
        "\n"
        "Examples:\n"
        "  pgrehearse nullserver -p 6543\n"
        "  pgrehearse nullserver -h /tmp -p 6543 --rows 100 --width 20\n",
};

static uint32_t default_jobs(void)
{
    long cores = sysconf(_SC_NPROCESSORS_ONLN);
    return cores < 1 ? 1 : cores > 4 ? 4 : (uint32_t) cores;
}

static void say_ready(const struct rh_null_server *server)
{
    const struct rh_null_listeners *l = rh_null_server_listeners(server);
    for (uint32_t i = 0; i < l->count; i++) {
        printf("ready host=%s port=%u\n", l->items[i].host, l->items[i].port);
    }
    (void) fflush(stdout);
}

static void say_counts(const struct rh_null_server *server)
{
    struct rh_null_totals t = rh_null_server_count(server);
    (void) fprintf(stderr,
                   "served       %" PRIu64 " connection%s, at most %" PRIu32 " at once; %" PRIu64
                   " statement%s, %" PRIu64 " error%s, %" PRIu64 " row%s, %" PRIu64 " byte%s\n",
                   t.connections, rh_plural(t.connections), t.peak, t.counts.statements,
                   rh_plural(t.counts.statements), t.counts.errors, rh_plural(t.counts.errors),
                   t.counts.rows, rh_plural(t.counts.rows), t.bytes_sent, rh_plural(t.bytes_sent));
}

static int run(void *options, const struct rh_str_list *operands)
{
    static const char *const loopback[] = {"127.0.0.1"};
    struct options *o = options;
    struct rh_null_server *server;
    struct rh_error err;
    const struct rh_null_setup setup = {
        .options = o->answers,
        .hosts = o->hosts.count ? o->hosts.items : loopback,
        .host_count = o->hosts.count ? o->hosts.count : 1,
        .port = (uint16_t) o->port,
        .jobs = o->jobs,
    };
    rh_log_setup(command.program, o->quiet ? RH_LOG_WARNING : RH_LOG_INFO);
    if (operands->count > 0) {
        rh_log(RH_LOG_ERROR, "\"%s\": it takes no files", operands->items[0]);
        rh_log_hint("pgrehearse-nullserver --help");
        return RH_EXIT_TROUBLE;
    }
    rh_stop_install();
    if (rh_null_server_open(&server, &setup, &err) != 0) {
        rh_log_error(&err);
        return RH_EXIT_TROUBLE;
    }
    say_ready(server);
    int rc = rh_null_server_run(server, &err);
    if (rc != 0) {
        rh_log_error(&err);
    } else if (!o->quiet) {
        say_counts(server);
    }
    rh_null_server_close(server);
    return rc == 0 ? RH_EXIT_DONE : RH_EXIT_TROUBLE;
}

int rh_null_command_run(int argc, char **argv)
{
    struct options o = {.jobs = default_jobs()};
    rh_log_setup(command.program, RH_LOG_INFO);
    rh_null_options_init(&o.answers);
    int status = rh_opt_run(&command, argc, argv, &o, run);
    rh_str_list_release(&o.hosts);
    return status;
}
