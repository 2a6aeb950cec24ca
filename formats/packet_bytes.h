/*
 * formats/packet_bytes.h
 *
 * Numbers in network byte order, of packets and of messages.  The caller has checked the length.
 */
#ifndef RH_FORMATS_PACKET_BYTES_H
#define RH_FORMATS_PACKET_BYTES_H

#include <assert.h>
#include <stdint.h>
#include <string.h>

#include "common/span.h"

static inline uint16_t rh_be16(const char *at)
{
    uint16_t v;
    memcpy(&v, at, sizeof v);
    return __builtin_bswap16(v);
}

static inline uint32_t rh_be32(const char *at)
{
    uint32_t v;
    memcpy(&v, at, sizeof v);
    return __builtin_bswap32(v);
}

/* Without its first n bytes, which it has. */
static inline struct rh_span rh_span_behind(struct rh_span s, size_t n)
{
    assert(n <= s.len);
    return (struct rh_span){s.data + n, s.len - n};
}

#endif
