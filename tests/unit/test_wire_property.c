/* Conversations mangled in every way, over every link and file format: what loses nothing gives the
 * same streams in the same order, what loses something says how much and invents nothing. */
#include "rh_test.h"

#include <stdio.h>

#include "formats/packet_link.h"
#include "tests/wire/wire_judge.h"
#include "tests/wire/wire_mangle.h"

static void make(struct wire_talk *t, struct wire_random *r, bool alternating, uint32_t most)
{
    struct wire_shape shape = {
        .turns = 2 + wire_random_below(r, 8),
        .segment_max = most,
        .alternating = alternating,
        /* Half of them wrap. */
        .isn = {wire_random_below(r, 2) ? (uint32_t) wire_random_next(r)
                                        : 0xffffffff - wire_random_below(r, 3000),
                wire_random_below(r, 2) ? (uint32_t) wire_random_next(r)
                                        : 0xffffffff - wire_random_below(r, 3000)},
    };
    wire_talk_make(t, &shape, r);
}

/* Both streams to their ends, without a gap, in one connection that finished. */
static void expect_whole(const struct wire_judge *j, const char *what, unsigned seed)
{
    if (j->fault[0]) {
        fail_msg("%s, seed %u: %s", what, seed, j->fault);
    }
    if (j->at[0] != j->talk->stream[0].len || j->at[1] != j->talk->stream[1].len ||
        j->counts.gaps || j->opened != 1 || j->closed != 1 || j->end != RH_TCP_END_FIN ||
        j->info.joined_midway || j->counts.conflicts) {
        fail_msg("%s, seed %u: %llu and %llu bytes of %zu and %zu, %llu gaps, %llu connections, "
                 "end %d, midway %d, %llu conflicts",
                 what, seed, (unsigned long long) j->at[0], (unsigned long long) j->at[1],
                 j->talk->stream[0].len, j->talk->stream[1].len,
                 (unsigned long long) j->counts.gaps, (unsigned long long) j->opened, j->end,
                 j->info.joined_midway, (unsigned long long) j->counts.conflicts);
    }
}

/* Where the sides take turns, the turns are the ones that were said. */
static void expect_turns(const struct wire_judge *j, const char *what, unsigned seed)
{
    size_t n = 0;
    const struct wire_talk *t = j->talk;
    for (size_t i = 0; i < t->truth_count; n++) {
        uint64_t bytes = 0;
        enum rh_tcp_side side = t->truth[i].side;
        for (; i < t->truth_count && t->truth[i].side == side; i++) {
            bytes += t->truth[i].len;
        }
        if (n >= j->turn_count || j->turns[n].side != side || j->turns[n].bytes != bytes) {
            fail_msg("%s, seed %u: turn %zu is not the one that was said", what, seed, n);
        }
    }
    assert_int_equal(n, j->turn_count);
}

/* Segments beyond 64 KiB too, but not in ever so many pieces. */
static void run_lossless(unsigned seed, enum wire_mangling how, bool alternating,
                         const struct wire_link *link, enum wire_format format, bool swapped)
{
    struct wire_random r = {seed};
    struct wire_talk talk;
    struct wire_judge judge;
    struct rh_wire_options options = rh_wire_options_default();
    bool many =
        how == WIRE_MANGLE_SPLIT_SMALL || how == WIRE_MANGLE_SPLIT || how == WIRE_MANGLE_ALL;
    make(&talk, &r, alternating,
         how == WIRE_MANGLE_SPLIT_SMALL ? 30
         : seed % 7 || many             ? 3000
                                        : 90000);
    wire_mangle(&talk, how, &r);
    wire_judge_init(&judge, &talk);
    wire_judge_talk(&judge, link, format, swapped, 0, &options);
    char what[100];
    snprintf(what, sizeof what, "%s, mangling %d, format %d", link->name, how, format);
    expect_whole(&judge, what, seed);
    if (alternating) {
        expect_turns(&judge, what, seed);
    }
    wire_judge_release(&judge);
    wire_talk_release(&talk);
}

