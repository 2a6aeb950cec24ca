/*
 * formats/packet_link.h
 *
 * Link layers: where in a frame the IP header is.
 */
#ifndef RH_FORMATS_PACKET_LINK_H
#define RH_FORMATS_PACKET_LINK_H

#include <stdint.h>

#include "formats/packet.h"

/* LINKTYPE_ numbers (https://www.tcpdump.org/linktypes.html) and the DLT_ numbers of old files. */
enum rh_link_type {
    RH_LINK_NULL = 0,
    RH_LINK_ETHERNET = 1,
    RH_LINK_PPP = 9,
    RH_LINK_RAW_BSD = 12,
    RH_LINK_RAW_OPENBSD = 14,
    RH_LINK_PPP_HDLC = 50,
    RH_LINK_RAW = 101,
    RH_LINK_LOOP = 108,
    RH_LINK_SLL = 113,
    RH_LINK_IPV4 = 228,
    RH_LINK_IPV6 = 229,
    RH_LINK_SLL2 = 276,
};

/* RH_PACKET_TCP and *ip: it may be TCP, look on behind the link header.  Another kind: the reason
 * why not. */
enum rh_packet_kind rh_packet_link_strip(uint32_t link_type, struct rh_span frame,
                                         struct rh_span *ip);

#endif
