/*
 * tests/integration/wire_messages.c
 *
 *   wire_messages compare PORT PRODUCTION.pcap PORT CANDIDATE.pcap
 *   wire_messages pace SECONDS TEXT FROM.pcap TO.pcap
 *
 * compare: whether the clients of two captures said the same: for each connection of the first
 * there is one of the second with the same messages, byte for byte, in the same order, and the same
 * end: with Terminate, by a FIN without it, or by a reset.  Left out are what the login needs
 * (startup, passwords), and cancel requests, whose keys differ; these are counted.  A connection
 * that says nothing else does not count.  Prints two lines of sums; for a connection without a twin
 * what the likest one has in place of its first message that differs, and ends with 1.
 *
 * pace: the packets from the first one with TEXT on, and each with bytes in it comes so long after
 * the one before.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "capture/packet_files.h"
#include "capture/wire_stack.h"
#include "common/alloc.h"
#include "common/buf.h"
#include "formats/pg_frontend.h"
#include "formats/pg_scan.h"

enum { CONNECTIONS_MAX = 4096, SHOWN_BYTES = 60 };

static const size_t STREAM_MAX = (size_t) 1 << 30;

enum end { END_OPEN, END_TERMINATE, END_FIN, END_RESET, END_COUNT };

static const char *const end_text[END_COUNT] = {"open at the end", "with Terminate", "without it",
                                                "by a reset"};

struct connection {
    enum end end;
    struct rh_pg_scan scan;
    struct rh_buf messages; /* whole, one behind the other */
    uint64_t count;
    bool is_cancel;
    bool is_taken; /* it has a twin */
    bool is_bad;
};

struct side {
    struct connection *connections[CONNECTIONS_MAX];
    uint32_t count;
    uint32_t cancels;
};

static void die(const char *what, const char *why)
{
    fprintf(stderr, "wire_messages: %s: %s\n", what, why);
    exit(2);
}

static void *take_open(void *context, const struct rh_tcp_connection_info *info)
{
    struct side *side = context;
    struct connection *c = rh_calloc(1, sizeof *c);
    (void) info;
    if (side->count == CONNECTIONS_MAX) {
        die("capture", "too many connections");
    }
    side->connections[side->count++] = c;
    rh_pg_scan_init(&c->scan, RH_PG_FRONTEND, STREAM_MAX);
    c->scan.untyped = true;
    c->scan.copy_events = true;
    rh_buf_init(&c->messages, STREAM_MAX);
    return c;
}

static void take_message(struct connection *c, const struct rh_pg_event *ev)
{
    if (ev->type == RH_PG_UNTYPED) {
        uint32_t code = rh_pg_untyped_code(ev->body);
        c->is_cancel = code == RH_PG_CODE_CANCEL;
        c->scan.untyped = code == RH_PG_CODE_SSL || code == RH_PG_CODE_GSS;
    } else if (ev->type == 'X') {
        c->end = END_TERMINATE;
    } else if (ev->type != 'p') {
        c->count++;
        rh_buf_add_byte(&c->messages, (uint8_t) ev->type);
        rh_buf_add_be32(&c->messages, (uint32_t) ev->body.len + 4);
        rh_buf_add_span(&c->messages, ev->body);
    }
}

static void take_data(void *connection, enum rh_tcp_side side, int64_t time_ns,
                      struct rh_span bytes)
{
    struct connection *c = connection;
    struct rh_pg_event ev;
    (void) time_ns;
    while (side == RH_TCP_CLIENT && bytes.len > 0 && !c->is_bad) {
        ptrdiff_t used = rh_pg_scan_next(&c->scan, bytes.data, bytes.len, &ev, NULL);
        c->is_bad = used < 0;
        if (used < 0) {
            return;
        }
        if (ev.type) {
            take_message(c, &ev);
        }
        bytes.data += used;
        bytes.len -= (size_t) used;
    }
}

