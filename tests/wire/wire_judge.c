#include "tests/wire/wire_judge.h"

#include <stdio.h>

#include "common/alloc.h"

void wire_judge_init(struct wire_judge *j, const struct wire_talk *talk)
{
    *j = (struct wire_judge){.talk = talk, .causal = true, .last_ns = INT64_MIN};
}

void wire_judge_release(struct wire_judge *j)
{
    rh_free(j->turns);
}

static void fault(struct wire_judge *j, const char *what, enum rh_tcp_side side)
{
    if (!j->fault[0]) {
        snprintf(j->fault, sizeof j->fault,
                 "%.100s of the %s, at byte %llu (the other side at %llu)", what,
                 side == RH_TCP_CLIENT ? "client" : "server", (unsigned long long) j->at[side],
                 (unsigned long long) j->at[!side]);
    }
}

static void *judge_open(void *context, const struct rh_tcp_connection_info *info)
{
    struct wire_judge *j = context;
    j->opened++;
    j->info = *info;
    j->at[0] = j->start[0];
    j->at[1] = j->start[1];
    return j;
}

static void add_turn(struct wire_judge *j, enum rh_tcp_side side, uint64_t bytes, bool gap)
{
    struct wire_turn *last = j->turn_count > 0 ? &j->turns[j->turn_count - 1] : NULL;
    if (last && last->side == side && last->gap == gap) {
        last->bytes += bytes;
        return;
    }
    RH_GROW(j->turns, j->turn_count, j->turn_cap);
    /* NOLINTNEXTLINE(clang-analyzer-core.NullDereference): RH_GROW has made room */
    j->turns[j->turn_count++] = (struct wire_turn){side, bytes, gap};
}

static void check_time(struct wire_judge *j, enum rh_tcp_side side, int64_t time_ns)
{
    if (time_ns < j->last_ns) {
        fault(j, "the time goes back", side);
    }
    j->last_ns = time_ns;
}

/* The segment that carried this byte acknowledged bytes of the other side: they are there. */
static void check_order(struct wire_judge *j, enum rh_tcp_side side, uint64_t last_byte)
{
    const struct wire_talk *t = j->talk;
    for (size_t i = 0; i < t->truth_count; i++) {
        const struct wire_segment *s = &t->truth[i];
        if (s->side == side && last_byte - s->offset < s->len) {
            uint64_t needs = s->ack < t->stream[!side].len ? s->ack : t->stream[!side].len;
            if (j->at[!side] < needs) {
                fault(j, "an answer before what it answers", side);
            }
            return;
        }
    }
}

static void judge_data(void *connection, enum rh_tcp_side side, int64_t time_ns,
                       struct rh_span bytes)
{
    struct wire_judge *j = connection;
    const struct rh_buf *stream = &j->talk->stream[side];
    check_time(j, side, time_ns);
    if (bytes.len == 0) {
        fault(j, "data of no bytes", side);
    } else if (j->at[side] > stream->len || bytes.len > stream->len - j->at[side]) {
        fault(j, "more than was sent", side);
    } else if (memcmp(stream->data + j->at[side], bytes.data, bytes.len) != 0) {
        fault(j, "other bytes", side);
    } else if (j->causal) {
        check_order(j, side, j->at[side] + bytes.len - 1);
    }
    j->at[side] += bytes.len;
    add_turn(j, side, bytes.len, false);
}

static void judge_gap(void *connection, enum rh_tcp_side side, int64_t time_ns, uint64_t bytes)
{
    struct wire_judge *j = connection;
    check_time(j, side, time_ns);
    if (bytes == UINT64_MAX) {
        j->unknown_gaps++;
        return;
    }
    j->gap_bytes[side] += bytes;
    j->at[side] += bytes;
    add_turn(j, side, bytes, true);
}

static void judge_close(void *connection, int64_t time_ns, enum rh_tcp_end how)
{
    struct wire_judge *j = connection;
    check_time(j, RH_TCP_CLIENT, time_ns);
    j->closed++;
    j->end = how;
}

void wire_judge_file(struct wire_judge *j, struct rh_span file,
                     const struct rh_wire_options *options)
{
    struct rh_tcp_sink sink = {judge_open, judge_data, judge_gap, judge_close, j};
    struct rh_wire_stack *stack = rh_wire_stack_new(options, &sink);
    struct rh_pcap_parser parser;
    struct rh_pcap_packet packet;
    struct rh_error err = {0};
    rh_pcap_parser_init(&parser);
    while (file.len > 0) {
        ptrdiff_t used = rh_pcap_next(&parser, file.data, file.len, &packet, &err);
        if (used <= 0) {
            fault(j, used < 0 ? err.text : "a file that ends early", RH_TCP_CLIENT);
            break;
        }
        file.data += used;
        file.len -= (size_t) used;
        if (packet.bytes.data) {
            rh_wire_stack_packet(stack, &packet);
        }
    }
    rh_wire_stack_finish(stack);
    j->counts = *rh_wire_stack_counts(stack);
    rh_wire_stack_free(stack);
    rh_pcap_parser_release(&parser);
}

static void add_frame(void *context, struct rh_span frame, int64_t time_ns)
{
    wire_file_add(context, frame, time_ns);
}

void wire_judge_talk(struct wire_judge *j, const struct wire_link *link, enum wire_format format,
                     bool swapped, uint32_t snaplen, const struct rh_wire_options *options)
{
    struct wire_file file;
    struct rh_buf other;
    wire_file_begin(&file, format, swapped, link->type, snaplen);
    rh_buf_init(&other, 1 << 20);
    for (size_t i = 0; i < j->talk->count; i++) {
        const struct wire_segment *s = &j->talk->segments[i];
        struct rh_tcp_segment header = wire_talk_header(j->talk, s);
        if (s->conflicting) {
            rh_buf_clear(&other);
            for (size_t k = 0; k < header.payload.len; k++) {
                rh_buf_add_byte(&other, (uint8_t) ~header.payload.data[k]);
            }
            header.payload = rh_buf_span(&other);
        }
        wire_frame_make(link, s->side, &header, s->time_ns, add_frame, &file);
    }
    wire_judge_file(j, rh_buf_span(&file.bytes), options);
    rh_buf_release(&other);
    wire_file_release(&file);
}
