#include "capture/capture_command.h"

#include <string.h>

#include "capture/capture_options.h"
#include "capture/log_command.h"
#include "capture/wire_command.h"
#include "common/log.h"
#include "common/stop.h"

static const char log_hint[] = "pgrehearse capture log -o T.trace FILE...";
static const char wire_hint[] = "pgrehearse capture wire -o T.trace -i INTERFACE, or -r FILE...";

static int complain(const char *what, const char *hint)
{
    rh_log(RH_LOG_ERROR, "%s", what);
    rh_log_hint("%s", hint);
    return RH_EXIT_TROUBLE;
}

/* An option that only a capture of the wire knows; NULL: none is given. */
static const char *given_of_wire(const struct rh_capture_options *o)
{
    bool limits = o->rotate.bytes > 0 || o->rotate.duration_ns > 0;
    return o->port_count > 0           ? "--server-port is of capture wire"
           : o->packet_files.count > 0 ? "-r is of capture wire"
           : o->interface              ? "-i is of capture wire"
           : o->packet_filter          ? "--filter is of capture wire"
           : o->buffer_bytes > 0       ? "--buffer is of capture wire"
           : o->run_as                 ? "--run-as is of capture wire"
           : limits                    ? "--rotate is of capture wire"
           : o->stop_after.bytes > 0 || o->stop_after.duration_ns > 0
               ? "--stop-after is of capture wire"
               : NULL;
}

static int run_log(const struct rh_capture_options *o, const struct rh_str_list *operands)
{
    const char *of_wire = given_of_wire(o);
    if (of_wire) {
        return complain(of_wire, wire_hint);
    }
    if (operands->count == 1) {
        return complain("no log file is given", log_hint);
    }
    if (!o->output) {
        return complain("no output is given", "-o T.trace names the file to write");
    }
    return rh_log_command_run(o, operands->items + 1, operands->count - 1);
}

/* Files behind the first -r FILE are operands, as a shell makes them of a pattern. */
static int run_wire(struct rh_capture_options *o, const struct rh_str_list *operands)
{
    if (o->format_given || o->server) {
        return complain(o->server ? "--server is of capture log: the packets tell it"
                                  : "--format is of capture log: the files tell it",
                        wire_hint);
    }
    if (o->packet_files.count == 0 && !o->interface) {
        return complain("no packets are given", wire_hint);
    }
    if (o->interface && (o->packet_files.count > 0 || operands->count > 1)) {
        return complain("packets are of an interface or of files, not of both", wire_hint);
    }
    if (!o->interface && (o->buffer_bytes > 0 || o->run_as)) {
        return complain(o->run_as ? "--run-as is for packets of an interface"
                                  : "--buffer is for packets of an interface",
                        wire_hint);
    }
    for (size_t i = 1; i < operands->count; i++) {
        rh_opt_list(operands->items[i], &o->packet_files, NULL);
    }
    if (!o->output) {
        return complain("no output is given", "-o T.trace names the file to write");
    }
    if (strcmp(o->output, "-") == 0 && (o->rotate.bytes > 0 || o->rotate.duration_ns > 0)) {
        return complain("--rotate makes files, standard output is one stream",
                        "-o T.trace names the first of them");
    }
    return rh_wire_command_run(o);
}

static int run(void *target, const struct rh_str_list *operands)
{
    struct rh_capture_options *options = target;
    const char *from = operands->count > 0 ? operands->items[0] : NULL;
    rh_stop_install();
    if (from && strcmp(from, "log") == 0) {
        return run_log(options, operands);
    }
    if (from && strcmp(from, "wire") == 0) {
        return run_wire(options, operands);
    }
    if (from) {
        rh_log(RH_LOG_ERROR, "\"%s\" is nothing to capture from", from);
    } else {
        rh_log(RH_LOG_ERROR, "nothing to capture from is given");
    }
    rh_log_hint("%s, or %s", log_hint, wire_hint);
    return RH_EXIT_TROUBLE;
}

int rh_capture_main(int argc, char **argv)
{
    struct rh_capture_options options;
    rh_capture_options_init(&options);
    rh_log_setup(rh_capture_command.program, RH_LOG_INFO);
    int status = rh_opt_run(&rh_capture_command, argc, argv, &options, run);
    rh_capture_options_release(&options);
    return status;
}
