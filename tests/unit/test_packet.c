/* Capture files and packets, from bytes made here. */
#include "rh_test.h"

#include "common/alloc.h"
#include "common/buf.h"
#include "formats/packet.h"
#include "formats/packet_link.h"
#include "formats/pcap_parser.h"
#include "tests/wire/wire_file.h"
#include "tests/wire/wire_frame.h"

/* All packets of a file; the parser sees it grow by one byte at a time. */
struct reading {
    uint64_t packets;
    uint64_t bytes;
    int64_t times[8];
    struct rh_pcap_counts counts;
    ptrdiff_t last; /* 0: all was used, or the rest is cut; -1: bad */
    struct rh_error err;
};

static void read_file(struct reading *r, struct rh_span file, bool slowly)
{
    struct rh_pcap_parser p;
    struct rh_pcap_packet packet;
    *r = (struct reading){0};
    rh_pcap_parser_init(&p);
    for (size_t n = slowly ? 0 : file.len; file.len > 0;) {
        r->last = rh_pcap_next(&p, file.data, n, &packet, &r->err);
        if (r->last < 0 || (r->last == 0 && n == file.len)) {
            break;
        }
        if (r->last > 0 && packet.bytes.data) {
            r->times[r->packets++ % 8] = packet.time_ns;
            r->bytes += packet.bytes.len;
        }
        file.data += r->last;
        file.len -= (size_t) r->last;
        n = !slowly ? file.len : r->last > 0 ? 0 : n + 1;
    }
    r->counts = p.counts;
    rh_pcap_parser_release(&p);
}

static void test_formats(void **state)
{
    (void) state;
    static const int64_t start = INT64_C(1700000000123456789);
    for (int i = 0; i < 2 * WIRE_FORMAT_COUNT; i++) {
        struct wire_file f;
        struct reading quick;
        struct reading slow;
        wire_file_begin(&f, i / 2, i % 2, RH_LINK_RAW, 0);
        for (int k = 0; k < 4; k++) {
            wire_file_add(&f, rh_span("abcdefg", (size_t) k + 1), start + k * 1000);
        }
        read_file(&quick, rh_buf_span(&f.bytes), false);
        read_file(&slow, rh_buf_span(&f.bytes), true);
        assert_memory_equal(&quick, &slow, sizeof quick);
        assert_int_equal(quick.packets, 4);
        assert_int_equal(quick.bytes, 10);
        assert_int_equal(quick.counts.damaged_blocks, 0);
        for (int k = 0; k < 4 && f.format != WIRE_NG_SIMPLE; k++) {
            int64_t want = wire_file_time(&f, start + k * 1000);
            /* A second in 2^20 parts has no whole microseconds. */
            assert_in_range(quick.times[k] - want, 0, f.format == WIRE_NG_TWO ? 1999 : 0);
        }
        wire_file_release(&f);
    }
}

/* Every length, and every byte set to 0, 1 and 255: no crash, and what is given lies in the file.
 */
static void test_damaged_files(void **state)
{
    (void) state;
    for (enum wire_format format = 0; format < WIRE_FORMAT_COUNT; format++) {
        struct wire_file f;
        struct reading r;
        wire_file_begin(&f, format, false, RH_LINK_ETHERNET, 0);
        wire_file_add(&f, RH_SPAN_LITERAL("first"), 1);
        wire_file_add(&f, RH_SPAN_LITERAL("second"), 2);
        for (size_t n = 0; n < f.bytes.len; n++) {
            char *copy = rh_memdup(f.bytes.data, n);
            read_file(&r, rh_span(copy, n), false);
            assert_true(r.packets < 2);
            assert_true(r.last >= 0);
            rh_free(copy);
        }
        for (size_t at = 0; at < f.bytes.len; at++) {
            char old = f.bytes.data[at];
            static const char others[] = {0, 1, -1};
            for (size_t k = 0; k < sizeof others; k++) {
                f.bytes.data[at] = others[k];
                read_file(&r, rh_buf_span(&f.bytes), false);
                assert_true(r.packets <= 2 && r.bytes <= f.bytes.len);
            }
            f.bytes.data[at] = old;
        }
        wire_file_release(&f);
    }
}

static void test_damaged_block_is_passed_over(void **state)
{
    (void) state;
    struct wire_file f;
    struct reading r;
    wire_file_begin(&f, WIRE_NG_US, false, RH_LINK_ETHERNET, 0);
    size_t first = f.bytes.len;
    wire_file_add(&f, RH_SPAN_LITERAL("first"), 1000);
    wire_file_add(&f, RH_SPAN_LITERAL("second"), 2000);
    f.bytes.data[first + 20] = 100; /* more bytes than the block has */
    read_file(&r, rh_buf_span(&f.bytes), false);
    assert_int_equal(r.packets, 1);
    assert_int_equal(r.counts.damaged_blocks, 1);
    assert_int_equal(r.times[0], 2000);
    f.bytes.data[first + 8] = 9; /* an interface that is not there */
    read_file(&r, rh_buf_span(&f.bytes), false);
    assert_int_equal(r.counts.damaged_blocks, 1);
    f.bytes.data[first + 4] = 3; /* no length of a block */
    read_file(&r, rh_buf_span(&f.bytes), false);
    assert_int_equal(r.last, -1);
    assert_non_null(strstr(r.err.text, "damaged"));
    wire_file_release(&f);
}

static void test_no_capture_file(void **state)
{
    (void) state;
    struct reading r;
    read_file(&r, RH_SPAN_LITERAL("2026-01-31 13:05:09 UTC"), false);
    assert_int_equal(r.last, -1);
    assert_non_null(strstr(r.err.text, "neither pcap nor pcapng"));
}