static void test_mangled_without_loss(void **state)
{
    (void) state;
    for (unsigned seed = 1; seed <= 12; seed++) {
        for (enum wire_mangling how = 0; how < WIRE_MANGLE_COUNT; how++) {
            run_lossless(seed, how, true, &wire_links[0], WIRE_PCAP_US, false);
            run_lossless(seed + 100, how, false, &wire_links[0], WIRE_PCAP_NS, false);
        }
    }
}

static void test_every_link(void **state)
{
    (void) state;
    for (unsigned i = 0; i < WIRE_LINK_COUNT; i++) {
        run_lossless(200 + i, WIRE_MANGLE_NONE, true, &wire_links[i], WIRE_PCAP_US, i % 2);
        run_lossless(300 + i, WIRE_MANGLE_ALL, true, &wire_links[i], WIRE_NG_NS, i % 2);
    }
}

static void test_every_format(void **state)
{
    (void) state;
    for (enum wire_format format = 0; format < WIRE_FORMAT_COUNT; format++) {
        run_lossless(400, WIRE_MANGLE_REORDER, true, &wire_links[0], format, false);
        run_lossless(401, WIRE_MANGLE_DUPLICATE, true, &wire_links[0], format, true);
    }
}

/* What a lossy run must give: every byte at its place or in a gap, nothing behind the end. */
static void expect_marked(const struct wire_judge *j, const char *what, unsigned seed,
                          uint64_t client_gap, uint64_t server_gap)
{
    if (j->fault[0]) {
        fail_msg("%s, seed %u: %s", what, seed, j->fault);
    }
    if (j->at[0] != j->talk->stream[0].len || j->at[1] != j->talk->stream[1].len ||
        j->gap_bytes[0] != client_gap || j->gap_bytes[1] != server_gap || j->unknown_gaps) {
        fail_msg("%s, seed %u: at %llu and %llu of %zu and %zu, gaps of %llu and %llu bytes, not "
                 "%llu and %llu; %llu unknown",
                 what, seed, (unsigned long long) j->at[0], (unsigned long long) j->at[1],
                 j->talk->stream[0].len, j->talk->stream[1].len,
                 (unsigned long long) j->gap_bytes[0], (unsigned long long) j->gap_bytes[1],
                 (unsigned long long) client_gap, (unsigned long long) server_gap,
                 (unsigned long long) j->unknown_gaps);
    }
}

static void test_dropped_segments(void **state)
{
    (void) state;
    for (unsigned seed = 1; seed <= 60; seed++) {
        struct wire_random r = {seed};
        struct wire_talk talk;
        struct wire_judge judge;
        struct rh_wire_options options = rh_wire_options_default();
        make(&talk, &r, seed % 2, 3000);
        if (seed % 3 == 0) {
            wire_mangle_split(&talk, &r, 300);
        }
        uint64_t gap[2] = {0, 0};
        for (uint32_t n = 1 + seed % 3; n > 0 && talk.count > 12; n--) {
            struct wire_segment lost = wire_mangle_drop(&talk, &r);
            gap[lost.side] += lost.len;
        }
        if (seed % 4 == 0) {
            wire_mangle_reorder(&talk, &r, 3);
        }
        wire_judge_init(&judge, &talk);
        wire_judge_talk(&judge, &wire_links[0], WIRE_PCAP_NS, false, 0, &options);
        expect_marked(&judge, "dropped segments", seed, gap[0], gap[1]);
        assert_int_equal(judge.end, RH_TCP_END_FIN);
        wire_judge_release(&judge);
        wire_talk_release(&talk);
    }
}

