#include "tests/wire/wire_recorded.h"

#include "capture/packet_files.h"
#include "common/alloc.h"

enum { STREAM_MAX = 64 << 20 };

/* What is known of a connection while the file is read. */
struct connection {
    struct rh_ip_pair ip; /* client first */
    uint16_t client_port;
    bool has_isn[2];
    bool bad;              /* bytes are missing, or lie before what was seen first */
    struct rh_buf seen[2]; /* a byte for each of the stream: 1 when it was captured */
    struct wire_talk talk;
};

struct reader {
    uint16_t port;
    struct connection *list;
    size_t count;
    size_t cap;
};

static struct rh_ip_pair turned(struct rh_ip_pair ip)
{
    struct rh_ip_pair other = ip;
    memcpy(other.source, ip.destination, sizeof ip.source);
    memcpy(other.destination, ip.source, sizeof ip.source);
    return other;
}

/* The one that is open; a SYN of another sequence begins a new one. */
static struct connection *find(struct reader *r, const struct rh_ip_pair *ip, uint16_t client_port,
                               const struct rh_tcp_segment *s)
{
    for (size_t i = r->count; i-- > 0;) {
        struct connection *c = &r->list[i];
        if (c->client_port == client_port && memcmp(&c->ip, ip, sizeof *ip) == 0) {
            bool begins = (s->flags & (RH_TCP_SYN | RH_TCP_ACK)) == RH_TCP_SYN;
            if (begins && c->has_isn[0] && c->talk.isn[0] != s->sequence) {
                break;
            }
            return c;
        }
    }
    RH_GROW(r->list, r->count, r->cap);
    struct connection *c = &r->list[r->count++];
    *c = (struct connection){.ip = *ip, .client_port = client_port};
    c->talk.port[RH_TCP_SERVER] = r->port;
    for (int side = 0; side < 2; side++) {
        rh_buf_init(&c->seen[side], STREAM_MAX);
        rh_buf_init(&c->talk.stream[side], STREAM_MAX);
    }
    return c;
}

static void set_isn(struct connection *c, enum rh_tcp_side side, uint32_t isn)
{
    if (!c->has_isn[side]) {
        c->has_isn[side] = true;
        c->talk.isn[side] = isn;
    }
}

static int fill(struct rh_buf *b, size_t len)
{
    while (b->len < len) {
        if (rh_buf_add_byte(b, 0) != 0) {
            return -1;
        }
    }
    return 0;
}

/* The first copy counts, as everywhere. */
static void put_bytes(struct connection *c, enum rh_tcp_side side, uint64_t offset,
                      struct rh_span bytes)
{
    struct rh_buf *stream = &c->talk.stream[side];
    if (offset > STREAM_MAX || fill(stream, offset + bytes.len) != 0 ||
        fill(&c->seen[side], offset + bytes.len) != 0) {
        c->bad = true;
        return;
    }
    for (size_t i = 0; i < bytes.len; i++) {
        if (!c->seen[side].data[offset + i]) {
            c->seen[side].data[offset + i] = 1;
            stream->data[offset + i] = bytes.data[i];
        }
    }
}

static void put_segment(struct connection *c, const struct wire_segment *s)
{
    wire_talk_insert(&c->talk, c->talk.count, s);
}

/* A FIN or RST gets a segment of its own behind its payload, as the mangler wants it. */
static void take(struct connection *c, enum rh_tcp_side side, int64_t time_ns,
                 const struct rh_tcp_segment *s)
{
    bool is_syn = s->flags & RH_TCP_SYN;
    bool has_ack = s->flags & RH_TCP_ACK;
    set_isn(c, side, is_syn ? s->sequence : s->sequence - 1);
    if (has_ack) {
        set_isn(c, !side, s->acknowledgement - 1);
    }
    int64_t offset = is_syn ? 0 : (int32_t) (s->sequence - c->talk.isn[side] - 1);
    int64_t ack = has_ack ? (int32_t) (s->acknowledgement - c->talk.isn[!side] - 1) : 0;
    if (offset < 0 && s->payload.len <= 1) {
        return; /* keeps it alive */
    }
    if (offset < 0 || ack < 0 || s->cut_bytes > 0 || (is_syn && s->payload.len > 0)) {
        c->bad = true;
        return;
    }
    struct wire_segment segment = {
        .side = side,
        .flags = s->flags & (RH_TCP_SYN | RH_TCP_ACK),
        .offset = (uint64_t) offset,
        .len = (uint32_t) s->payload.len,
        .ack = (uint64_t) ack,
        .time_ns = time_ns,
        .keepalive = -1,
    };
    uint8_t end = s->flags & (RH_TCP_FIN | RH_TCP_RST);
    if (segment.len > 0) {
        put_bytes(c, side, segment.offset, s->payload);
    }
    if (segment.len > 0 || !end) {
        put_segment(c, &segment);
    }
    if (end) {
        segment.offset += segment.len;
        segment.len = 0;
        segment.flags |= end;
        put_segment(c, &segment);
    }
}