static void take_gap(void *connection, enum rh_tcp_side side, int64_t time_ns, uint64_t bytes)
{
    struct connection *c = connection;
    (void) time_ns;
    (void) bytes;
    c->is_bad = c->is_bad || side == RH_TCP_CLIENT;
}

static void take_close(void *connection, int64_t time_ns, enum rh_tcp_end how)
{
    struct connection *c = connection;
    (void) time_ns;
    if (c->end == END_OPEN) {
        c->end = how == RH_TCP_END_FIN ? END_FIN : how == RH_TCP_END_RST ? END_RESET : END_OPEN;
    }
}

static void read_side(struct side *side, const char *port, const char *path)
{
    struct rh_wire_options options = rh_wire_options_default();
    struct rh_tcp_sink sink = {take_open, take_data, take_gap, take_close, side};
    struct rh_error err;
    struct rh_pcap_packet packet;
    int got;
    options.ports[0] = (uint16_t) strtoul(port, NULL, 10);
    options.port_count = 1;
    struct rh_wire_stack *stack = rh_wire_stack_new(&options, &sink);
    struct rh_packet_files *files = rh_packet_files_new(&path, 1);
    while ((got = rh_packet_files_next(files, &packet, &err)) > 0) {
        rh_wire_stack_packet(stack, &packet);
    }
    if (got < 0) {
        die(path, err.text);
    }
    rh_wire_stack_finish(stack);
    rh_wire_stack_free(stack);
    rh_packet_files_free(files);
    for (uint32_t i = 0; i < side->count; i++) {
        side->cancels += side->connections[i]->is_cancel;
        if (side->connections[i]->is_bad) {
            die(path, "a connection cannot be read as a whole");
        }
    }
}

static bool is_same(const struct connection *a, const struct connection *b)
{
    return a->end == b->end && a->messages.len == b->messages.len &&
           (a->messages.len == 0 ||
            memcmp(a->messages.data, b->messages.data, a->messages.len) == 0);
}

/* How many bytes of whole messages two have in common at their beginnings. */
static size_t common_bytes(const struct rh_buf *a, const struct rh_buf *b)
{
    size_t at = 0;
    while (at < a->len) {
        const uint8_t *head = (const uint8_t *) a->data + at;
        size_t whole =
            ((size_t) head[1] << 24 | (size_t) head[2] << 16 | (size_t) head[3] << 8 | head[4]) + 1;
        if (whole > b->len - at || memcmp(head, b->data + at, whole) != 0) {
            break;
        }
        at += whole;
    }
    return at;
}

static void show(const char *who, const struct connection *c, size_t at)
{
    const struct rh_buf *messages = &c->messages;
    printf("  %s, ended %s:", who, end_text[c->end]);
    for (size_t i = at; i < messages->len && i < at + SHOWN_BYTES; i++) {
        unsigned char byte = (unsigned char) messages->data[i];
        printf(byte >= 0x20 && byte < 0x7f ? "%c" : "\\%02x", byte);
    }
    puts(at == messages->len ? " nothing more" : "");
}

static void show_likest(const struct connection *c, uint32_t number, const struct side *side)
{
    const struct connection *likest = NULL;
    size_t most = 0;
    for (uint32_t i = 0; i < side->count; i++) {
        const struct connection *other = side->connections[i];
        size_t same = common_bytes(&c->messages, &other->messages);
        if (!other->is_taken && other->count > 0 && (!likest || same > most)) {
            likest = other;
            most = same;
        }
    }
    printf("connection %" PRIu32 " (%" PRIu64 " messages) has no twin; behind %zu bytes\n", number,
           c->count, most);
    show("production", c, most);
    if (likest) {
        show("candidate", likest, most);
    }
}