static void test_cut_packets(void **state)
{
    (void) state;
    static const uint32_t snaplens[] = {66, 96, 128, 1500};
    for (unsigned seed = 1; seed <= 24; seed++) {
        struct wire_random r = {seed};
        struct wire_talk talk;
        struct wire_judge judge;
        struct rh_wire_options options = rh_wire_options_default();
        uint32_t snaplen = snaplens[seed % 4];
        make(&talk, &r, seed % 2, 3000);
        uint64_t gap[2] = {0, 0};
        for (size_t i = 0; i < talk.truth_count; i++) {
            uint32_t there = snaplen - 66; /* 14 + 20 + 32 bytes of headers */
            uint32_t len = talk.truth[i].len;
            gap[talk.truth[i].side] += len > there ? len - there : 0;
        }
        wire_mangle(&talk, seed % 3 ? WIRE_MANGLE_NONE : WIRE_MANGLE_REORDER, &r);
        wire_judge_init(&judge, &talk);
        wire_judge_talk(&judge, &wire_links[0], WIRE_PCAP_US, false, snaplen, &options);
        expect_marked(&judge, "cut packets", seed, gap[0], gap[1]);
        assert_int_equal(judge.counts.cut_bytes, gap[0] + gap[1]);
        wire_judge_release(&judge);
        wire_talk_release(&talk);
    }
}

/* All of the other side is missing, its FIN too, which nobody can tell from a byte. */
static void test_one_sided(void **state)
{
    (void) state;
    for (unsigned seed = 1; seed <= 20; seed++) {
        struct wire_random r = {seed};
        struct wire_talk talk;
        struct wire_judge judge;
        struct rh_wire_options options = rh_wire_options_default();
        enum rh_tcp_side gone = seed % 2;
        make(&talk, &r, true, 3000);
        wire_mangle_drop_side(&talk, gone);
        wire_judge_init(&judge, &talk);
        wire_judge_talk(&judge, &wire_links[0], WIRE_PCAP_US, false, 0, &options);
        assert_string_equal(judge.fault, "");
        assert_int_equal(judge.at[!gone], talk.stream[!gone].len);
        assert_int_equal(judge.gap_bytes[!gone], 0);
        assert_int_equal(judge.gap_bytes[gone], talk.stream[gone].len + 1);
        assert_int_equal(judge.opened, 1);
        assert_int_equal(judge.end, RH_TCP_END_CAPTURE_END);
        wire_judge_release(&judge);
        wire_talk_release(&talk);
    }
}

/* What comes from where the connection was joined is whole. */
static void test_joined_midway(void **state)
{
    (void) state;
    for (unsigned seed = 1; seed <= 40; seed++) {
        struct wire_random r = {seed};
        struct wire_talk talk;
        struct wire_judge judge;
        struct rh_wire_options options = rh_wire_options_default();
        make(&talk, &r, true, 3000);
        size_t first = WIRE_HANDSHAKE + wire_random_below(&r, (uint32_t) talk.count - 8);
        wire_mangle_drop_first(&talk, first);
        wire_judge_init(&judge, &talk);
        uint64_t left = 0;
        for (enum rh_tcp_side side = 0; side < 2; side++) {
            judge.start[side] = talk.stream[side].len;
            for (size_t i = talk.count; i-- > 0;) {
                if (talk.segments[i].side == side && talk.segments[i].len > 0) {
                    judge.start[side] = talk.segments[i].offset;
                    left = 1;
                }
            }
        }
        wire_judge_talk(&judge, &wire_links[0], WIRE_PCAP_US, false, 0, &options);
        if (left) {
            expect_marked(&judge, "joined midway", seed, 0, 0);
            assert_true(judge.info.joined_midway);
            assert_int_equal(judge.end, RH_TCP_END_FIN);
        } else {
            assert_int_equal(judge.opened, 0);
        }
        wire_judge_release(&judge);
        wire_talk_release(&talk);
    }
}

static struct wire_segment *fin_of(struct wire_talk *t, enum rh_tcp_side side)
{
    size_t i = t->count;
    while (i-- > 0 && (t->segments[i].side != side || !(t->segments[i].flags & RH_TCP_FIN))) {
    }
    assert_true(i < t->count);
    return &t->segments[i];
}