static void take_packet(struct reader *r, const struct rh_pcap_packet *packet)
{
    struct rh_packet p;
    if (rh_packet_decode(packet->link_type, packet->bytes, packet->original_bytes, &p) !=
        RH_PACKET_TCP) {
        return;
    }
    bool to_server = p.tcp.destination_port == r->port;
    if (!to_server && p.tcp.source_port != r->port) {
        return;
    }
    struct rh_ip_pair ip = to_server ? p.ip : turned(p.ip);
    struct connection *c =
        find(r, &ip, to_server ? p.tcp.source_port : p.tcp.destination_port, &p.tcp);
    take(c, to_server ? RH_TCP_CLIENT : RH_TCP_SERVER, packet->time_ns, &p.tcp);
}

static bool is_whole(const struct connection *c)
{
    for (int side = 0; side < 2; side++) {
        if (c->seen[side].len > 0 && memchr(c->seen[side].data, 0, c->seen[side].len)) {
            return false;
        }
    }
    return !c->bad;
}

static void keep_connections(struct reader *reader, struct wire_recorded *r)
{
    r->talks = rh_calloc(reader->count + 1, sizeof *r->talks);
    for (size_t i = 0; i < reader->count; i++) {
        struct connection *c = &reader->list[i];
        bool whole = is_whole(c);
        bool has_data = c->talk.stream[0].len + c->talk.stream[1].len > 0;
        r->left_out += !whole;
        rh_buf_release(&c->seen[0]);
        rh_buf_release(&c->seen[1]);
        if (whole && has_data && r->count < WIRE_RECORDED_MAX) {
            c->talk.port[RH_TCP_CLIENT] = (uint16_t) (WIRE_RECORDED_PORT + r->count);
            r->talks[r->count++] = c->talk;
        } else {
            wire_talk_release(&c->talk);
        }
    }
    rh_free(reader->list);
}

int wire_recorded_read(struct wire_recorded *r, const char *path, uint16_t port,
                       struct rh_error *err)
{
    struct reader reader = {.port = port};
    struct rh_packet_files *files = rh_packet_files_new(&path, 1);
    struct rh_pcap_packet packet;
    int got;
    *r = (struct wire_recorded){0};
    while ((got = rh_packet_files_next(files, &packet, err)) > 0) {
        take_packet(&reader, &packet);
    }
    rh_packet_files_free(files);
    keep_connections(&reader, r);
    return got;
}

void wire_recorded_copy(struct wire_recorded *to, const struct wire_recorded *from)
{
    *to = (struct wire_recorded){.count = from->count, .left_out = from->left_out};
    to->talks = rh_calloc(from->count + 1, sizeof *to->talks);
    for (size_t i = 0; i < from->count; i++) {
        struct wire_talk *t = &to->talks[i];
        const struct wire_talk *f = &from->talks[i];
        *t = *f;
        t->truth = NULL;
        t->segments = rh_calloc(f->count, sizeof *f->segments);
        memcpy(t->segments, f->segments, f->count * sizeof *f->segments);
        t->cap = f->count;
        for (int side = 0; side < 2; side++) {
            rh_buf_init(&t->stream[side], STREAM_MAX);
            rh_buf_add_span(&t->stream[side], rh_buf_span(&f->stream[side]));
        }
    }
}

void wire_recorded_release(struct wire_recorded *r)
{
    for (size_t i = 0; i < r->count; i++) {
        wire_talk_release(&r->talks[i]);
    }
    rh_free(r->talks);
}
