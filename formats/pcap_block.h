/*
 * formats/pcap_block.h
 *
 * The blocks of pcapng, for pcap_parser.c alone.
 */
#ifndef RH_FORMATS_PCAP_BLOCK_H
#define RH_FORMATS_PCAP_BLOCK_H

#include "formats/pcap_parser.h"

/* Numbers as the file has them, in our byte order. */
uint16_t rh_pcap_u16(const struct rh_pcap_parser *p, const char *at);
uint32_t rh_pcap_u32(const struct rh_pcap_parser *p, const char *at);

/* As rh_pcap_next(), for a file that is known to be pcapng. */
ptrdiff_t rh_pcap_block_next(struct rh_pcap_parser *p, const char *data, size_t n,
                             struct rh_pcap_packet *packet, struct rh_error *err);

#endif
