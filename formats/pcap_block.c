#include "formats/pcap_block.h"

#include <byteswap.h>
#include <string.h>

#include "common/alloc.h"

enum block_type {
    BLOCK_INTERFACE = 1,
    BLOCK_PACKET = 2, /* obsolete */
    BLOCK_SIMPLE = 3,
    BLOCK_ENHANCED = 6,
    BLOCK_SECTION = 0x0a0d0d0a,
};

enum { OPTION_END = 0, OPTION_RESOLUTION = 9, OPTION_OFFSET = 14 };

/* Type and length before the body, the length again behind it. */
enum { BLOCK_FRAME_BYTES = 12, SECTION_BLOCK_MIN = 28 };

static const uint32_t byte_order_magic = 0x1a2b3c4d;

/* A section tells its byte order itself, whatever the one before had. */
static int section_order(struct rh_pcap_parser *p, const char *data, struct rh_error *err)
{
    p->swapped = false;
    if (rh_pcap_u32(p, data + 8) != byte_order_magic) {
        p->swapped = true;
        if (rh_pcap_u32(p, data + 8) != byte_order_magic) {
            return rh_error_set(err, RH_ERR_FORMAT,
                                "a pcapng section of no known byte order; the "
                                "file is damaged here");
        }
    }
    return 0;
}

/* Ticks per second from if_tsresol: 10^-n, or 2^-n with the upper bit; 0 when it fits no number. */
static uint64_t ticks_of(uint8_t resolution)
{
    unsigned n = resolution & 0x7f;
    if (resolution & 0x80) {
        return n <= 63 ? UINT64_C(1) << n : 0;
    }
    uint64_t ticks = 1;
    for (unsigned i = 0; i < n; i++) {
        if (ticks > UINT64_MAX / 10) {
            return 0;
        }
        ticks *= 10;
    }
    return ticks;
}

static void interface_option(const struct rh_pcap_parser *p, struct rh_pcap_interface *face,
                             uint16_t code, const char *value, size_t len)
{
    if (code == OPTION_RESOLUTION && len >= 1) {
        face->ticks_per_second = ticks_of((uint8_t) value[0]);
    } else if (code == OPTION_OFFSET && len >= 8) {
        uint64_t offset;
        memcpy(&offset, value, sizeof offset);
        face->offset_s = (int64_t) (p->swapped ? bswap_64(offset) : offset);
    }
}

/* Also one that is damaged is kept: packets name their interface by its place in the list. */
static int interface_add(struct rh_pcap_parser *p, const struct rh_pcap_interface *face)
{
    if (p->interface_count >= RH_PCAP_INTERFACES_MAX) {
        return -1;
    }
    RH_GROW(p->interfaces, p->interface_count, p->interface_cap);
    p->interfaces[p->interface_count++] = *face;
    return face->ticks_per_second == 0 ? -1 : 0;
}

static int interface_block(struct rh_pcap_parser *p, const char *body, size_t n)
{
    struct rh_pcap_interface face = {0};
    if (n < 8) {
        return interface_add(p, &face);
    }
    face.ticks_per_second = 1000000;
    face.snaplen = rh_pcap_u32(p, body + 4);
    face.link_type = rh_pcap_u16(p, body);
    for (size_t at = 8; n - at >= 4;) {
        uint16_t code = rh_pcap_u16(p, body + at);
        size_t len = rh_pcap_u16(p, body + at + 2);
        size_t padded = (len + 3) & ~(size_t) 3;
        at += 4;
        if (code == OPTION_END) {
            break;
        }
        if (len > n - at) {
            face.ticks_per_second = 0;
            break;
        }
        interface_option(p, &face, code, body + at, len);
        at += padded > n - at ? n - at : padded;
    }
    return interface_add(p, &face);
}

static int set_time(const struct rh_pcap_interface *face, uint64_t ticks,
                    struct rh_pcap_packet *packet)
{
    uint64_t seconds = ticks / face->ticks_per_second;
    unsigned __int128 rest = ticks % face->ticks_per_second;
    int64_t fraction = (int64_t) (rest * 1000000000 / face->ticks_per_second);
    int64_t whole;
    if (seconds > INT64_MAX || __builtin_add_overflow((int64_t) seconds, face->offset_s, &whole) ||
        __builtin_mul_overflow(whole, 1000000000, &whole) ||
        __builtin_add_overflow(whole, fraction, &packet->time_ns) ||
        packet->time_ns > RH_PCAP_TIME_MAX_NS || packet->time_ns < -RH_PCAP_TIME_MAX_NS) {
        return -1;
    }
    return 0;
}

