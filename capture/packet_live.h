/*
 * capture/packet_live.h
 *
 * Packets of a network interface as they come, through libpcap: a ring that the kernel fills and
 * hands over by blocks (TPACKET_V3; never libpcap's immediate mode, which has an older ring that
 * loses packets), whole packets, and the times of the kernel.  CAP_NET_RAW is enough to open it,
 * and nothing is needed from then on.
 */
#ifndef RH_CAPTURE_PACKET_LIVE_H
#define RH_CAPTURE_PACKET_LIVE_H

#include "common/error.h"
#include "formats/pcap_parser.h"

/* Of the ring.  One large result on a fast connection overran 2 MiB, libpcap's default. */
#define RH_LIVE_BUFFER_DEFAULT_BYTES (UINT64_C(64) << 20)
#define RH_LIVE_BUFFER_MIN_BYTES (UINT64_C(1) << 20)
#define RH_LIVE_BUFFER_MAX_BYTES (UINT64_C(2047) << 20)

struct rh_live_options {
    const char *device; /* "any": all of them */
    const uint16_t *ports;
    size_t port_count;
    const char *filter;    /* pcap-filter(7), to narrow it further; NULL: none */
    uint64_t buffer_bytes; /* 0: the default */
};

struct rh_packet_live;

/* -1: no such interface, no permission, a filter that is none, a link type that is not known.
 * Nothing that *o points to is kept. */
int rh_packet_live_open(struct rh_packet_live **out, const struct rh_live_options *o,
                        struct rh_error *err);
/* NULL is allowed. */
void rh_packet_live_close(struct rh_packet_live *l);

/* 1 and a packet, whose bytes are valid until the next call; 0: none waits; -1: the interface is
 * gone. */
int rh_packet_live_next(struct rh_packet_live *l, struct rh_pcap_packet *packet,
                        struct rh_error *err);
/* Wait until packets are there or a stop is asked for (common/stop.h), for so long at most. */
void rh_packet_live_wait(struct rh_packet_live *l, int64_t timeout_ns);
/* How long a packet may be in the kernel before next() gives it: wait so long at the end. */
int64_t rh_packet_live_delay_ns(void);
/* Packets that the kernel dropped since the last call, as the ring was full. */
uint64_t rh_packet_live_drops(struct rh_packet_live *l);

#endif