/* A client that has said FIN has closed; its system resets what the server still sends then.  One
 * that resets in place of a FIN was killed, or has given up. */
static void test_a_reset_behind_a_fin(void **state)
{
    (void) state;
    for (unsigned seed = 1; seed <= 20; seed++) {
        bool has_closed = seed % 2;
        struct wire_random r = {seed};
        struct wire_talk talk;
        struct wire_judge judge;
        struct rh_wire_options options = rh_wire_options_default();
        make(&talk, &r, true, 3000);
        struct wire_segment *s = fin_of(&talk, has_closed ? RH_TCP_SERVER : RH_TCP_CLIENT);
        s->side = RH_TCP_CLIENT;
        s->flags = RH_TCP_RST;
        s->offset = talk.stream[RH_TCP_CLIENT].len + has_closed;
        wire_judge_init(&judge, &talk);
        wire_judge_talk(&judge, &wire_links[0], WIRE_PCAP_US, false, 0, &options);
        assert_string_equal(judge.fault, "");
        assert_int_equal(judge.end, has_closed ? RH_TCP_END_FIN : RH_TCP_END_RST);
        wire_judge_release(&judge);
        wire_talk_release(&talk);
    }
}

static void test_conflicts(void **state)
{
    (void) state;
    uint64_t conflicts = 0;
    for (unsigned seed = 1; seed <= 20; seed++) {
        struct wire_random r = {seed};
        struct wire_talk talk;
        struct wire_judge judge;
        struct rh_wire_options options = rh_wire_options_default();
        make(&talk, &r, true, 300);
        wire_mangle_conflict(&talk, &r);
        wire_judge_init(&judge, &talk);
        wire_judge_talk(&judge, &wire_links[0], WIRE_PCAP_US, false, 0, &options);
        expect_marked(&judge, "other bytes", seed, 0, 0);
        conflicts += judge.counts.conflicts;
        wire_judge_release(&judge);
        wire_talk_release(&talk);
    }
    assert_in_range(conflicts, 10, 20);
}

/* With no room to wait, all is given in some order or as gaps, and memory stays bounded. */
static void test_small_budget(void **state)
{
    (void) state;
    for (unsigned seed = 1; seed <= 20; seed++) {
        struct wire_random r = {seed};
        struct wire_talk talk;
        struct wire_judge judge;
        struct rh_wire_options options = rh_wire_options_default();
        options.tcp.connection_bytes = seed % 2 ? 4000 : (size_t) 1 << 30;
        options.tcp.total_bytes = seed % 2 ? (size_t) 1 << 30 : 4000;
        make(&talk, &r, true, 3000);
        wire_mangle_one_by_one(&talk, RH_TCP_CLIENT);
        wire_judge_init(&judge, &talk);
        judge.causal = false;
        wire_judge_talk(&judge, &wire_links[0], WIRE_PCAP_US, false, 0, &options);
        assert_string_equal(judge.fault, "");
        assert_int_equal(judge.at[0], talk.stream[0].len);
        assert_in_range(judge.at[1], talk.stream[1].len, talk.stream[1].len + 1);
        assert_true(judge.gap_bytes[1] == 0 || judge.counts.budget_gaps > 0);
        wire_judge_release(&judge);
        wire_talk_release(&talk);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_mangled_without_loss),
        cmocka_unit_test(test_every_link),
        cmocka_unit_test(test_every_format),
        cmocka_unit_test(test_dropped_segments),
        cmocka_unit_test(test_cut_packets),
        cmocka_unit_test(test_one_sided),
        cmocka_unit_test(test_joined_midway),
        cmocka_unit_test(test_a_reset_behind_a_fin),
        cmocka_unit_test(test_conflicts),
        cmocka_unit_test(test_small_budget),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
