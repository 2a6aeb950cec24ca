/*
 * capture/ip_fragments.h
 *
 * Fragments of IPv4 and IPv6 to datagrams.  Of bytes that come twice the first copy counts. Bounded
 * in datagrams, bytes and time; what is given up is counted, and TCP sees it as a gap.
 */
#ifndef RH_CAPTURE_IP_FRAGMENTS_H
#define RH_CAPTURE_IP_FRAGMENTS_H

#include "capture/wire_counts.h"

struct rh_ip_fragments;

/* counts must live as long. */
struct rh_ip_fragments *rh_ip_fragments_new(struct rh_wire_counts *counts);
void rh_ip_fragments_free(struct rh_ip_fragments *f);

/* packet holds a fragment.  RH_PACKET_FRAGMENT while its datagram is not whole; else what the
 * datagram holds, in *packet, with bytes that are valid until the next call. */
enum rh_packet_kind rh_ip_fragments_add(struct rh_ip_fragments *f, struct rh_packet *packet,
                                        int64_t time_ns);

#endif
