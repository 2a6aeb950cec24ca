#include "capture/wire_command.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "capture/packet_order.h"
#include "capture/packet_source.h"
#include "capture/wire_stack.h"
#include "capture/wire_summary.h"
#include "capture/wire_trace.h"
#include "common/clock.h"
#include "common/log.h"
#include "common/progress.h"

struct command {
    const struct rh_capture_options *options;
    struct rh_packet_files *files; /* NULL: the packets are of an interface */
    struct rh_packet_source source;
    struct rh_wire_capture *capture;
    struct rh_wire_stack *stack;
    struct rh_wire_trace trace;
    struct rh_progress progress;
    int64_t first_ns; /* of the packets */
    int64_t last_ns;
    bool stopped;
    bool damaged; /* the input could not be read to its end */
};

/* ------------------------------------------------------------------------------------------------
 * Packets of files
 */

static enum rh_packet_next next_of_files(void *context, struct rh_pcap_packet *packet,
                                         struct rh_error *err)
{
    int got = rh_packet_files_next(context, packet, err);
    return got > 0 ? RH_PACKET_NEXT_ONE : got < 0 ? RH_PACKET_NEXT_FAILED : RH_PACKET_NEXT_END;
}

static void describe_files(void *context, char *text, size_t size)
{
    double part = rh_packet_files_progress(context);
    snprintf(text, size, part > 0 ? "%.0f %%" : "", 100 * part);
}

static int open_source(struct command *c, struct rh_error *err)
{
    const struct rh_str_list *files = &c->options->packet_files;
    if (rh_packet_order_sort(files->items, files->count, err) != 0) {
        return -1;
    }
    c->files = rh_packet_files_new(files->items, files->count);
    c->source = (struct rh_packet_source){c->files, next_of_files, describe_files};
    return 0;
}

/* ------------------------------------------------------------------------------------------------
 * The capture
 */

static int open_all(struct command *c, struct rh_error *err)
{
    const struct rh_capture_options *o = c->options;
    struct rh_wire_options wire = rh_wire_options_default();
    struct rh_tcp_sink tcp;
    if (o->port_count > 0) {
        memcpy(wire.ports, o->ports, sizeof o->ports);
        wire.port_count = o->port_count;
    }
    c->first_ns = c->last_ns = RH_TIME_UNKNOWN;
    c->capture = rh_wire_capture_new(&c->trace.sink, NULL);
    rh_wire_capture_tcp_sink(c->capture, &tcp);
    c->stack = rh_wire_stack_new(&wire, &tcp);
    if (open_source(c, err) != 0) {
        return -1;
    }
    return rh_wire_trace_open(&c->trace, o->output, rh_wire_capture_server(c->capture), err);
}

static void show_progress(struct command *c)
{
    const struct rh_wire_capture_counts *n = rh_wire_capture_counts(c->capture);
    char source[80];
    c->source.describe(c->source.context, source, sizeof source);
    rh_progress_show(&c->progress,
                     "%" PRIu64 " packets, %" PRIu64 " sessions, %" PRIu64 " statements%s%s",
                     rh_wire_stack_counts(c->stack)->packets, n->sessions,
                     rh_wire_summary_statements(n), source[0] ? ", " : "", source);
}

/* What is due now and then.  -1: the output failed. */
static int tick(struct command *c, struct rh_error *err)
{
    if (rh_progress_due(&c->progress)) {
        show_progress(c);
    }
    return rh_wire_capture_check(c->capture, err);
}

static void take_packet(struct command *c, const struct rh_pcap_packet *packet)
{
    if (c->first_ns == RH_TIME_UNKNOWN) {
        c->first_ns = packet->time_ns;
    }
    c->first_ns = packet->time_ns < c->first_ns ? packet->time_ns : c->first_ns;
    c->last_ns = packet->time_ns > c->last_ns ? packet->time_ns : c->last_ns;
    rh_wire_stack_packet(c->stack, packet);
}

