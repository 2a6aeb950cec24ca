#include "capture/wire_command.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "capture/live_source.h"
#include "capture/packet_filter.h"
#include "capture/packet_order.h"
#include "capture/packet_source.h"
#include "capture/summary_text.h"
#include "capture/wire_stack.h"
#include "capture/wire_summary.h"
#include "capture/wire_upkeep.h"
#include "common/clock.h"
#include "common/log.h"
#include "common/progress.h"
#include "common/stop.h"

/* What a kill can take of a live capture. */
static const int64_t seal_every_ns = 5 * RH_NS_PER_SEC;

struct command {
    const struct rh_capture_options *options;
    struct rh_capture_filter wanted;
    struct rh_packet_files *files;   /* NULL: the packets are of an interface */
    struct rh_packet_filter *filter; /* of the packets of files; NULL: none */
    struct rh_live_source *live;
    struct rh_run_as run_as;
    struct rh_packet_source source;
    struct rh_wire_capture *capture;
    struct rh_wire_stack *stack;
    struct rh_rotation_options rotation;
    struct rh_wire_rotation trace;
    struct rh_wire_upkeep upkeep;
    struct rh_progress progress;
    int64_t first_ns; /* of the packets */
    int64_t last_ns;
    int64_t ticked_ns; /* last_ns at the last tick */
    bool stopped;
    bool damaged; /* the input could not be read to its end */
};

/* ------------------------------------------------------------------------------------------------
 * Packets of files
 */

static enum rh_packet_next next_of_files(void *context, struct rh_pcap_packet *packet,
                                         struct rh_error *err)
{
    struct command *c = context;
    int got;
    int wanted = 1;
    do {
        got = rh_packet_files_next(c->files, packet, err);
        if (got > 0 && c->filter) {
            wanted = rh_packet_filter_match(c->filter, packet, err);
        }
    } while (got > 0 && wanted == 0);
    return got < 0 || wanted < 0 ? RH_PACKET_NEXT_FAILED
           : got > 0             ? RH_PACKET_NEXT_ONE
                                 : RH_PACKET_NEXT_END;
}

static void describe_files(void *context, char *text, size_t size)
{
    const struct command *c = context;
    double part = rh_packet_files_progress(c->files);
    text[0] = '\0';
    if (part > 0) {
        snprintf(text, size, "%.0f %%", 100 * part);
    }
}

static int open_files(struct command *c, struct rh_error *err)
{
    const struct rh_str_list *files = &c->options->packet_files;
    const char *filter = c->options->packet_filter;
    if ((filter && rh_packet_filter_new(&c->filter, filter, err) != 0) ||
        rh_packet_order_sort(files->items, files->count, err) != 0) {
        return -1;
    }
    c->files = rh_packet_files_new(files->items, files->count);
    c->source = (struct rh_packet_source){c, next_of_files, describe_files};
    return 0;
}

static int open_live(struct command *c, const struct rh_wire_options *wire, struct rh_error *err)
{
    const struct rh_live_options options = {
        .device = c->options->interface,
        .ports = wire->ports,
        .port_count = wire->port_count,
        .filter = c->options->packet_filter,
        .buffer_bytes = c->options->buffer_bytes,
    };
    return rh_run_as_find(&c->run_as, c->options->run_as, err) != 0 ||
                   rh_live_source_open(&c->live, &c->source, &options, &c->run_as, err) != 0
               ? -1
               : 0;
}

/* ------------------------------------------------------------------------------------------------
 * The capture
 */

static int open_trace(struct command *c, struct rh_error *err)
{
    const struct rh_capture_options *o = c->options;
    c->rotation = (struct rh_rotation_options){
        .path = o->output,
        .bytes = o->rotate.bytes,
        .every_ns = o->rotate.duration_ns,
        .seal_ns = c->live ? seal_every_ns : 0,
    };
    c->upkeep = (struct rh_wire_upkeep){
        .options = o,
        .output = &c->trace,
        .live = c->live,
        .begun_ns = RH_TIME_UNKNOWN,
    };
    return rh_wire_rotation_open(&c->trace, &c->rotation, rh_wire_capture_server(c->capture), err);
}

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
    if (rh_capture_filter_open(&c->wanted, o, err) != 0) {
        return -1;
    }
    c->capture = rh_wire_capture_new(&c->trace.sink, NULL);
    rh_wire_capture_filter(c->capture, &c->wanted);
    if (o->redact) {
        rh_wire_capture_redact(c->capture);
    }
    rh_wire_capture_tcp_sink(c->capture, &tcp);
    c->stack = rh_wire_stack_new(&wire, &tcp);
    if ((o->interface ? open_live(c, &wire, err) : open_files(c, err)) != 0) {
        return -1;
    }
    return open_trace(c, err);
}

static void say_begun(const struct command *c)
{
    const struct rh_capture_options *o = c->options;
    if (c->live && !o->quiet) {
        rh_log(RH_LOG_INFO, "capturing on \"%s\", port %u%s, as the user \"%s\"; ^C ends it",
               o->interface, o->port_count > 0 ? (unsigned) o->ports[0] : 5432U,
               o->port_count > 1 ? " and more" : "", c->run_as.name);
    }
}

static void show_progress(struct command *c)
{
    const struct rh_wire_capture_counts *n = rh_wire_capture_counts(c->capture);
    char source[80];
    c->source.describe(c->source.context, source, sizeof source);
    rh_progress_show(&c->progress,
                     "%" PRIu64 " packets, %" PRIu64 " sessions, %" PRIu64 " statements%s%s",
                     rh_wire_stack_counts(c->stack)->packets, n->sessions,
                     rh_capture_stats_statements(rh_wire_capture_stats(c->capture)),
                     source[0] ? ", " : "", source);
}

