/*
 * capture/wire_stack.h
 *
 * Packets to the streams of a server's connections: link layers, IP with its fragments, TCP.
 */
#ifndef RH_CAPTURE_WIRE_STACK_H
#define RH_CAPTURE_WIRE_STACK_H

#include "capture/tcp_reassembly.h"
#include "formats/pcap_parser.h"

enum { RH_WIRE_PORTS_MAX = 32 };

struct rh_wire_options {
    uint16_t ports[RH_WIRE_PORTS_MAX]; /* the server's */
    size_t port_count;
    struct rh_tcp_options tcp;
};

struct rh_wire_stack;

/* Port 5432 and rh_tcp_options_default(). */
struct rh_wire_options rh_wire_options_default(void);

struct rh_wire_stack *rh_wire_stack_new(const struct rh_wire_options *options,
                                        const struct rh_tcp_sink *sink);
/* NULL is allowed; closes what is open. */
void rh_wire_stack_free(struct rh_wire_stack *w);

void rh_wire_stack_packet(struct rh_wire_stack *w, const struct rh_pcap_packet *packet);
/* It is so late, though no packet came: streams do not wait for longer than they may. */
void rh_wire_stack_clock(struct rh_wire_stack *w, int64_t time_ns);
/* All connections are settled and closed. */
void rh_wire_stack_finish(struct rh_wire_stack *w);
const struct rh_wire_counts *rh_wire_stack_counts(const struct rh_wire_stack *w);

#endif
