#include "tests/wire/wire_frame.h"

#include "formats/packet_link.h"

enum { FRAME_MAX = 1 << 20, PROTOCOL_TCP = 6, PROTOCOL_DESTINATION = 60 };

const struct wire_link wire_links[WIRE_LINK_COUNT] = {
    {"Ethernet", .type = RH_LINK_ETHERNET},
    {"Ethernet with padding", .type = RH_LINK_ETHERNET, .padding = 6},
    {"VLAN", .type = RH_LINK_ETHERNET, .tags = 1},
    {"QinQ, IPv6", .type = RH_LINK_ETHERNET, .tags = 2, .ipv6 = true},
    {"three tags, IPv4 options", .type = RH_LINK_ETHERNET, .tags = 3, .extended = true},
    {"cooked", .type = RH_LINK_SLL},
    {"cooked 2 with a tag, IPv6", .type = RH_LINK_SLL2, .tags = 1, .ipv6 = true},
    {"loopback", .type = RH_LINK_NULL},
    {"loopback, IPv6", .type = RH_LINK_NULL, .ipv6 = true},
    {"OpenBSD's loopback, IPv6", .type = RH_LINK_LOOP, .ipv6 = true},
    {"raw", .type = RH_LINK_RAW},
    {"raw, IPv6 extension headers", .type = RH_LINK_RAW, .ipv6 = true, .extended = true},
    {"IPv4", .type = RH_LINK_IPV4},
    {"IPv6", .type = RH_LINK_IPV6, .ipv6 = true},
    {"no length in the header", .type = RH_LINK_ETHERNET, .no_length = true},
    {"no length, IPv6", .type = RH_LINK_ETHERNET, .ipv6 = true, .no_length = true},
    {"IPv4 fragments", .type = RH_LINK_ETHERNET, .fragment = 104},
    {"IPv6 fragments", .type = RH_LINK_ETHERNET, .ipv6 = true, .fragment = 104, .extended = true},
};

static void add_repeated(struct rh_buf *b, uint8_t byte, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        (void) rh_buf_add_byte(b, byte);
    }
}

/* 12 bytes of options, so that the payload does not start where it would without. */
static void add_tcp(struct rh_buf *b, const struct rh_tcp_segment *s)
{
    rh_buf_add_be16(b, s->source_port);
    rh_buf_add_be16(b, s->destination_port);
    rh_buf_add_be32(b, s->sequence);
    rh_buf_add_be32(b, s->flags & RH_TCP_ACK ? s->acknowledgement : 0);
    rh_buf_add_byte(b, 8 << 4);
    rh_buf_add_byte(b, s->flags);
    rh_buf_add_be16(b, 502);
    rh_buf_add_be32(b, 0xbad00000); /* a wrong checksum, as offload leaves it */
    add_repeated(b, 1, 12);
    rh_buf_add_span(b, s->payload);
}

static void add_link(struct rh_buf *b, const struct wire_link *link)
{
    uint16_t type = link->tags ? 0x88a8 : link->ipv6 ? 0x86dd : 0x0800;
    switch (link->type) {
    case RH_LINK_ETHERNET:
        add_repeated(b, 2, 12);
        rh_buf_add_be16(b, type);
        break;
    case RH_LINK_SLL:
        add_repeated(b, 0, 14);
        rh_buf_add_be16(b, type);
        break;
    case RH_LINK_SLL2:
        rh_buf_add_be16(b, type);
        add_repeated(b, 0, 18);
        break;
    case RH_LINK_NULL:
        rh_buf_add_be32(b, link->ipv6 ? 0x1e000000 : 0x02000000);
        break;
    case RH_LINK_LOOP:
        rh_buf_add_be32(b, link->ipv6 ? 24 : 2);
        break;
    default:
        break;
    }
    for (uint32_t i = 1; i <= link->tags; i++) {
        rh_buf_add_be16(b, (uint16_t) (100 + i));
        rh_buf_add_be16(b, i < link->tags ? 0x8100 : link->ipv6 ? 0x86dd : 0x0800);
    }
}

/* Which part of the datagram's payload a frame carries. */
struct part {
    uint32_t id;
    uint32_t offset;
    bool more;
    struct rh_span bytes;
};