static void keep_frame(void *context, struct rh_span frame, int64_t time_ns)
{
    (void) time_ns;
    struct rh_buf *b = context;
    rh_buf_clear(b);
    rh_buf_add_span(b, frame);
}

static enum rh_packet_kind decode(const struct wire_link *link, struct rh_span payload,
                                  struct rh_buf *frame, size_t captured, struct rh_packet *out)
{
    struct rh_tcp_segment s = {
        .source_port = 40000,
        .destination_port = 5432,
        .sequence = 7,
        .acknowledgement = 9,
        .flags = RH_TCP_ACK,
        .payload = payload,
    };
    wire_frame_make(link, RH_TCP_CLIENT, &s, 0, keep_frame, frame);
    size_t n = captured < frame->len ? captured : frame->len;
    return rh_packet_decode(link->type, rh_span(frame->data, n), (uint32_t) frame->len, out);
}

/* Cut at each byte: never more than was there, and what is missing is told from the IP length. */
static void test_every_cut(void **state)
{
    (void) state;
    static const struct wire_link links[] = {
        {"a", .type = RH_LINK_ETHERNET, .tags = 2, .padding = 9},
        {"b", .type = RH_LINK_SLL2, .ipv6 = true, .extended = true},
        {"c", .type = RH_LINK_NULL, .extended = true},
        {"d", .type = RH_LINK_RAW, .no_length = true},
    };
    static const char payload[] = "twenty-three bytes here";
    struct rh_buf frame;
    rh_buf_init(&frame, 4096);
    for (size_t i = 0; i < sizeof links / sizeof *links; i++) {
        struct rh_packet p;
        assert_int_equal(decode(&links[i], rh_span(payload, 23), &frame, 4096, &p), RH_PACKET_TCP);
        assert_int_equal(p.tcp.payload.len, 23);
        assert_memory_equal(p.tcp.payload.data, payload, 23);
        assert_int_equal(p.tcp.cut_bytes, 0);
        assert_int_equal(p.tcp.sequence, 7);
        assert_int_equal(p.tcp.acknowledgement, 9);
        size_t whole = frame.len - links[i].padding;
        for (size_t n = 0; n < whole; n++) {
            enum rh_packet_kind kind = decode(&links[i], rh_span(payload, 23), &frame, n, &p);
            if (n + 23 + 12 < whole) { /* the fixed part of the TCP header is cut too */
                assert_int_equal(kind, RH_PACKET_CUT);
                continue;
            }
            assert_int_equal(kind, RH_PACKET_TCP);
            size_t there = n + 23 > whole ? n + 23 - whole : 0;
            assert_int_equal(p.tcp.payload.len, there);
            assert_int_equal(p.tcp.cut_bytes, 23 - there);
        }
    }
    rh_buf_release(&frame);
}

/* A link type, the bytes of a frame, and what it is. */
static void test_other_frames(void **state)
{
    (void) state;
    static const struct {
        uint32_t link;
        struct rh_span frame;
        enum rh_packet_kind kind;
    } rows[] = {
        {105, RH_SPAN_LITERAL("\x45"), RH_PACKET_LINK_UNKNOWN},
        {RH_LINK_ETHERNET, RH_SPAN_LITERAL("\1\1\1\1\1\1\2\2\2\2\2\2\x08\x06\0\1"),
         RH_PACKET_NOT_IP},
        {RH_LINK_ETHERNET, RH_SPAN_LITERAL("\1\1\1\1\1\1\2\2\2\2\2\2\0\x26\x42\x42\3"),
         RH_PACKET_NOT_IP},
        {RH_LINK_ETHERNET, RH_SPAN_LITERAL("\1\1\1\1\1\1\2\2\2\2\2\2\x81\0\0\1"), RH_PACKET_CUT},
        {RH_LINK_NULL, RH_SPAN_LITERAL("\x07\0\0\0xxxx"), RH_PACKET_NOT_IP},
        {RH_LINK_RAW, RH_SPAN_LITERAL("\x75 nothing that is known"), RH_PACKET_MALFORMED},
        {RH_LINK_RAW, RH_SPAN_LITERAL(""), RH_PACKET_CUT},
        {RH_LINK_RAW, /* a header of 4 * 4 bytes */
         RH_SPAN_LITERAL("\x44\0\0\x28\0\0\0\0\x40\6\0\0\1\2\3\4\5\6\7\x08"), RH_PACKET_MALFORMED},
        {RH_LINK_RAW, /* UDP */
         RH_SPAN_LITERAL("\x45\0\0\x15\0\0\0\0\x40\x11\0\0\1\2\3\4\5\6\7\x08x"), RH_PACKET_NOT_TCP},
        {RH_LINK_RAW, /* no TCP header */
         RH_SPAN_LITERAL("\x45\0\0\x15\0\0\0\0\x40\6\0\0\1\2\3\4\5\6\7\x08x"), RH_PACKET_MALFORMED},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct rh_packet p;
        enum rh_packet_kind kind =
            rh_packet_decode(rows[i].link, rows[i].frame, (uint32_t) rows[i].frame.len, &p);
        if (kind != rows[i].kind) {
            fail_msg("row %zu is of kind %d, not %d", i, kind, rows[i].kind);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_formats),
        cmocka_unit_test(test_damaged_files),
        cmocka_unit_test(test_damaged_block_is_passed_over),
        cmocka_unit_test(test_no_capture_file),
        cmocka_unit_test(test_every_cut),
        cmocka_unit_test(test_other_frames),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