static const struct rh_pcap_interface *interface_of(const struct rh_pcap_parser *p, uint32_t number)
{
    if (number >= p->interface_count || p->interfaces[number].ticks_per_second == 0) {
        return NULL;
    }
    return &p->interfaces[number];
}

/* Enhanced and obsolete packet blocks differ in how they name the interface. */
static int packet_block(struct rh_pcap_parser *p, uint32_t type, const char *body, size_t n,
                        struct rh_pcap_packet *packet)
{
    if (n < 20) {
        return -1;
    }
    const struct rh_pcap_interface *face =
        interface_of(p, type == BLOCK_ENHANCED ? rh_pcap_u32(p, body) : rh_pcap_u16(p, body));
    uint64_t ticks = (uint64_t) rh_pcap_u32(p, body + 4) << 32 | rh_pcap_u32(p, body + 8);
    uint32_t captured = rh_pcap_u32(p, body + 12);
    if (!face || captured > n - 20 || set_time(face, ticks, packet) != 0) {
        return -1;
    }
    packet->link_type = face->link_type;
    packet->original_bytes = rh_pcap_u32(p, body + 16);
    packet->bytes = rh_span(body + 20, captured);
    return 0;
}

static int simple_block(struct rh_pcap_parser *p, const char *body, size_t n,
                        struct rh_pcap_packet *packet)
{
    const struct rh_pcap_interface *face = interface_of(p, 0);
    if (n < 4 || !face) {
        return -1;
    }
    size_t captured = rh_pcap_u32(p, body);
    packet->original_bytes = (uint32_t) captured;
    if (face->snaplen > 0 && captured > face->snaplen) {
        captured = face->snaplen;
    }
    if (captured > n - 4) {
        return -1;
    }
    packet->time_ns = p->last_ns;
    packet->link_type = face->link_type;
    packet->bytes = rh_span(body + 4, captured);
    p->counts.timeless++;
    return 0;
}

static int block_body(struct rh_pcap_parser *p, uint32_t type, const char *body, size_t n,
                      struct rh_pcap_packet *packet)
{
    switch (type) {
    case BLOCK_SECTION:
        p->interface_count = 0;
        return rh_pcap_u16(p, body + 4) == 1 ? 0 : -1;
    case BLOCK_INTERFACE:
        return interface_block(p, body, n);
    case BLOCK_ENHANCED:
    case BLOCK_PACKET:
        return packet_block(p, type, body, n, packet);
    case BLOCK_SIMPLE:
        return simple_block(p, body, n, packet);
    default:
        p->counts.other_blocks++;
        return 0;
    }
}

ptrdiff_t rh_pcap_block_next(struct rh_pcap_parser *p, const char *data, size_t n,
                             struct rh_pcap_packet *packet, struct rh_error *err)
{
    if (n < BLOCK_FRAME_BYTES) {
        return 0;
    }
    uint32_t type = rh_pcap_u32(p, data);
    /* A palindrome, so that it is known before the byte order is. */
    if (type == BLOCK_SECTION && section_order(p, data, err) != 0) {
        return -1;
    }
    uint32_t length = rh_pcap_u32(p, data + 4);
    uint32_t least = type == BLOCK_SECTION ? SECTION_BLOCK_MIN : BLOCK_FRAME_BYTES;
    if (length < least || length % 4 != 0 || length > RH_PCAP_RECORD_MAX) {
        return rh_error_set(err, RH_ERR_FORMAT,
                            "a pcapng block of %u bytes; the file is damaged here and the next "
                            "block cannot be found",
                            length);
    }
    if (length > n) {
        return 0;
    }
    int result = block_body(p, type, data + 8, length - BLOCK_FRAME_BYTES, packet);
    if (result != 0 || rh_pcap_u32(p, data + length - 4) != length) {
        packet->bytes = RH_SPAN_NONE;
        p->counts.damaged_blocks++;
    } else if (packet->bytes.data) {
        p->last_ns = packet->time_ns;
        p->counts.packets++;
    }
    return (ptrdiff_t) length;
}
