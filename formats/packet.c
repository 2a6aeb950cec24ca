#include "formats/packet.h"

#include "formats/packet_bytes.h"
#include "formats/packet_link.h"

enum ip_protocol {
    PROTOCOL_HOP_BY_HOP = 0,
    PROTOCOL_TCP = 6,
    PROTOCOL_ROUTING = 43,
    PROTOCOL_FRAGMENT = 44,
    PROTOCOL_AUTHENTICATION = 51,
    PROTOCOL_DESTINATION = 60,
};

enum {
    IPV4_HEADER_BYTES = 20,
    IPV6_HEADER_BYTES = 40,
    TCP_HEADER_BYTES = 20,
    IPV6_FRAGMENT_BYTES = 8,
    OPTION_PAD1 = 0,
    OPTION_JUMBO = 0xc2,
    EXTENSIONS_MAX = 32,
};

/* What is left of a datagram: bytes that are there, and how many more there were. */
struct rest {
    struct rh_span bytes;
    uint64_t cut_bytes;
};

static uint32_t cut_of(const struct rest *rest)
{
    return rest->cut_bytes > UINT32_MAX ? UINT32_MAX : (uint32_t) rest->cut_bytes;
}

static enum rh_packet_kind decode_tcp(struct rest rest, struct rh_packet *out)
{
    const char *at = rest.bytes.data;
    if (rest.bytes.len < TCP_HEADER_BYTES) {
        return rest.cut_bytes ? RH_PACKET_CUT : RH_PACKET_MALFORMED;
    }
    size_t header = (size_t) ((uint8_t) at[12] >> 4) * 4;
    if (header < TCP_HEADER_BYTES) {
        return RH_PACKET_MALFORMED;
    }
    out->tcp = (struct rh_tcp_segment){
        .source_port = rh_be16(at),
        .destination_port = rh_be16(at + 2),
        .sequence = rh_be32(at + 4),
        .acknowledgement = rh_be32(at + 8),
        .flags = (uint8_t) at[13] & (RH_TCP_FIN | RH_TCP_SYN | RH_TCP_RST | RH_TCP_ACK),
        .payload = rh_span(at + rest.bytes.len, 0),
    };
    if (header <= rest.bytes.len) {
        out->tcp.payload = rh_span_behind(rest.bytes, header);
    } else if (header - rest.bytes.len > rest.cut_bytes) {
        return RH_PACKET_MALFORMED;
    } else {
        rest.cut_bytes -= header - rest.bytes.len; /* the options are cut, and all behind them */
    }
    out->tcp.cut_bytes = cut_of(&rest);
    return RH_PACKET_TCP;
}

/* Of a header that is cut itself nothing is known. */
static enum rh_packet_kind too_short(const struct rest *rest)
{
    return rest->cut_bytes ? RH_PACKET_CUT : RH_PACKET_MALFORMED;
}

/* Bytes of an extension header whose first two are there. */
static size_t extension_bytes(uint8_t protocol, const char *at)
{
    size_t units = (uint8_t) at[1];
    return protocol == PROTOCOL_AUTHENTICATION ? (units + 2) * 4 : (units + 1) * 8;
}

static enum rh_packet_kind decode_fragment6(struct rest rest, struct rh_packet *out)
{
    unsigned place = rh_be16(rest.bytes.data + 2);
    out->fragment = (struct rh_ip_fragment){
        .id = rh_be32(rest.bytes.data + 4),
        .offset = place & 0xfff8,
        .protocol = (uint8_t) rest.bytes.data[0],
        .more = place & 1,
        .bytes = rh_span_behind(rest.bytes, IPV6_FRAGMENT_BYTES),
        .cut_bytes = cut_of(&rest),
    };
    return RH_PACKET_FRAGMENT;
}

enum rh_packet_kind rh_packet_decode_payload(uint8_t protocol, struct rh_span payload,
                                             uint64_t cut_bytes, struct rh_packet *out)
{
    struct rest rest = {payload, cut_bytes};
    for (int i = 0; i < EXTENSIONS_MAX; i++) {
        size_t size;
        switch (protocol) {
        case PROTOCOL_TCP:
            return decode_tcp(rest, out);
        case PROTOCOL_FRAGMENT:
            if (rest.bytes.len < IPV6_FRAGMENT_BYTES) {
                return too_short(&rest);
            }
            if ((rh_be16(rest.bytes.data + 2) & 0xfff9) != 0) {
                return decode_fragment6(rest, out);
            }
            size = IPV6_FRAGMENT_BYTES; /* an atomic fragment, RFC 6946 */
            break;
        case PROTOCOL_HOP_BY_HOP:
        case PROTOCOL_ROUTING:
        case PROTOCOL_DESTINATION:
        case PROTOCOL_AUTHENTICATION:
            if (rest.bytes.len < 2) {
                return too_short(&rest);
            }
            size = extension_bytes(protocol, rest.bytes.data);
            break;
        default:
            return RH_PACKET_NOT_TCP;
        }
        if (rest.bytes.len < size) {
            return too_short(&rest);
        }
        protocol = (uint8_t) rest.bytes.data[0];
        rest.bytes = rh_span_behind(rest.bytes, size);
    }
    return RH_PACKET_MALFORMED;
}

