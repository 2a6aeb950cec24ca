/* capture/packet_filter: which packets a live capture sees, tried on frames made here. */
#include "rh_test.h"

#include <string.h>

#include "capture/packet_filter.h"
#include "formats/packet_link.h"
#include "tests/wire/wire_frame.h"

struct match {
    struct rh_packet_filter *filter;
    uint32_t link_type;
    int frames;
    int matched;
};

static void try_frame(void *context, struct rh_span frame, int64_t time_ns)
{
    struct match *m = context;
    struct rh_error err = {0};
    struct rh_pcap_packet packet = {
        .time_ns = time_ns,
        .link_type = m->link_type,
        .original_bytes = (uint32_t) frame.len,
        .bytes = frame,
    };
    int got = rh_packet_filter_match(m->filter, &packet, &err);
    if (got < 0) {
        fail_msg("%s", err.text);
    }
    m->frames++;
    m->matched += got;
}

static void match_segment(struct match *m, const char *text, const struct wire_link *link,
                          uint16_t port)
{
    static const char payload[200];
    struct rh_error err = {0};
    struct rh_tcp_segment s = {
        .source_port = 40000,
        .destination_port = port,
        .flags = RH_TCP_ACK,
        .payload = rh_span(payload, sizeof payload),
    };
    *m = (struct match){.link_type = link->type};
    if (rh_packet_filter_new(&m->filter, text, &err) != 0) {
        fail_msg("%s", err.text);
    }
    wire_frame_make(link, RH_TCP_CLIENT, &s, 0, try_frame, m);
    rh_packet_filter_free(m->filter);
}

static const struct wire_link links[] = {
    {.name = "Ethernet", .type = RH_LINK_ETHERNET},
    {.name = "Ethernet with a tag", .type = RH_LINK_ETHERNET, .tags = 1},
    {.name = "cooked", .type = RH_LINK_SLL},
    {.name = "cooked v2", .type = RH_LINK_SLL2},
    {.name = "raw", .type = RH_LINK_RAW},
};

/* Every frame of a segment of a server's port, fragments and those with other headers before TCP
 * too; none of another port, unless its port cannot be seen. */
static void test_ports(void **state)
{
    (void) state;
    static const uint16_t ports[] = {5432, 6432};
    for (size_t i = 0; i < 8 * sizeof links / sizeof links[0]; i++) {
        struct wire_link link = links[i / 8];
        struct match wanted;
        struct match other;
        struct rh_buf text;
        link.ipv6 = i & 1;
        link.extended = i & 2;
        link.fragment = i & 4 ? 64 : 0;
        rh_buf_init(&text, 65536);
        /* Files are read with Ethernet's expression compiled first; it is right for that alone. */
        rh_packet_filter_put(&text, ports, 2, RH_LINK_RAW, NULL);
        if (link.type == RH_LINK_ETHERNET) {
            rh_buf_clear(&text);
            rh_packet_filter_put(&text, ports, 2, RH_LINK_ETHERNET, NULL);
        }
        match_segment(&wanted, rh_buf_cstr(&text), &link, 6432);
        if (wanted.frames == 0 || wanted.matched != wanted.frames) {
            fail_msg("%s, %zu: %d of %d frames by %s", link.name, i, wanted.matched, wanted.frames,
                     rh_buf_cstr(&text));
        }
        match_segment(&other, rh_buf_cstr(&text), &link, 80);
        bool is_seen = !link.fragment && !(link.ipv6 && link.extended);
        if (is_seen && other.matched != 0) {
            fail_msg("%s, %zu: a frame of port 80 by %s", link.name, i, rh_buf_cstr(&text));
        }
        rh_buf_release(&text);
    }
}

static void test_narrowed(void **state)
{
    (void) state;
    static const uint16_t ports[] = {5432};
    for (uint32_t tags = 0; tags < 2; tags++) {
        const struct wire_link link = {.type = RH_LINK_ETHERNET, .tags = tags};
        static const char *const by[] = {"host 192.0.2.1", "host 192.0.2.77",
                                         "host 192.0.2.77 or host 192.0.2.2"};
        for (int i = 0; i < 3; i++) {
            struct rh_buf text;
            struct match m;
            rh_buf_init(&text, 65536);
            rh_packet_filter_put(&text, ports, 1, RH_LINK_ETHERNET, by[i]);
            match_segment(&m, rh_buf_cstr(&text), &link, 5432);
            assert_int_equal(m.matched, i != 1);
            match_segment(&m, rh_buf_cstr(&text), &link, 80);
            assert_int_equal(m.matched, 0);
            rh_buf_release(&text);
        }
    }
}

static void test_mistakes(void **state)
{
    (void) state;
    struct rh_packet_filter *f = NULL;
    struct rh_error err = {0};
    assert_int_equal(rh_packet_filter_new(&f, "host", &err), -1);
    assert_non_null(strstr(err.text, "the filter \"host\" cannot be used: "));
    assert_int_equal(err.code, RH_ERR_USAGE);

    struct rh_pcap_packet packet = {.link_type = RH_LINK_RAW, .bytes = rh_span("E", 1)};
    assert_int_equal(rh_packet_filter_new(&f, "vlan 4", &err), 0);
    assert_int_equal(rh_packet_filter_match(f, &packet, &err), -1);
    assert_non_null(strstr(err.text, "for packets of this link type"));
    packet.link_type = RH_LINK_ETHERNET;
    assert_int_equal(rh_packet_filter_match(f, &packet, &err), 0);
    rh_packet_filter_free(f);

    /* Every other link type has a program of its own, up to a limit. */
    assert_int_equal(rh_packet_filter_new(&f, "greater 1", &err), 0);
    static const uint32_t types[] = {
        RH_LINK_NULL, RH_LINK_PPP,  RH_LINK_RAW,  RH_LINK_SLL,
        RH_LINK_IPV4, RH_LINK_IPV6, RH_LINK_SLL2, RH_LINK_LOOP,
    };
    int failed = 0;
    for (size_t i = 0; i < 2 * sizeof types / sizeof types[0]; i++) {
        packet.link_type = types[i / 2];
        failed += rh_packet_filter_match(f, &packet, &err) < 0;
    }
    assert_int_equal(failed, 2);
    rh_packet_filter_free(f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_ports),
        cmocka_unit_test(test_narrowed),
        cmocka_unit_test(test_mistakes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
