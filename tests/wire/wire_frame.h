/*
 * tests/wire/wire_frame.h
 *
 * A segment as frames of a link: addresses 192.0.2.1 to .2 or 2001:db8::1 to ::2, client first.
 */
#ifndef RH_TESTS_WIRE_WIRE_FRAME_H
#define RH_TESTS_WIRE_WIRE_FRAME_H

#include "common/buf.h"
#include "formats/packet.h"
#include "tests/wire/wire_talk.h"

struct wire_link {
    const char *name;
    uint32_t type; /* LINKTYPE_ number */
    uint32_t tags; /* VLAN tags, of Ethernet and cooked frames */
    bool ipv6;
    bool extended;     /* IPv4 options; IPv6 hop-by-hop and destination headers */
    bool no_length;    /* the IP header has 0 for its length */
    uint32_t padding;  /* bytes behind the datagram */
    uint32_t fragment; /* bytes of payload a fragment, a multiple of 8; 0: whole */
};

/* Ethernet first, then every other kind that is known, with tags, extensions, fragments. */
enum { WIRE_LINK_COUNT = 18 };
extern const struct wire_link wire_links[WIRE_LINK_COUNT];

/* Frames are handed on one by one; `original` is their length on the wire. */
typedef void wire_frame_sink(void *context, struct rh_span frame, int64_t time_ns);

void wire_frame_make(const struct wire_link *link, enum rh_tcp_side side,
                     const struct rh_tcp_segment *s, int64_t time_ns, wire_frame_sink *sink,
                     void *context);

#endif
