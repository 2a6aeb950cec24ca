/*
 * formats/packet.h
 *
 * One captured frame down to its TCP segment or IP fragment.  Link layers: Ethernet with any tags
 * (802.1Q, 802.1ad, MPLS, PPPoE, SNAP), Linux cooked v1 and v2, BSD loopback, raw IP, PPP.  IPv4
 * with options (RFC 791), IPv6 with extension headers and jumbograms (RFC 8200, 2675), TCP (RFC
 * 9293).  Checksums are not looked at: a frame that was captured where it was sent does not have
 * them yet.
 */
#ifndef RH_FORMATS_PACKET_H
#define RH_FORMATS_PACKET_H

#include <stdbool.h>
#include <stdint.h>

#include "common/span.h"

enum rh_packet_kind {
    RH_PACKET_TCP,
    RH_PACKET_FRAGMENT,
    /* Of no use here, by reason: */
    RH_PACKET_LINK_UNKNOWN, /* a link type that is not known */
    RH_PACKET_NOT_IP,       /* ARP, LLDP and the like */
    RH_PACKET_NOT_TCP,      /* UDP, tunnels and the like */
    RH_PACKET_CUT,          /* captured too short for its headers */
    RH_PACKET_MALFORMED,    /* headers that contradict themselves */
    RH_PACKET_KIND_COUNT,
};

enum rh_tcp_flag { RH_TCP_FIN = 1, RH_TCP_SYN = 2, RH_TCP_RST = 4, RH_TCP_ACK = 16 };

struct rh_ip_pair {
    uint8_t source[16]; /* an IPv4 address in the first four bytes, zeros behind it */
    uint8_t destination[16];
    uint8_t version; /* 4 or 6 */
};

struct rh_tcp_segment {
    uint16_t source_port;
    uint16_t destination_port;
    uint32_t sequence;
    uint32_t acknowledgement; /* with RH_TCP_ACK */
    uint8_t flags;
    struct rh_span payload;
    uint32_t cut_bytes; /* of the payload, behind it: sent but not captured */
};

struct rh_ip_fragment {
    uint32_t id;
    uint32_t offset; /* of the bytes in the datagram */
    uint8_t protocol;
    bool more;
    struct rh_span bytes;
    uint32_t cut_bytes; /* behind them: sent but not captured */
};

struct rh_packet {
    struct rh_ip_pair ip;
    union {
        struct rh_tcp_segment tcp;
        struct rh_ip_fragment fragment;
    };
};

/* original_bytes is believed only where the IP header has no length (segmentation offload, BIG
 * TCP).  Spans of *out lie in frame. */
enum rh_packet_kind rh_packet_decode(uint32_t link_type, struct rh_span frame,
                                     uint32_t original_bytes, struct rh_packet *out);

/* What is behind an IP header: the payload of a datagram that was put together; `protocol` is the
 * first header's, cut_bytes is how much of it was not captured.  out->ip is left as it is. */
enum rh_packet_kind rh_packet_decode_payload(uint8_t protocol, struct rh_span payload,
                                             uint64_t cut_bytes, struct rh_packet *out);

#endif
