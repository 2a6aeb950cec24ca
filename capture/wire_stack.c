#include "capture/wire_stack.h"

#include <string.h>

#include "capture/ip_fragments.h"
#include "common/alloc.h"

struct rh_wire_stack {
    uint64_t is_server_port[65536 / 64];
    struct rh_wire_counts counts;
    struct rh_ip_fragments *fragments;
    struct rh_tcp_reassembly *tcp;
};

struct rh_wire_options rh_wire_options_default(void)
{
    return (struct rh_wire_options){
        .ports = {5432},
        .port_count = 1,
        .tcp = rh_tcp_options_default(),
    };
}

struct rh_wire_stack *rh_wire_stack_new(const struct rh_wire_options *options,
                                        const struct rh_tcp_sink *sink)
{
    struct rh_wire_stack *w = rh_calloc(1, sizeof *w);
    for (size_t i = 0; i < options->port_count; i++) {
        w->is_server_port[options->ports[i] / 64] |= UINT64_C(1) << (options->ports[i] % 64);
    }
    w->fragments = rh_ip_fragments_new(&w->counts);
    w->tcp = rh_tcp_reassembly_new(&options->tcp, sink, &w->counts);
    return w;
}

void rh_wire_stack_free(struct rh_wire_stack *w)
{
    if (!w) {
        return;
    }
    rh_tcp_reassembly_free(w->tcp);
    rh_ip_fragments_free(w->fragments);
    rh_free(w);
}

static bool is_server(const struct rh_wire_stack *w, uint16_t port)
{
    return w->is_server_port[port / 64] >> (port % 64) & 1;
}

/* Between two servers' ports nothing tells who is the client, but both directions must agree. */
static bool is_lower_source(const struct rh_packet *p)
{
    if (p->tcp.source_port != p->tcp.destination_port) {
        return p->tcp.source_port < p->tcp.destination_port;
    }
    return memcmp(p->ip.source, p->ip.destination, sizeof p->ip.source) < 0;
}

void rh_wire_stack_packet(struct rh_wire_stack *w, const struct rh_pcap_packet *packet)
{
    struct rh_packet decoded;
    enum rh_packet_kind kind =
        rh_packet_decode(packet->link_type, packet->bytes, packet->original_bytes, &decoded);
    w->counts.packets++;
    w->counts.kinds[kind]++;
    if (kind == RH_PACKET_FRAGMENT) {
        kind = rh_ip_fragments_add(w->fragments, &decoded, packet->time_ns);
    }
    if (kind != RH_PACKET_TCP) {
        return;
    }
    bool to_server = is_server(w, decoded.tcp.destination_port);
    bool from_server = is_server(w, decoded.tcp.source_port);
    if (!to_server && !from_server) {
        w->counts.other_ports++;
        return;
    }
    if (to_server && from_server) {
        from_server = is_lower_source(&decoded);
    }
    rh_tcp_reassembly_segment(w->tcp, from_server ? RH_TCP_SERVER : RH_TCP_CLIENT, &decoded.ip,
                              &decoded.tcp, packet->time_ns);
}

void rh_wire_stack_clock(struct rh_wire_stack *w, int64_t time_ns)
{
    rh_tcp_reassembly_clock(w->tcp, time_ns);
}

void rh_wire_stack_finish(struct rh_wire_stack *w)
{
    rh_tcp_reassembly_finish(w->tcp);
}

const struct rh_wire_counts *rh_wire_stack_counts(const struct rh_wire_stack *w)
{
    return &w->counts;
}
