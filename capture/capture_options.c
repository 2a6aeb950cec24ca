/* capture/capture_options.c */
#include "capture/capture_options.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "capture/packet_live.h"

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

/* Of the ring of a live capture. */
static int read_buffer(const char *arg, void *target, struct rh_error *err)
{
    uint64_t bytes;
    if (rh_opt_bytes(arg, &bytes, err) != 0) {
        return -1;
    }
    if (bytes < RH_LIVE_BUFFER_MIN_BYTES || bytes > RH_LIVE_BUFFER_MAX_BYTES) {
        return rh_error_set(err, RH_ERR_USAGE, "\"%s\" is not from 1MB to 2047MB", arg);
    }
    *(uint64_t *) target = bytes;
    return 0;
}

/* The unit tells which it is; a bare number could be either. */
static int read_limit(const char *arg, void *target, struct rh_error *err)
{
    struct rh_capture_limit *limit = target;
    size_t len = strlen(arg);
    char last = len > 0 ? arg[len - 1] : '\0';
    if (last == 'B' || last == 'b') {
        if (rh_opt_bytes(arg, &limit->bytes, err) != 0) {
            return -1;
        }
        return limit->bytes > 0 ? 0 : rh_error_set(err, RH_ERR_USAGE, "must be above 0");
    }
    if (last < 'a' || last > 'z') {
        return rh_error_set(err, RH_ERR_USAGE, "\"%s\" is not a size (10GB) or a time (2h)", arg);
    }
    if (rh_opt_duration(arg, &limit->duration_ns, err) != 0) {
        return -1;
    }
    return limit->duration_ns > 0 ? 0 : rh_error_set(err, RH_ERR_USAGE, "must be above 0");
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
    {"rotate", 0, RH_OPT_ARG, "LIMIT", read_limit, AT(rotate),
     "of a file of capture wire, a size or a time (1GB, 1h):\nafter T.trace come T.0001.trace, "
     "T.0002.trace ...",
     NULL},
    {"stop-after", 0, RH_OPT_ARG, "LIMIT", read_limit, AT(stop_after),
     "end capture wire after a size or a time (10GB, 2h)", NULL},
    {.group = "Input of capture wire"},
    {"interface", 'i', RH_OPT_ARG, "NAME", rh_opt_string, AT(interface),
     "packets of a network interface of this host, as they\ncome; any: of all", NULL},
    {"read", 'r', RH_OPT_ARG, "FILE", rh_opt_list, AT(packet_files),
     "packets of a capture file: pcap or pcapng, as tcpdump\nand Wireshark write them (repeatable)",
     NULL, "*.pcap* *.cap*"},
    {"server-port", 0, RH_OPT_ARG, "PORT", read_port, 0,
     "the server listens on PORT (repeatable) [default: 5432]", NULL},
    {"filter", 0, RH_OPT_ARG, "BPF", rh_opt_string, AT(packet_filter),
     "only packets that match too, as 'host 192.0.2.7'\n(pcap-filter(7))", NULL},
    {"buffer", 0, RH_OPT_ARG, "SIZE", read_buffer, AT(buffer_bytes),
     "of the kernel's ring of packets [default: 64MB]", NULL},
    {"run-as", 0, RH_OPT_ARG, "USER", rh_opt_string, AT(run_as),
     "root becomes USER once the interface is open [default:\nwho called sudo, else nobody]", NULL},
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
                "wire [OPTION]... -o T.trace -i INTERFACE\n"
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
        "  pgrehearse capture log -o monday.trace postgresql-Mon.csv\n"
        "  sudo pgrehearse capture wire -i eth0 -o monday.trace\n",
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
