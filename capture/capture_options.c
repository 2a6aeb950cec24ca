/* capture/capture_options.c */
#include "capture/capture_options.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

/* HOST:PORT, the address that clients (and a replay) would use; an IPv6 address in brackets. */
static int read_server(const char *arg, void *target, struct rh_error *err)
{
    const char *colon = strrchr(arg, ':');
    char *end = NULL;
    long port = colon ? strtol(colon + 1, &end, 10) : 0;
    if (!colon || colon == arg || end == colon + 1 || *end || port < 1 || port > 65535) {
        return rh_error_set(err, RH_ERR_USAGE, "\"%s\" is not HOST:PORT", arg);
    }
    *(const char **) target = arg;
    return 0;
}

/* Other formats come with their readers; until then a wrong guess is better refused than tried. */
static int read_format(const char *arg, void *target, struct rh_error *err)
{
    *(bool *) target = true;
    if (strcmp(arg, "auto") != 0 && strcmp(arg, "csv") != 0) {
        return rh_error_set(err, RH_ERR_USAGE, "\"%s\" is not a format: auto or csv", arg);
    }
    return 0;
}

static int read_port(const char *arg, void *target, struct rh_error *err)
{
    struct rh_capture_options *o = target;
    char *end = NULL;
    long port = strtol(arg, &end, 10);
    if (end == arg || *end || port < 1 || port > 65535) {
        return rh_error_set(err, RH_ERR_USAGE, "\"%s\" is not a port, 1 to 65535", arg);
    }
    if (o->port_count == RH_CAPTURE_PORTS_MAX) {
        return rh_error_set(err, RH_ERR_USAGE, "more than %d ports", RH_CAPTURE_PORTS_MAX);
    }
    o->ports[o->port_count++] = (uint16_t) port;
    return 0;
}

static int read_fraction(const char *arg, void *target, struct rh_error *err)
{
    char *end = NULL;
    double v = strtod(arg, &end);
    if (end == arg || *end || !(v > 0 && v <= 1)) {
        return rh_error_set(err, RH_ERR_USAGE, "\"%s\" is not a fraction above 0 and up to 1", arg);
    }
    *(double *) target = v;
    return 0;
}

#define AT(field) offsetof(struct rh_capture_options, field)

static const struct rh_opt options[] = {
    {.group = "Output"},
    {"output", 'o', RH_OPT_ARG, "FILE", rh_opt_string, AT(output), "write the trace to FILE", NULL,
     "*.trace"},
    {"quiet", 'q', RH_OPT_NO_ARG, NULL, rh_opt_flag, AT(quiet), "no progress and no summary", NULL},
    {"verbose", 'v', RH_OPT_NO_ARG, NULL, rh_opt_flag, AT(verbose),
     "more about the input in the summary", NULL},
    {.group = "Input of capture wire"},
    {"read", 'r', RH_OPT_ARG, "FILE", rh_opt_list, AT(packet_files),
     "packets of a capture file: pcap or pcapng, as tcpdump\nand Wireshark write them (repeatable)",
     NULL, "*.pcap* *.cap*"},
    {"server-port", 0, RH_OPT_ARG, "PORT", read_port, 0,
     "the server listens on PORT (repeatable) [default: 5432]", NULL},
    {.group = "Input of capture log"},
    {"format", 0, RH_OPT_ARG, "FORMAT", read_format, AT(format_given),
     "of the log: auto or csv [default: auto]", NULL, "auto csv"},
    {"server", 0, RH_OPT_ARG, "HOST:PORT", read_server, AT(server),
     "address of the server that wrote the log: a replay on it\nis refused", NULL},
    {.group = "What is captured"},
    {"from", 0, RH_OPT_ARG, "TIME", rh_opt_time, AT(from_ns),
     "transactions that begin at TIME or later", NULL},
    {"to", 0, RH_OPT_ARG, "TIME", rh_opt_time, AT(to_ns), "transactions that begin before TIME",
     NULL},
    {"user", 0, RH_OPT_ARG, "NAME", rh_opt_list, AT(users), "sessions of user NAME (repeatable)",
     NULL},
    {"database", 0, RH_OPT_ARG, "NAME", rh_opt_list, AT(databases),
     "sessions in database NAME (repeatable)", NULL},
    {"application", 0, RH_OPT_ARG, "NAME", rh_opt_list, AT(applications),
     "transactions begun under application_name NAME\n(repeatable)", NULL},
    {"include", 0, RH_OPT_ARG, "REGEX", rh_opt_list, AT(include),
     "statements whose text matches (repeatable: one of them)", NULL},
    {"exclude", 0, RH_OPT_ARG, "REGEX", rh_opt_list, AT(exclude),
     "no statements whose text matches (repeatable); what\nothers depend on is kept all the same: "
     "BEGIN, COMMIT,\nROLLBACK, SAVEPOINT, SET, PREPARE and the like",
     NULL},
    {"sample", 0, RH_OPT_ARG, "FRACTION", read_fraction, AT(sample),
     "of the sessions (0.1: one of ten); always the same ones", NULL},
    {.group = "What is left out of it"},
    {"redact", 0, RH_OPT_NO_ARG, NULL, rh_opt_flag, AT(redact),
     "placeholders for literals, parameters and comments;\nsuch a trace feeds the diff only, "
     "nothing of it is\nreplayed",
     NULL},
    {0},
};

const struct rh_opt_command rh_capture_command = {
    .program = "pgrehearse-capture",
    .synopsis = "log [OPTION]... -o T.trace FILE...\n"
                "wire [OPTION]... -o T.trace -r FILE...",
    .summary = "Capture a workload from PostgreSQL's csvlog, or from what goes over the wire.",
    .options = options,
    .footer =
        "FILEs may be given in any order, plain or compressed with gzip or zstd; - is standard\n"
        "input. The server must log statements, best with\n"
        "    log_destination = 'csvlog'\n"
        "    log_min_duration_statement = 0\n"
        "    log_connections = on\n"
        "    log_disconnections = on\n"
        "\n"
        "REGEX is a Perl-compatible regular expression on the whole text, upper and lower case\n"
        "as they are; (?i) at its start ignores case.\n"
        "\n"
        "Example:\n"
        "  pgrehearse capture log -o monday.trace postgresql-Mon.csv\n",
    .first_words = "log wire",
    .operand_words = "*.csv *.csv.gz *.csv.zst *.pcap*",
};

void rh_capture_options_init(struct rh_capture_options *o)
{
    memset(o, 0, sizeof *o);
    o->from_ns = INT64_MIN;
    o->to_ns = INT64_MAX;
    o->sample = 1;
}

void rh_capture_options_release(struct rh_capture_options *o)
{
    rh_str_list_release(&o->packet_files);
    rh_str_list_release(&o->users);
    rh_str_list_release(&o->databases);
    rh_str_list_release(&o->applications);
    rh_str_list_release(&o->include);
    rh_str_list_release(&o->exclude);
}