/* Ethernet, IPv4, TCP. */
static bool has_bytes(const unsigned char *packet, size_t n)
{
    size_t ip = n > 54 ? (packet[14] & 15u) * 4u : 0;
    size_t whole = n > 54 ? (size_t) packet[16] << 8 | packet[17] : 0;
    return n > 14 + ip + 12 && whole > ip + (packet[14 + ip + 12] >> 4) * 4u;
}

/* A classic pcap file of Ethernet, of this machine's byte order, with µs or ns. */
static int pace(const char *seconds, const char *text, const char *from, const char *to)
{
    uint32_t head[6];
    uint32_t packet[4]; /* seconds, parts of one, bytes captured, bytes */
    static unsigned char bytes[1 << 20];
    FILE *in = fopen(from, "rb");
    FILE *out = fopen(to, "wb");
    uint32_t at = 0;
    if (!in || !out || fread(head, sizeof head, 1, in) != 1 ||
        (head[0] != 0xa1b2c3d4 && head[0] != 0xa1b23c4d) ||
        fwrite(head, sizeof head, 1, out) != 1) {
        die(from, "cannot be read as pcap, or written");
    }
    while (fread(packet, sizeof packet, 1, in) == 1) {
        if (packet[2] > sizeof bytes || fread(bytes, 1, packet[2], in) != packet[2]) {
            die(from, "a packet cannot be read");
        }
        if (at == 0 && !memmem(bytes, packet[2], text, strlen(text))) {
            continue;
        }
        uint32_t step = has_bytes(bytes, packet[2]) ? (uint32_t) strtoul(seconds, NULL, 10) : 0;
        at = at == 0 ? packet[0] : at + step;
        packet[0] = at;
        if (fwrite(packet, sizeof packet, 1, out) != 1 ||
            fwrite(bytes, 1, packet[2], out) != packet[2]) {
            die(to, "a packet cannot be written");
        }
    }
    fclose(in);
    return fclose(out) != 0;
}

int main(int argc, char **argv)
{
    static struct side production;
    static struct side candidate;
    static const struct connection *missing[CONNECTIONS_MAX];
    static uint32_t numbers[CONNECTIONS_MAX];
    uint32_t missing_count = 0;
    uint32_t twins = 0;
    uint64_t messages = 0;
    uint32_t ends[END_COUNT] = {0};
    if (argc == 6 && strcmp(argv[1], "pace") == 0) {
        return pace(argv[2], argv[3], argv[4], argv[5]);
    }
    if (argc != 6 || strcmp(argv[1], "compare") != 0) {
        fprintf(stderr,
                "usage: wire_messages compare PORT FILE PORT FILE | pace SECONDS TEXT FILE FILE\n");
        return 2;
    }
    read_side(&production, argv[2], argv[3]);
    read_side(&candidate, argv[4], argv[5]);
    for (uint32_t i = 0; i < production.count; i++) {
        const struct connection *c = production.connections[i];
        uint32_t at = 0;
        while (at < candidate.count &&
               (candidate.connections[at]->is_taken || !is_same(c, candidate.connections[at]))) {
            at++;
        }
        if (c->count == 0) {
            continue;
        }
        if (at == candidate.count) {
            numbers[missing_count] = i + 1;
            missing[missing_count++] = c;
            continue;
        }
        candidate.connections[at]->is_taken = true;
        twins++;
        ends[c->end]++;
        messages += c->count;
    }
    printf("%" PRIu32 " connections with %" PRIu64 " messages are the same, %" PRIu32
           " have no twin; %" PRIu32 " and %" PRIu32 " cancel requests\n",
           twins, messages, missing_count, production.cancels, candidate.cancels);
    printf("ended: %" PRIu32 " with Terminate, %" PRIu32 " without, %" PRIu32 " by a reset\n",
           ends[END_TERMINATE], ends[END_FIN], ends[END_RESET]);
    for (uint32_t i = 0; i < missing_count; i++) {
        show_likest(missing[i], numbers[i], &candidate);
    }
    return missing_count > 0;
}
