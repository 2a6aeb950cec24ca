/*
 * The protocol as seen from the outside, from connections to records.  The first byte of an input
 * says whether the connection was joined midway and how its pieces are cut; then turns follow: a
 * byte (1: of the server, 2: missing, a length in its upper six bits) and the bytes.  Cut in pieces
 * or by turns, a connection of which nothing is missing gives the same records.
 */
#include <string.h>

#include "capture/wire_session.h"
#include "fuzz_target.h"

struct sight {
    uint64_t hash;
    uint64_t records;
    uint64_t gaps;
    uint64_t ordinal[2];
};

static void mix(struct sight *s, const void *data, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        s->hash = (s->hash ^ ((const uint8_t *) data)[i]) * UINT64_C(1099511628211);
    }
}

static void mix_span(struct sight *s, struct rh_span span)
{
    mix(s, &span.len, sizeof span.len);
    mix(s, span.data, span.len);
}

static int take_session(void *context, const struct rh_session *session, struct rh_error *err)
{
    (void) err;
    mix_span(context, session->user);
    rh_fuzz_require(session->number == 1, "one connection is one session");
    return 0;
}

static int take_record(void *context, const struct rh_record *r, struct rh_error *err)
{
    (void) err;
    struct sight *s = context;
    s->records++;
    s->gaps += r->kind == RH_KIND_GAP;
    mix(s, &r->kind, sizeof r->kind);
    mix(s, &r->ordinal, sizeof r->ordinal);
    mix(s, &r->outcome.sqlstate, sizeof r->outcome.sqlstate);
    mix(s, &r->outcome.rows, sizeof r->outcome.rows);
    mix_span(s, r->text);
    mix_span(s, r->statement_name);
    mix_span(s, r->portal_name);
    mix_span(s, r->steps);
    if (r->kind != RH_KIND_GAP) {
        mix_span(s, r->detail);
    }
    for (uint32_t i = 0; i < r->param_count; i++) {
        mix_span(s, rh_span(r->params[i].data, r->params[i].data ? r->params[i].len : 0));
    }
    if (rh_kind_has_ordinal(r->kind)) {
        rh_fuzz_require(r->ordinal == s->ordinal[0] + 1, "ordinals are without holes");
        s->ordinal[0] = r->ordinal;
    }
    return 0;
}

static void take_end(void *context, uint32_t number)
{
    (void) context;
    (void) number;
}

/* True if nothing was missing. */
static bool play(struct sight *s, const uint8_t *data, size_t size, bool midway, size_t piece)
{
    const struct rh_capture_sink sink = {s, take_session, take_record, take_end};
    const struct rh_wire_limits limits = {.session_bytes = 64 * 1024, .names_bytes = 1024};
    struct rh_tcp_sink tcp;
    struct rh_tcp_connection_info info = {.opened_ns = 1, .joined_midway = midway};
    bool whole = true;
    memset(s, 0, sizeof *s);
    struct rh_wire_capture *c = rh_wire_capture_new(&sink, &limits);
    rh_wire_capture_tcp_sink(c, &tcp);
    void *connection = tcp.open(tcp.context, &info);
    int64_t now_ns = 1;
    for (size_t at = 0; at < size;) {
        uint8_t op = data[at++];
        size_t n = (size_t) (op >> 2) < size - at ? (size_t) (op >> 2) : size - at;
        enum rh_tcp_side side = op & 1 ? RH_TCP_SERVER : RH_TCP_CLIENT;
        now_ns++;
        if (op & 2) {
            tcp.gap(connection, side, now_ns, n ? n : UINT64_MAX);
            whole = false;
        }
        for (size_t end = at + n; at < end;) {
            size_t part = piece && piece < end - at ? piece : end - at;
            if (!(op & 2)) {
                tcp.data(connection, side, now_ns, rh_span((const char *) data + at, part));
            }
            at += part;
        }
    }
    tcp.close(connection, now_ns + 1, RH_TCP_END_FIN);
    rh_fuzz_require(rh_wire_capture_finish(c, now_ns + 2, NULL) == 0, "the sink takes all");
    rh_fuzz_require(c->waiting_bytes == 0, "nothing is left behind");
    rh_fuzz_require(c->keys.count == 0, "no key is left behind");
    rh_fuzz_require(c->names_room.bytes == 0, "no statement is left behind");
    const struct rh_wire_capture_counts *counts = rh_wire_capture_counts(c);
    /* Where the stream was given up for what it holds, the pieces decide how much is passed over.
     */
    whole = whole && counts->bytes_lost == 0 && counts->written_early == 0;
    rh_wire_capture_free(c);
    return whole;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct sight whole;
    struct sight cut;
    if (size < 2) {
        return 0;
    }
    bool midway = data[0] & 1;
    bool is_whole = play(&whole, data + 1, size - 1, midway, 0);
    bool cut_is_whole = play(&cut, data + 1, size - 1, midway, 1U + (data[0] >> 1) % 8);
    if (is_whole && cut_is_whole && !midway) {
        rh_fuzz_require(memcmp(&whole, &cut, sizeof whole) == 0, "pieces give the same records");
    }
    return 0;
}