/* 0, or -1 when the output failed. */
static int read_all(struct command *c, struct rh_error *err)
{
    struct rh_pcap_packet packet;
    uint32_t until_tick = RH_WIRE_TICK_PACKETS;
    for (;;) {
        switch (c->source.next(c->source.context, &packet, err)) {
        case RH_PACKET_NEXT_ONE:
            take_packet(c, &packet);
            if (--until_tick > 0) {
                continue;
            }
            break;
        case RH_PACKET_NEXT_NONE:
            break;
        case RH_PACKET_NEXT_END:
            return tick(c, err);
        case RH_PACKET_NEXT_FAILED:
            c->stopped = err->code == RH_ERR_STOPPED;
            c->damaged = !c->stopped;
            if (c->damaged) {
                rh_log_error(err);
            }
            return tick(c, err);
        }
        until_tick = RH_WIRE_TICK_PACKETS;
        if (tick(c, err) != 0) {
            return -1;
        }
    }
}

static struct rh_wire_summary summarise(struct command *c)
{
    return (struct rh_wire_summary){
        .packets = rh_wire_stack_counts(c->stack),
        .sessions = rh_wire_capture_counts(c->capture),
        .files = c->files ? rh_packet_files_count(c->files) : NULL,
        .first_ns = c->first_ns,
        .last_ns = c->last_ns,
        .output = c->options->output,
    };
}

/* Nothing usable: no trace is left behind. */
static int end_empty(struct command *c)
{
    struct rh_wire_summary m = summarise(c);
    const char *reason, *hint;
    rh_wire_trace_discard(&c->trace);
    m.output = NULL;
    if (!c->options->quiet) {
        rh_wire_summary_print(&m, stderr);
    }
    rh_wire_summary_why_empty(&m, &reason, &hint);
    rh_log(RH_LOG_ERROR, "%s", reason);
    if (hint) {
        rh_log_hint("%s", hint);
    }
    return RH_EXIT_TROUBLE;
}

/* The sessions end, what waits is written, the trace is closed. */
static int end_all(struct command *c, bool output_failed, struct rh_error *err)
{
    rh_wire_stack_finish(c->stack);
    if (!output_failed && rh_wire_capture_finish(c->capture, c->last_ns, err) != 0) {
        output_failed = true;
    }
    struct rh_wire_summary m = summarise(c);
    if (!output_failed && rh_wire_summary_statements(m.sessions) == 0) {
        return end_empty(c);
    }
    struct rh_error finish_error;
    c->damaged = c->damaged || (m.files && m.files->damaged_files > 0);
    bool partial = c->stopped || c->damaged || output_failed;
    int rc = rh_wire_trace_finish(&c->trace, partial, &finish_error);
    if (output_failed || rc != 0) {
        rh_log_error(output_failed ? err : &finish_error);
        return RH_EXIT_PARTIAL;
    }
    struct stat st;
    m.output_bytes = stat(m.output, &st) == 0 ? (uint64_t) st.st_size : 0;
    if (!c->options->quiet) {
        rh_wire_summary_print(&m, stderr);
    }
    if (c->stopped) {
        rh_log(RH_LOG_WARNING, "stopped early: the trace has what was read so far");
    } else if (c->damaged) {
        rh_log(RH_LOG_WARNING, "the trace lacks what could not be read");
    }
    return partial ? RH_EXIT_PARTIAL : RH_EXIT_DONE;
}

static void release_all(struct command *c)
{
    rh_wire_stack_free(c->stack);
    rh_wire_capture_free(c->capture);
    rh_packet_files_free(c->files);
    rh_wire_trace_discard(&c->trace);
}

int rh_wire_command_run(const struct rh_capture_options *options)
{
    struct command c = {.options = options};
    struct rh_error err = {0};
    int status = RH_EXIT_TROUBLE;
    rh_progress_init(&c.progress);
    if (options->quiet) {
        c.progress.on_terminal = false;
    }
    if (open_all(&c, &err) != 0) {
        rh_log_error(&err);
    } else {
        bool failed = read_all(&c, &err) != 0;
        rh_progress_end(&c.progress);
        status = end_all(&c, failed, &err);
    }
    release_all(&c);
    return status;
}
