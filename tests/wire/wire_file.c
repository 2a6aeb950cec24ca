#include "tests/wire/wire_file.h"

enum { FILE_BYTES_MAX = 512 << 20, BINARY_OFFSET_S = 1000000000 };

static void add16(struct wire_file *f, uint16_t v)
{
    v = f->swapped ? __builtin_bswap16(v) : v;
    (void) rh_buf_add(&f->bytes, &v, sizeof v);
}

static void add32(struct wire_file *f, uint32_t v)
{
    v = f->swapped ? __builtin_bswap32(v) : v;
    (void) rh_buf_add(&f->bytes, &v, sizeof v);
}

static void add64(struct wire_file *f, uint64_t v)
{
    v = f->swapped ? __builtin_bswap64(v) : v;
    (void) rh_buf_add(&f->bytes, &v, sizeof v);
}

static void add_padded(struct wire_file *f, struct rh_span s)
{
    (void) rh_buf_add_span(&f->bytes, s);
    while (f->bytes.len % 4) {
        (void) rh_buf_add_byte(&f->bytes, 0);
    }
}

/* Of a block whose body was added behind type and length. */
static void end_block(struct wire_file *f, size_t start)
{
    uint32_t length = (uint32_t) (f->bytes.len - start) + 4;
    add32(f, length);
    memcpy(f->bytes.data + start + 4, f->bytes.data + f->bytes.len - 4, 4);
}

static size_t begin_block(struct wire_file *f, uint32_t type)
{
    size_t start = f->bytes.len;
    add32(f, type);
    add32(f, 0);
    return start;
}

static void add_interface(struct wire_file *f, int resolution)
{
    size_t start = begin_block(f, 1);
    add16(f, (uint16_t) f->link_type);
    add16(f, 0);
    add32(f, f->snaplen);
    if (resolution >= 0) {
        uint8_t value = (uint8_t) resolution;
        add16(f, 9);
        add16(f, 1);
        add_padded(f, rh_span((const char *) &value, 1));
    }
    if (f->format == WIRE_NG_BINARY) {
        add16(f, 14);
        add16(f, 8);
        add64(f, BINARY_OFFSET_S);
    }
    add32(f, 0);
    end_block(f, start);
}

static void begin_classic(struct wire_file *f)
{
    add32(f, f->format == WIRE_PCAP_US   ? 0xa1b2c3d4
             : f->format == WIRE_PCAP_NS ? 0xa1b23c4d
                                         : 0xa1b2cd34);
    add16(f, 2);
    add16(f, 4);
    add64(f, 0);
    add32(f, f->snaplen ? f->snaplen : 262144);
    add32(f, f->link_type);
}

static void begin_ng(struct wire_file *f)
{
    static const int resolutions[WIRE_FORMAT_COUNT] = {
        [WIRE_NG_US] = 6,        [WIRE_NG_NS] = 9,      [WIRE_NG_BINARY] = 0x80 | 32,
        [WIRE_NG_OBSOLETE] = -1, [WIRE_NG_SIMPLE] = -1, [WIRE_NG_TWO] = 9,
    };
    size_t start = begin_block(f, 0x0a0d0d0a);
    add32(f, 0x1a2b3c4d);
    add16(f, 1);
    add16(f, 0);
    add64(f, UINT64_MAX);
    end_block(f, start);
    add_interface(f, resolutions[f->format]);
    if (f->format == WIRE_NG_TWO) {
        add_interface(f, 0x80 | 20);
    }
    /* A block that nobody knows. */
    start = begin_block(f, 0x0bad);
    add64(f, 42);
    end_block(f, start);
}

void wire_file_begin(struct wire_file *f, enum wire_format format, bool swapped, uint32_t link_type,
                     uint32_t snaplen)
{
    *f = (struct wire_file){
        .format = format,
        .swapped = swapped,
        .link_type = link_type,
        .snaplen = snaplen,
    };
    rh_buf_init(&f->bytes, FILE_BYTES_MAX);
    if (format <= WIRE_PCAP_LONG) {
        begin_classic(f);
    } else {
        begin_ng(f);
    }
}

void wire_file_release(struct wire_file *f)
{
    rh_buf_release(&f->bytes);
}

static uint64_t binary_ticks(int64_t time_ns, unsigned bits)
{
    uint64_t seconds = (uint64_t) time_ns / 1000000000;
    uint64_t rest = (uint64_t) time_ns % 1000000000;
    /* Rounded up, so that reading it rounds down to the same nanosecond. */
    return seconds << bits | ((rest << bits) + 999999999) / 1000000000;
}

/* The interface of the next packet. */
static uint32_t interface_of(const struct wire_file *f)
{
    return f->format == WIRE_NG_TWO ? f->packets % 2 : 0;
}

static uint64_t ticks_of(const struct wire_file *f, int64_t time_ns)
{
    switch (f->format) {
    case WIRE_NG_NS:
        return (uint64_t) time_ns;
    case WIRE_NG_BINARY:
        return binary_ticks(time_ns - (int64_t) BINARY_OFFSET_S * 1000000000, 32);
    case WIRE_NG_TWO:
        return interface_of(f) ? binary_ticks(time_ns, 20) : (uint64_t) time_ns;
    default:
        return (uint64_t) time_ns / 1000;
    }
}

int64_t wire_file_time(const struct wire_file *f, int64_t time_ns)
{
    switch (f->format) {
    case WIRE_PCAP_NS:
    case WIRE_NG_NS:
    case WIRE_NG_BINARY:
        return time_ns;
    default:
        return time_ns / 1000 * 1000;
    }
}

static void add_classic(struct wire_file *f, struct rh_span captured, uint32_t original,
                        int64_t time_ns)
{
    add32(f, (uint32_t) (time_ns / 1000000000));
    add32(f, (uint32_t) (time_ns % 1000000000 / (f->format == WIRE_PCAP_NS ? 1 : 1000)));
    add32(f, (uint32_t) captured.len);
    add32(f, original);
    if (f->format == WIRE_PCAP_LONG) {
        add64(f, 1);
    }
    (void) rh_buf_add_span(&f->bytes, captured);
}

static void add_ng(struct wire_file *f, struct rh_span captured, uint32_t original, int64_t time_ns)
{
    bool simple = f->format == WIRE_NG_SIMPLE;
    bool obsolete = f->format == WIRE_NG_OBSOLETE;
    size_t start = begin_block(f, simple ? 3 : obsolete ? 2 : 6);
    if (!simple) {
        uint64_t ticks = ticks_of(f, time_ns);
        if (obsolete) {
            add16(f, (uint16_t) interface_of(f));
            add16(f, 7); /* a count of drops */
        } else {
            add32(f, interface_of(f));
        }
        add32(f, (uint32_t) (ticks >> 32));
        add32(f, (uint32_t) ticks);
        add32(f, (uint32_t) captured.len);
    }
    add32(f, original);
    add_padded(f, captured);
    end_block(f, start);
}

void wire_file_add(struct wire_file *f, struct rh_span frame, int64_t time_ns)
{
    uint32_t original = (uint32_t) frame.len;
    if (f->snaplen > 0 && frame.len > f->snaplen) {
        frame.len = f->snaplen;
    }
    (f->format <= WIRE_PCAP_LONG ? add_classic : add_ng)(f, frame, original, time_ns);
    f->packets++;
}