static void add_ipv4(struct rh_buf *b, const struct wire_link *link, enum rh_tcp_side side,
                     const struct part *p)
{
    size_t options = link->extended ? 8 : 0;
    size_t total = 20 + options + p->bytes.len;
    rh_buf_add_byte(b, (uint8_t) (0x45 + options / 4));
    rh_buf_add_byte(b, 0);
    rh_buf_add_be16(b, link->no_length || total > 65535 ? 0 : (uint16_t) total);
    rh_buf_add_be16(b, (uint16_t) p->id);
    rh_buf_add_be16(b, (uint16_t) (p->offset / 8 | (p->more ? 0x2000 : 0)));
    rh_buf_add_byte(b, 64);
    rh_buf_add_byte(b, PROTOCOL_TCP);
    rh_buf_add_be16(b, 0);
    rh_buf_add_be32(b, side == RH_TCP_CLIENT ? 0xc0000201 : 0xc0000202);
    rh_buf_add_be32(b, side == RH_TCP_CLIENT ? 0xc0000202 : 0xc0000201);
    add_repeated(b, 1, options);
    rh_buf_add_span(b, p->bytes);
}

static void add_address6(struct rh_buf *b, bool client)
{
    rh_buf_add_be32(b, 0x20010db8);
    add_repeated(b, 0, 11);
    rh_buf_add_byte(b, client ? 1 : 2);
}

static void add_extension(struct rh_buf *b, uint8_t next)
{
    rh_buf_add_byte(b, next);
    rh_buf_add_byte(b, 0);
    rh_buf_add_be16(b, 0x0104); /* PadN */
    rh_buf_add_be32(b, 0);
}

static void add_ipv6(struct rh_buf *b, const struct wire_link *link, enum rh_tcp_side side,
                     const struct part *p)
{
    bool fragmented = link->fragment > 0;
    uint8_t last = PROTOCOL_TCP;
    uint8_t behind = fragmented ? 44 : link->extended ? PROTOCOL_DESTINATION : last;
    size_t length = p->bytes.len + (link->extended ? 8 : 0) + (fragmented ? 8 : 0) +
                    (link->extended && !fragmented ? 8 : 0);
    rh_buf_add_be32(b, 0x60000000);
    rh_buf_add_be16(b, link->no_length || length > 65535 ? 0 : (uint16_t) length);
    rh_buf_add_byte(b, link->extended ? 0 : behind);
    rh_buf_add_byte(b, 64);
    add_address6(b, side == RH_TCP_CLIENT);
    add_address6(b, side != RH_TCP_CLIENT);
    if (link->extended) {
        add_extension(b, behind);
    }
    if (fragmented) {
        rh_buf_add_be16(b, (uint16_t) (last << 8));
        rh_buf_add_be16(b, (uint16_t) (p->offset | p->more));
        rh_buf_add_be32(b, p->id);
    } else if (link->extended) {
        add_extension(b, last);
    }
    rh_buf_add_span(b, p->bytes);
}

void wire_frame_make(const struct wire_link *link, enum rh_tcp_side side,
                     const struct rh_tcp_segment *s, int64_t time_ns, wire_frame_sink *sink,
                     void *context)
{
    static uint32_t id;
    struct rh_buf tcp;
    struct rh_buf frame;
    rh_buf_init(&tcp, FRAME_MAX);
    rh_buf_init(&frame, FRAME_MAX);
    add_tcp(&tcp, s);
    id++;
    bool whole = link->fragment == 0 || tcp.len > 60000;
    struct wire_link used = *link;
    used.fragment = whole ? 0 : link->fragment;
    size_t step = whole ? tcp.len : link->fragment;
    for (size_t at = 0; at < tcp.len; at += step) {
        size_t n = tcp.len - at < step ? tcp.len - at : step;
        struct part part = {id, (uint32_t) at, at + n < tcp.len, rh_span(tcp.data + at, n)};
        rh_buf_clear(&frame);
        add_link(&frame, &used);
        (link->ipv6 ? add_ipv6 : add_ipv4)(&frame, &used, side, &part);
        add_repeated(&frame, 0xee, used.no_length ? 0 : link->padding);
        sink(context, rh_buf_span(&frame), time_ns);
    }
    rh_buf_release(&tcp);
    rh_buf_release(&frame);
}
