#include "formats/packet_link.h"

#include "formats/packet_bytes.h"

enum ether_type {
    ETHER_IPV4 = 0x0800,
    ETHER_VLAN = 0x8100,
    ETHER_IPV6 = 0x86dd,
    ETHER_MPLS = 0x8847,
    ETHER_MPLS_MULTICAST = 0x8848,
    ETHER_PPPOE = 0x8864,
    ETHER_QINQ = 0x88a8,
    ETHER_QINQ_OLD = 0x9100,
    ETHER_QINQ_OLDER = 0x9200,
    ETHER_LENGTH_MAX = 0x5dc, /* up to here it is the length of an 802.3 frame */
};

enum ppp_protocol { PPP_IPV4 = 0x0021, PPP_IPV6 = 0x0057 };

enum { TAGS_MAX = 16 };

static enum rh_packet_kind found(struct rh_span rest, struct rh_span *ip)
{
    *ip = rest;
    return RH_PACKET_TCP;
}

static enum rh_packet_kind strip_ppp(struct rh_span rest, struct rh_span *ip)
{
    if (rest.len < 2) {
        return RH_PACKET_CUT;
    }
    /* RFC 1661, 6.5: with protocol field compression one odd byte stands for both. */
    size_t width = rest.data[0] & 1 ? 1 : 2;
    unsigned protocol = width == 1 ? (uint8_t) rest.data[0] : rh_be16(rest.data);
    if (protocol != PPP_IPV4 && protocol != PPP_IPV6) {
        return RH_PACKET_NOT_IP;
    }
    return found(rh_span_behind(rest, width), ip);
}

static enum rh_packet_kind strip_mpls(struct rh_span rest, struct rh_span *ip)
{
    for (int i = 0; i < TAGS_MAX; i++) {
        if (rest.len < 4) {
            return RH_PACKET_CUT;
        }
        bool bottom = rest.data[2] & 1;
        rest = rh_span_behind(rest, 4);
        if (bottom) {
            /* The label stack does not say what it carries; the first nibble does (RFC 4928). */
            unsigned version = rest.len > 0 ? (uint8_t) rest.data[0] >> 4 : 0;
            return version == 4 || version == 6 ? found(rest, ip) : RH_PACKET_NOT_IP;
        }
    }
    return RH_PACKET_MALFORMED;
}

/* An 802.3 frame: only SNAP with an EtherType carries IP (RFC 1042). */
static bool strip_snap(struct rh_span *rest, unsigned *type)
{
    if (rest->len < 8 || memcmp(rest->data, "\xaa\xaa\x03\0\0\0", 6) != 0) {
        return false;
    }
    *type = rh_be16(rest->data + 6);
    *rest = rh_span_behind(*rest, 8);
    return true;
}

/* Behind an EtherType. */
static enum rh_packet_kind strip_type(unsigned type, struct rh_span rest, struct rh_span *ip)
{
    for (int i = 0; i < TAGS_MAX; i++) {
        switch (type) {
        case ETHER_IPV4:
        case ETHER_IPV6:
            return found(rest, ip);
        case ETHER_VLAN:
        case ETHER_QINQ:
        case ETHER_QINQ_OLD:
        case ETHER_QINQ_OLDER:
            if (rest.len < 4) {
                return RH_PACKET_CUT;
            }
            type = rh_be16(rest.data + 2);
            rest = rh_span_behind(rest, 4);
            break;
        case ETHER_MPLS:
        case ETHER_MPLS_MULTICAST:
            return strip_mpls(rest, ip);
        case ETHER_PPPOE:
            return rest.len < 6 ? RH_PACKET_CUT : strip_ppp(rh_span_behind(rest, 6), ip);
        default:
            if (type > ETHER_LENGTH_MAX || !strip_snap(&rest, &type)) {
                return RH_PACKET_NOT_IP;
            }
        }
    }
    return RH_PACKET_MALFORMED;
}

/* A header of `size` bytes with the EtherType at `at`. */
static enum rh_packet_kind strip_typed(struct rh_span frame, size_t size, size_t at,
                                       struct rh_span *ip)
{
    if (frame.len < size) {
        return RH_PACKET_CUT;
    }
    return strip_type(rh_be16(frame.data + at), rh_span_behind(frame, size), ip);
}

/* The address family in the byte order of the host that captured; AF_INET6 is 10, 23, 24, 28 or 30
 * by system. */
static enum rh_packet_kind strip_family(struct rh_span frame, struct rh_span *ip)
{
    if (frame.len < 4) {
        return RH_PACKET_CUT;
    }
    uint32_t family = rh_be32(frame.data);
    if (family > 0xffff) {
        family = __builtin_bswap32(family);
    }
    switch (family) {
    case 2:
    case 10:
    case 23:
    case 24:
    case 28:
    case 30:
        return found(rh_span_behind(frame, 4), ip);
    default:
        return RH_PACKET_NOT_IP;
    }
}

static enum rh_packet_kind strip_ppp_framing(struct rh_span frame, struct rh_span *ip)
{
    if (frame.len >= 2 && memcmp(frame.data, "\xff\x03", 2) == 0) {
        frame = rh_span_behind(frame, 2);
    }
    return strip_ppp(frame, ip);
}

enum rh_packet_kind rh_packet_link_strip(uint32_t link_type, struct rh_span frame,
                                         struct rh_span *ip)
{
    switch (link_type) {
    case RH_LINK_ETHERNET:
        return strip_typed(frame, 14, 12, ip);
    case RH_LINK_SLL:
        return strip_typed(frame, 16, 14, ip);
    case RH_LINK_SLL2:
        return strip_typed(frame, 20, 0, ip);
    case RH_LINK_NULL:
    case RH_LINK_LOOP:
        return strip_family(frame, ip);
    case RH_LINK_RAW:
    case RH_LINK_RAW_BSD:
    case RH_LINK_RAW_OPENBSD:
    case RH_LINK_IPV4:
    case RH_LINK_IPV6:
        return found(frame, ip);
    case RH_LINK_PPP:
    case RH_LINK_PPP_HDLC:
        return strip_ppp_framing(frame, ip);
    default:
        return RH_PACKET_LINK_UNKNOWN;
    }
}
