/*
 * capture/wire_counts.h
 *
 * What became of packets, datagrams and connections: everything that was dropped or odd is in one
 * of these numbers.
 */
#ifndef RH_CAPTURE_WIRE_COUNTS_H
#define RH_CAPTURE_WIRE_COUNTS_H

#include <stdint.h>

#include "formats/packet.h"

struct rh_wire_counts {
    /* Packets; the kinds add up to them. */
    uint64_t packets;
    uint64_t kinds[RH_PACKET_KIND_COUNT];
    /* Fragments. */
    uint64_t datagrams;            /* put together */
    uint64_t datagrams_incomplete; /* given up: a fragment never came, or there was no room */
    uint64_t fragments_duplicate;
    uint64_t fragments_malformed;
    /* Segments. */
    uint64_t segments;      /* of the server's ports */
    uint64_t other_ports;   /* not of these */
    uint64_t payload_bytes; /* captured, duplicates included */
    uint64_t given_bytes;   /* handed on */
    uint64_t duplicate_bytes;
    uint64_t conflicts; /* duplicates with other bytes; the first ones count */
    uint64_t reordered; /* segments that had to wait for other bytes */
    uint64_t keepalives;
    uint64_t duplicate_syns;
    uint64_t odd_resets;         /* out of the window, ignored */
    uint64_t odd_fins;           /* before bytes that were seen, ignored */
    uint64_t odd_acks;           /* of bytes far beyond what can be in flight, ignored */
    uint64_t resyncs;            /* so much was lost that the numbering began anew */
    uint64_t behind_fin_bytes;   /* dropped */
    uint64_t after_close_bytes;  /* dropped */
    uint64_t before_start_bytes; /* dropped: older than where the connection was joined */
    uint64_t late_bytes;         /* dropped: came after they had been given up as lost */
    uint64_t times_back;         /* packets older than what their connection had been given */
    uint64_t order_conflicts;    /* each side acknowledged what the other sent later */
    /* Gaps. */
    uint64_t gaps;
    uint64_t gap_bytes; /* of the known ones */
    uint64_t gaps_unknown;
    uint64_t cut_bytes;   /* of gap_bytes: cut by the capture's snaplen */
    uint64_t budget_gaps; /* of gaps: for want of memory, maybe not lost */
    /* Connections. */
    uint64_t connections; /* with bytes */
    uint64_t connections_silent;
    uint64_t connections_midway;
    uint64_t connections_reused;
    uint64_t connections_idle; /* closed for being idle or the oldest of too many */
};

#endif
