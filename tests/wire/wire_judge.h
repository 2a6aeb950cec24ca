/*
 * tests/wire/wire_judge.h
 *
 * Runs a conversation through files, packets and TCP, and holds what comes out against what was
 * said: every byte is the stream's byte at its place, gaps included; each comes once, after all
 * that its sender had acknowledged; times do not go back.
 */
#ifndef RH_TESTS_WIRE_WIRE_JUDGE_H
#define RH_TESTS_WIRE_WIRE_JUDGE_H

#include "capture/wire_stack.h"
#include "tests/wire/wire_file.h"
#include "tests/wire/wire_frame.h"

struct wire_turn {
    enum rh_tcp_side side;
    uint64_t bytes; /* in a row, whatever the calls */
    bool gap;
};

struct wire_judge {
    const struct wire_talk *talk;
    uint64_t start[2]; /* where the stream was joined */
    bool causal;       /* what is acknowledged must come first */
    uint64_t at[2];
    uint64_t gap_bytes[2];
    uint64_t unknown_gaps;
    int64_t last_ns;
    uint64_t opened;
    uint64_t closed;
    enum rh_tcp_end end;
    struct rh_tcp_connection_info info;
    struct wire_turn *turns;
    size_t turn_count;
    size_t turn_cap;
    char fault[200]; /* the first one; empty: none */
    struct rh_wire_counts counts;
};

void wire_judge_init(struct wire_judge *j, const struct wire_talk *talk);
void wire_judge_release(struct wire_judge *j);
/* All of a capture file, and the end of the capture. */
void wire_judge_file(struct wire_judge *j, struct rh_span file,
                     const struct rh_wire_options *options);
/* The conversation's segments over this link in a file of this format. */
void wire_judge_talk(struct wire_judge *j, const struct wire_link *link, enum wire_format format,
                     bool swapped, uint32_t snaplen, const struct rh_wire_options *options);

#endif