/* Bytes behind a header of a datagram whose header says `length` for them; 0: it does not say.
 * Frames may be longer than that (padding) and may be captured shorter. */
static struct rest rest_of(struct rh_span bytes, uint64_t length, uint64_t uncaptured)
{
    if (length == 0) {
        return (struct rest){bytes, uncaptured};
    }
    if (length > bytes.len) {
        return (struct rest){bytes, length - bytes.len};
    }
    return (struct rest){rh_span(bytes.data, (size_t) length), 0};
}

static enum rh_packet_kind decode_ipv4(struct rh_span ip, uint64_t uncaptured,
                                       struct rh_packet *out)
{
    if (ip.len < IPV4_HEADER_BYTES) {
        return RH_PACKET_CUT;
    }
    const char *at = ip.data;
    size_t header = (size_t) (at[0] & 0xf) * 4;
    size_t total = rh_be16(at + 2);
    if (header < IPV4_HEADER_BYTES || (total != 0 && total < header)) {
        return RH_PACKET_MALFORMED;
    }
    if (ip.len < header) {
        return RH_PACKET_CUT;
    }
    out->ip = (struct rh_ip_pair){.version = 4};
    memcpy(out->ip.source, at + 12, 4);
    memcpy(out->ip.destination, at + 16, 4);
    struct rest rest = {rh_span(at + header, 0), 0};
    if (total != header) {
        rest = rest_of(rh_span_behind(ip, header), total ? total - header : 0, uncaptured);
    }
    unsigned place = rh_be16(at + 6);
    if ((place & 0x3fff) == 0) {
        return rh_packet_decode_payload((uint8_t) at[9], rest.bytes, rest.cut_bytes, out);
    }
    out->fragment = (struct rh_ip_fragment){
        .id = rh_be16(at + 4),
        .offset = (place & 0x1fff) * 8,
        .protocol = (uint8_t) at[9],
        .more = place & 0x2000,
        .bytes = rest.bytes,
        .cut_bytes = cut_of(&rest),
    };
    return RH_PACKET_FRAGMENT;
}

/* The length in a jumbo payload option of the hop-by-hop header; 0: none. */
static uint32_t jumbo_length(struct rh_span behind)
{
    if (behind.len < 2) {
        return 0;
    }
    size_t size = extension_bytes(PROTOCOL_HOP_BY_HOP, behind.data);
    size_t end = size < behind.len ? size : behind.len;
    for (size_t at = 2; at < end;) {
        if (behind.data[at] == OPTION_PAD1) {
            at++;
            continue;
        }
        if (end - at < 2) {
            break;
        }
        size_t len = (uint8_t) behind.data[at + 1];
        if (len > end - at - 2) {
            break;
        }
        if ((uint8_t) behind.data[at] == OPTION_JUMBO && len == 4) {
            return rh_be32(behind.data + at + 2);
        }
        at += 2 + len;
    }
    return 0;
}

static enum rh_packet_kind decode_ipv6(struct rh_span ip, uint64_t uncaptured,
                                       struct rh_packet *out)
{
    if (ip.len < IPV6_HEADER_BYTES) {
        return RH_PACKET_CUT;
    }
    out->ip.version = 6;
    memcpy(out->ip.source, ip.data + 8, 16);
    memcpy(out->ip.destination, ip.data + 24, 16);
    uint8_t protocol = (uint8_t) ip.data[6];
    struct rh_span behind = rh_span_behind(ip, IPV6_HEADER_BYTES);
    uint64_t length = rh_be16(ip.data + 4);
    if (length == 0 && protocol == PROTOCOL_HOP_BY_HOP) {
        length = jumbo_length(behind);
    }
    struct rest rest = rest_of(behind, length, uncaptured);
    return rh_packet_decode_payload(protocol, rest.bytes, rest.cut_bytes, out);
}

enum rh_packet_kind rh_packet_decode(uint32_t link_type, struct rh_span frame,
                                     uint32_t original_bytes, struct rh_packet *out)
{
    struct rh_span ip;
    enum rh_packet_kind kind = rh_packet_link_strip(link_type, frame, &ip);
    if (kind != RH_PACKET_TCP) {
        return kind;
    }
    if (ip.len == 0) {
        return RH_PACKET_CUT;
    }
    uint64_t uncaptured = original_bytes > frame.len ? original_bytes - frame.len : 0;
    switch ((uint8_t) ip.data[0] >> 4) {
    case 4:
        return decode_ipv4(ip, uncaptured, out);
    case 6:
        return decode_ipv6(ip, uncaptured, out);
    default:
        return RH_PACKET_MALFORMED;
    }
}