/* What is due now and then.  An interface still gives what it has when it is to end. */
static enum rh_upkeep tick(struct command *c, struct rh_error *err)
{
    if (rh_progress_due(&c->progress)) {
        show_progress(c);
    }
    if (rh_wire_capture_check(c->capture, err) != 0) {
        return RH_UPKEEP_FAILED;
    }
    enum rh_upkeep due = rh_wire_upkeep_tick(&c->upkeep, c->last_ns, err);
    if (due == RH_UPKEEP_END && c->live) {
        rh_stop_request();
        return RH_UPKEEP_GO_ON;
    }
    return due;
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
            if (--until_tick > 0 && rh_time_sub(c->last_ns, c->ticked_ns) < RH_NS_PER_SEC) {
                continue;
            }
            c->ticked_ns = c->last_ns;
            break;
        case RH_PACKET_NEXT_NONE:
            /* What the kernel has seen by now may still be on its way to us. */
            rh_wire_stack_clock(c->stack, rh_clock_wall_ns() - rh_packet_live_delay_ns());
            break;
        case RH_PACKET_NEXT_END:
            return tick(c, err) == RH_UPKEEP_FAILED ? -1 : 0;
        case RH_PACKET_NEXT_FAILED:
            c->stopped = err->code == RH_ERR_STOPPED;
            c->damaged = !c->stopped;
            if (c->damaged) {
                rh_log_error(err);
            }
            return tick(c, err) == RH_UPKEEP_FAILED ? -1 : 0;
        }
        until_tick = RH_WIRE_TICK_PACKETS;
        enum rh_upkeep due = tick(c, err);
        if (due != RH_UPKEEP_GO_ON) {
            return due == RH_UPKEEP_FAILED ? -1 : 0;
        }
    }
}

static struct rh_wire_summary summarise(struct command *c)
{
    return (struct rh_wire_summary){
        .packets = rh_wire_stack_counts(c->stack),
        .sessions = rh_wire_capture_counts(c->capture),
        .stats = rh_wire_capture_stats(c->capture),
        .server = rh_wire_capture_server(c->capture),
        .filter = &c->wanted,
        .verbose = c->options->verbose,
        .redacted = c->options->redact,
        .sample = c->options->sample,
        .files = c->files ? rh_packet_files_count(c->files) : NULL,
        .first_ns = c->first_ns,
        .last_ns = c->last_ns,
        .drops = c->upkeep.drops,
        .output = c->options->output,
        .output_files = c->trace.count,
    };
}

/* Nothing usable: no trace is left behind. */
static int end_empty(struct command *c)
{
    struct rh_wire_summary m = summarise(c);
    const char *reason, *hint;
    rh_wire_rotation_discard(&c->trace);
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
    if (!output_failed && (rh_wire_upkeep_drops(&c->upkeep, c->last_ns, err) != 0 ||
                           rh_wire_capture_finish(c->capture, c->last_ns, err) != 0)) {
        output_failed = true;
    }
    struct rh_wire_summary m = summarise(c);
    if (!output_failed && rh_capture_stats_statements(m.stats) == 0) {
        return end_empty(c);
    }
    struct rh_error finish_error;
    c->damaged = c->damaged || (m.files && m.files->damaged_files > 0);
    bool partial = c->stopped || c->damaged || output_failed;
    if (c->trace.now && c->trace.now->writer) {
        rh_wire_summary_note(&m, c->trace.now->writer);
        if (c->damaged && !c->stopped && !output_failed) {
            rh_trace_writer_note(c->trace.now->writer, "incomplete", RH_SPAN_LITERAL("input"));
        }
    }
    int rc = rh_wire_rotation_finish(&c->trace, partial, &finish_error);
    if (output_failed || rc != 0) {
        rh_log_error(output_failed ? err : &finish_error);
        return RH_EXIT_PARTIAL;
    }
    m.output_bytes = rh_wire_rotation_bytes(&c->trace);
    if (!c->options->quiet) {
        rh_wire_summary_print(&m, stderr);
    }
    rh_summary_warn_runaways(c->wanted.include_runaways + c->wanted.exclude_runaways);
    rh_summary_warn_incomplete(c->stopped, c->damaged);
    return partial ? RH_EXIT_PARTIAL : RH_EXIT_DONE;
}

static void release_all(struct command *c)
{
    rh_wire_stack_free(c->stack);
    rh_wire_capture_free(c->capture);
    rh_packet_files_free(c->files);
    rh_packet_filter_free(c->filter);
    rh_live_source_close(c->live);
    rh_wire_rotation_discard(&c->trace);
    rh_wire_rotation_release(&c->trace);
    rh_capture_filter_release(&c->wanted);
}

/* The output could not be opened by the user that the capture became. */
static void say_who(const struct command *c, const struct rh_error *err)
{
    if (c->live && c->run_as.change && err->code == RH_ERR_IO) {
        rh_log_hint("the capture is the user \"%s\" once the interface is open: give a folder that "
                    "he may write, or --run-as USER",
                    c->run_as.name);
    }
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
        say_who(&c, &err);
    } else {
        say_begun(&c);
        bool failed = read_all(&c, &err) != 0;
        rh_progress_end(&c.progress);
        status = end_all(&c, failed, &err);
    }
    release_all(&c);
    return status;
}
