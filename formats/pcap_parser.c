#include "formats/pcap_parser.h"

#include <byteswap.h>
#include <string.h>

#include "common/alloc.h"
#include "formats/pcap_block.h"

enum { FILE_HEADER_BYTES = 24, RECORD_HEADER_BYTES = 16, LONG_RECORD_HEADER_BYTES = 24 };

static const uint32_t magic_us = 0xa1b2c3d4;
static const uint32_t magic_ns = 0xa1b23c4d;
static const uint32_t magic_long = 0xa1b2cd34;
static const uint32_t magic_section = 0x0a0d0d0a;

void rh_pcap_parser_init(struct rh_pcap_parser *p)
{
    *p = (struct rh_pcap_parser){0};
}

void rh_pcap_parser_release(struct rh_pcap_parser *p)
{
    rh_free(p->interfaces);
    rh_pcap_parser_init(p);
}

void rh_pcap_parser_start(struct rh_pcap_parser *p)
{
    p->kind = RH_PCAP_START;
    p->interface_count = 0;
}

uint16_t rh_pcap_u16(const struct rh_pcap_parser *p, const char *at)
{
    uint16_t v;
    memcpy(&v, at, sizeof v);
    return p->swapped ? bswap_16(v) : v;
}

uint32_t rh_pcap_u32(const struct rh_pcap_parser *p, const char *at)
{
    uint32_t v;
    memcpy(&v, at, sizeof v);
    return p->swapped ? bswap_32(v) : v;
}

static bool is_classic(uint32_t magic)
{
    return magic == magic_us || magic == magic_ns || magic == magic_long;
}

/* The file header. */
static ptrdiff_t classic_start(struct rh_pcap_parser *p, const char *data, size_t n,
                               struct rh_error *err)
{
    if (n < FILE_HEADER_BYTES) {
        return 0;
    }
    uint32_t magic = rh_pcap_u32(p, data);
    unsigned major = rh_pcap_u16(p, data + 4);
    if (major != 2) {
        return rh_error_set(err, RH_ERR_FORMAT, "pcap of version %u.%u; only version 2 can be read",
                            major, (unsigned) rh_pcap_u16(p, data + 6));
    }
    p->kind = RH_PCAP_CLASSIC;
    p->minor_version = rh_pcap_u16(p, data + 6);
    p->nanoseconds = magic == magic_ns;
    p->long_headers = magic == magic_long;
    /* The upper bits tell of a frame check sequence, which the IP length cuts off anyway. */
    p->link_type = rh_pcap_u32(p, data + 20) & 0xffff;
    return FILE_HEADER_BYTES;
}

static ptrdiff_t start(struct rh_pcap_parser *p, const char *data, size_t n,
                       struct rh_pcap_packet *packet, struct rh_error *err)
{
    if (n < 4) {
        return 0;
    }
    for (int turn = 0; turn < 2; turn++) {
        p->swapped = turn == 1;
        uint32_t magic = rh_pcap_u32(p, data);
        if (is_classic(magic)) {
            return classic_start(p, data, n, err);
        }
        if (magic == magic_section) {
            p->kind = RH_PCAP_NG;
            return rh_pcap_block_next(p, data, n, packet, err);
        }
    }
    return rh_error_set(err, RH_ERR_FORMAT,
                        "neither pcap nor pcapng (it begins with %02x %02x %02x %02x); write it "
                        "with \"tcpdump -w\" or convert it with editcap",
                        data[0] & 0xffU, data[1] & 0xffU, data[2] & 0xffU, data[3] & 0xffU);
}

static ptrdiff_t classic_next(struct rh_pcap_parser *p, const char *data, size_t n,
                              struct rh_pcap_packet *packet, struct rh_error *err)
{
    size_t header = p->long_headers ? LONG_RECORD_HEADER_BYTES : RECORD_HEADER_BYTES;
    if (n < header) {
        return 0;
    }
    uint32_t captured = rh_pcap_u32(p, data + 8);
    uint32_t original = rh_pcap_u32(p, data + 12);
    /* Before 2.3 the two lengths stood the other way round, and some writers of 2.3 kept that
     * (pcap(3), sf-pcap.c of libpcap 1.10). */
    if (p->minor_version < 3 || (p->minor_version == 3 && captured > original)) {
        uint32_t other = captured;
        captured = original;
        original = other;
    }
    if (captured > RH_PCAP_RECORD_MAX) {
        return rh_error_set(err, RH_ERR_FORMAT,
                            "a packet of %u bytes; the file is damaged here and pcap has no way "
                            "to find the next packet",
                            captured);
    }
    if (captured > n - header) {
        return 0;
    }
    int64_t fraction = rh_pcap_u32(p, data + 4);
    packet->time_ns =
        (int64_t) rh_pcap_u32(p, data) * 1000000000 + (p->nanoseconds ? fraction : fraction * 1000);
    packet->link_type = p->link_type;
    packet->original_bytes = original;
    packet->bytes = rh_span(data + header, captured);
    p->last_ns = packet->time_ns;
    p->counts.packets++;
    return (ptrdiff_t) (header + captured);
}

ptrdiff_t rh_pcap_next(struct rh_pcap_parser *p, const char *data, size_t n,
                       struct rh_pcap_packet *packet, struct rh_error *err)
{
    packet->bytes = RH_SPAN_NONE;
    switch (p->kind) {
    case RH_PCAP_CLASSIC:
        return classic_next(p, data, n, packet, err);
    case RH_PCAP_NG:
        return rh_pcap_block_next(p, data, n, packet, err);
    case RH_PCAP_START:
        break;
    }
    return start(p, data, n, packet, err);
}
