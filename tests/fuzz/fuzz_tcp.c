/*
 * Segments to streams.  Each five bytes of an input are a segment: side and flags, where it starts,
 * how long it is, what it acknowledges, how much time passed.  Its bytes are those of the stream at
 * that place, so whatever is given must be the stream's bytes from the place where it stands, gaps
 * included.
 */
#include <string.h>

#include "capture/tcp_reassembly.h"
#include "fuzz_target.h"

enum { SEGMENT_BYTES = 5, ISN = 0x7fffff00 };

struct sight {
    bool known[2]; /* where the side stands */
    uint64_t at[2];
    int open;
};

/* Of any place of any stream; a period of 251 tells most places apart. */
static char byte_at(uint64_t offset)
{
    return (char) (offset % 251);
}

static void *sink_open(void *context, const struct rh_tcp_connection_info *info)
{
    struct sight *s = context;
    (void) info;
    rh_fuzz_require(s->open == 0, "one connection at a time");
    s->open = 1;
    s->known[0] = s->known[1] = false;
    return s;
}

static void sink_data(void *connection, enum rh_tcp_side side, int64_t time_ns,
                      struct rh_span bytes)
{
    struct sight *s = connection;
    (void) time_ns;
    rh_fuzz_require(s->open, "data of an open connection");
    for (size_t i = 0; i < bytes.len; i++) {
        if (!s->known[side] && i == 0) {
            s->at[side] = (uint8_t) bytes.data[0];
            s->known[side] = true;
        }
        rh_fuzz_require(bytes.data[i] == byte_at(s->at[side]), "the stream's bytes in their order");
        s->at[side]++;
    }
}

static void sink_gap(void *connection, enum rh_tcp_side side, int64_t time_ns, uint64_t bytes)
{
    struct sight *s = connection;
    (void) time_ns;
    rh_fuzz_require(s->open, "a gap of an open connection");
    s->at[side] += bytes;
    s->known[side] = s->known[side] && bytes != UINT64_MAX;
}

static void sink_close(void *connection, int64_t time_ns, enum rh_tcp_end how)
{
    struct sight *s = connection;
    (void) time_ns;
    (void) how;
    rh_fuzz_require(s->open == 1, "closed once");
    s->open = 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static char stream[65536 + 256];
    struct rh_wire_counts counts = {0};
    struct sight sight = {0};
    struct rh_tcp_sink sink = {sink_open, sink_data, sink_gap, sink_close, &sight};
    struct rh_tcp_options options = rh_tcp_options_default();
    struct rh_ip_pair ip[2] = {{.version = 4, .source = {1}}, {.version = 4, .destination = {1}}};
    options.connection_bytes = 4000;
    for (size_t i = 0; i < sizeof stream; i++) {
        stream[i] = byte_at(i);
    }
    struct rh_tcp_reassembly *r = rh_tcp_reassembly_new(&options, &sink, &counts);
    int64_t time_ns = 1;
    for (; size >= SEGMENT_BYTES; data += SEGMENT_BYTES, size -= SEGMENT_BYTES) {
        enum rh_tcp_side side = data[0] >> 7;
        uint32_t offset = data[1] * 16U;
        bool syn = data[0] & RH_TCP_SYN;
        struct rh_tcp_segment s = {
            .source_port = side ? 5432 : 40000,
            .destination_port = side ? 40000 : 5432,
            .sequence = ISN + (syn ? 0 : 1 + offset),
            .acknowledgement = ISN + 1 + data[3] * 16U,
            .flags = data[0] & (RH_TCP_FIN | RH_TCP_SYN | RH_TCP_RST | RH_TCP_ACK),
            .payload = rh_span(stream + (syn ? 0 : offset), data[2]),
            .cut_bytes = data[0] & 0x20 ? data[2] / 2 : 0,
        };
        time_ns += (int64_t) data[4] * (data[0] & 0x40 ? -30000000 : 30000000);
        rh_tcp_reassembly_segment(r, side, &ip[side], &s, time_ns);
    }
    rh_tcp_reassembly_free(r);
    rh_fuzz_require(sight.open == 0, "all is closed at the end");
    rh_fuzz_require(counts.given_bytes <= counts.payload_bytes, "nothing is invented");
    return 0;
}
