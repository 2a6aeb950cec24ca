/*
 * Capture files to streams: the bytes of a file through the parser, the link layers, IP with its
 * fragments and TCP, with all ports the server's and little room.  Whatever the file says, the sink
 * is called as it must be.
 */
#include "capture/wire_stack.h"
#include "common/alloc.h"
#include "fuzz_target.h"

static void *sink_open(void *context, const struct rh_tcp_connection_info *info)
{
    (void) context;
    rh_fuzz_require(info->peer[0].address[0] && info->peer[1].address[0], "peers have addresses");
    return rh_calloc(1, sizeof(int64_t));
}

static void see_time(void *connection, int64_t time_ns)
{
    int64_t *last = connection;
    rh_fuzz_require(*last == 0 || time_ns >= *last, "the time does not go back");
    *last = time_ns;
}

static void sink_data(void *connection, enum rh_tcp_side side, int64_t time_ns,
                      struct rh_span bytes)
{
    rh_fuzz_require(side <= RH_TCP_SERVER && bytes.len > 0, "data has bytes");
    unsigned sum = 0;
    for (size_t i = 0; i < bytes.len; i++) {
        sum += (unsigned char) bytes.data[i];
    }
    rh_fuzz_require(sum <= 255 * bytes.len, "bytes can be read");
    see_time(connection, time_ns);
}

static void sink_gap(void *connection, enum rh_tcp_side side, int64_t time_ns, uint64_t bytes)
{
    rh_fuzz_require(side <= RH_TCP_SERVER && bytes > 0, "a gap has bytes");
    see_time(connection, time_ns);
}

static void sink_close(void *connection, int64_t time_ns, enum rh_tcp_end how)
{
    (void) how;
    see_time(connection, time_ns);
    rh_free(connection);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct rh_tcp_sink sink = {sink_open, sink_data, sink_gap, sink_close, NULL};
    struct rh_wire_options options = rh_wire_options_default();
    options.ports[1] = 80;
    options.port_count = 2;
    options.tcp.connection_bytes = 20000;
    options.tcp.total_bytes = 50000;
    options.tcp.connections_max = 8;
    struct rh_wire_stack *stack = rh_wire_stack_new(&options, &sink);
    struct rh_pcap_parser parser;
    struct rh_pcap_packet packet;
    rh_pcap_parser_init(&parser);
    const char *at = (const char *) data;
    uint64_t kinds = 0;
    for (;;) {
        ptrdiff_t used = rh_pcap_next(&parser, at, size, &packet, NULL);
        if (used <= 0) {
            break;
        }
        rh_fuzz_require((size_t) used <= size, "it uses what it is given");
        at += used;
        size -= (size_t) used;
        if (packet.bytes.data) {
            rh_wire_stack_packet(stack, &packet);
        }
    }
    rh_wire_stack_finish(stack);
    const struct rh_wire_counts *counts = rh_wire_stack_counts(stack);
    for (int i = 0; i < RH_PACKET_KIND_COUNT; i++) {
        kinds += counts->kinds[i];
    }
    rh_fuzz_require(kinds == counts->packets, "every packet is of a kind");
    rh_wire_stack_free(stack);
    rh_pcap_parser_release(&parser);
    return 0;
}
