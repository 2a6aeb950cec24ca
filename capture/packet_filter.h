/*
 * capture/packet_filter.h
 *
 * Which packets are looked at, in the language of pcap-filter(7): the expression that the kernel
 * gets for a live capture, and the same language over the packets of files.
 */
#ifndef RH_CAPTURE_PACKET_FILTER_H
#define RH_CAPTURE_PACKET_FILTER_H

#include "common/buf.h"
#include "common/error.h"
#include "formats/pcap_parser.h"

/*
 * Append the expression of a live capture: TCP segments of the server's ports, and what may hold
 * one but does not show its ports: later fragments, IPv6 with extension headers.  On Ethernet
 * packets with a VLAN tag too.  `narrowed_by` is an expression of the user, NULL for none: both
 * must be true.
 */
void rh_packet_filter_put(struct rh_buf *out, const uint16_t *ports, size_t port_count,
                          uint32_t link_type, const char *narrowed_by);

/* The DLT_ number of a link type: what libpcap calls it on this system. */
int rh_packet_filter_dlt(uint32_t link_type);

struct rh_packet_filter;

/* An expression for packets of files; the text must live as long.  -1: it is none. */
int rh_packet_filter_new(struct rh_packet_filter **out, const char *text, struct rh_error *err);
void rh_packet_filter_free(struct rh_packet_filter *f);
/* 1: the packet is wanted; 0: not; -1: the expression makes no sense for its link type, as "vlan"
 * on anything but Ethernet. */
int rh_packet_filter_match(struct rh_packet_filter *f, const struct rh_pcap_packet *packet,
                           struct rh_error *err);

#endif
