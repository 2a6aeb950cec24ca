#include "capture/wire_stack.h"

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
    const struct rh_tcp_segment *s = &decoded.tcp;
    /* Where both are a server's, a connection's first packet goes to the one that listens. */
    if (is_server(w, s->destination_port) &&
        !(is_server(w, s->source_port) && s->source_port < s->destination_port)) {
        rh_tcp_reassembly_segment(w->tcp, RH_TCP_CLIENT, &decoded.ip, s, packet->time_ns);
    } else if (is_server(w, s->source_port)) {
        rh_tcp_reassembly_segment(w->tcp, RH_TCP_SERVER, &decoded.ip, s, packet->time_ns);
    } else {
        w->counts.other_ports++;
    }
}

void rh_wire_stack_finish(struct rh_wire_stack *w)
{
    rh_tcp_reassembly_finish(w->tcp);
}

const struct rh_wire_counts *rh_wire_stack_counts(const struct rh_wire_stack *w)
{
    return &w->counts;
}
