/*
 * formats/pg_wire_lost.c
 *
 * Losing a side of the stream and finding it again.
 */
#include <string.h>

#include "formats/packet_bytes.h"
#include "formats/pg_frontend.h"
#include "formats/pg_wire_private.h"

enum {
    HEAD_BYTES = 5,
    READY_BYTES = 6, /* ReadyForQuery with its head */
    /* Where a message is only believed to begin, a longer one is more likely text. */
    LENGTH_BELIEVED_MAX = RH_PG_WIRE_BODY_MAX,
    SMALL_MAX = 10000, /* libpq/libpq.h, PQ_SMALL_MESSAGE_LIMIT */
};

void rh_pg_wire_lose(struct rh_pg_wire *w, enum rh_pg_side side, enum rh_pg_wire_loss loss,
                     uint64_t bytes)
{
    struct rh_pg_wire_event ev = rh_pg_wire_event_make(w, RH_PG_WIRE_ON_LOSS);
    ev.side = side;
    ev.loss = loss;
    ev.bytes = bytes;
    w->event(w->context, &ev);
    if (loss == RH_PG_WIRE_LOSS_BODY || loss == RH_PG_WIRE_LOSS_PASSED) {
        return;
    }
    if (side == RH_PG_FRONTEND) {
        w->front_lost = true;
        w->ready_seen = false;
        rh_pg_scan_restart(&w->front);
    } else {
        w->back_lost = true;
        memset(w->tail, 0, sizeof w->tail);
        rh_pg_scan_restart(&w->back);
    }
    w->fresh[side] = false;
}

static void found(struct rh_pg_wire *w, enum rh_pg_side side)
{
    bool *lost = side == RH_PG_FRONTEND ? &w->front_lost : &w->back_lost;
    *lost = false;
    w->fresh[side] = false;
    if (side == RH_PG_FRONTEND) {
        /* Found within a pipeline, the first answers are those of messages that were not seen. They
         * may fit what was, so that no first answer is believed. */
        w->unsure = w->just_found = true;
        w->unsure_once = false;
    }
    if (w->passed[side] > 0) {
        rh_pg_wire_lose(w, side, RH_PG_WIRE_LOSS_PASSED, w->passed[side]);
        w->passed[side] = 0;
    }
}

/* Whether a message of the client can have this head: the server's own limits (postgres.c,
 * SocketBackend()), and what fits in memory. */
static bool front_head_is_plausible(char type, uint32_t length)
{
    switch (type) {
    case 'S':
    case 'H':
    case 'X':
    case 'c':
        return length == 4;
    case 'Q':
    case 'F':
    case 'P':
    case 'B':
    case 'd':
        return length >= 4 && length <= LENGTH_BELIEVED_MAX;
    case 'C':
    case 'D':
        return length >= 6 && length <= SMALL_MAX;
    case 'E':
        return length >= 9 && length <= SMALL_MAX;
    case 'f':
        return length >= 5 && length <= SMALL_MAX;
    default:
        return false;
    }
}

static bool front_body_is_right(char type, struct rh_span body)
{
    struct rh_span a;
    struct rh_pg_parse parse;
    struct rh_pg_bound bound;
    struct rh_pg_call call;
    int32_t limit;
    char object;
    switch (type) {
    case 'Q':
        return rh_pg_query_decode(body, &a) == 0;
    case 'P':
        return rh_pg_parse_decode(body, &parse) == 0;
    case 'B':
        return rh_pg_bind_decode(body, &bound) == 0;
    case 'F':
        return rh_pg_call_decode(body, &call) == 0;
    case 'E':
        return rh_pg_execute_decode(body, &a, &limit) == 0;
    case 'C':
    case 'D':
        return rh_pg_target_decode(body, &object, &a) == 0;
    default:
        return true;
    }
}

/* Messages one behind the other, all plausible.  `whole`: and the last one ends with the bytes. */
static bool front_chain_is_plausible(struct rh_span bytes, bool whole)
{
    if (bytes.len < HEAD_BYTES) {
        return false;
    }
    while (bytes.len >= HEAD_BYTES) {
        char type = bytes.data[0];
        uint32_t length = rh_be32(bytes.data + 1);
        if (!front_head_is_plausible(type, length)) {
            return false;
        }
        if (length > bytes.len - 1) {
            return !whole;
        }
        if (!front_body_is_right(type, rh_span(bytes.data + HEAD_BYTES, length - 4))) {
            return false;
        }
        bytes.data += 1 + (size_t) length;
        bytes.len -= 1 + (size_t) length;
    }
    return !whole || bytes.len == 0;
}

/* TLS records: content type and major version. */
static bool is_tls(struct rh_span bytes)
{
    return bytes.len >= 3 && bytes.data[0] >= 0x14 && bytes.data[0] <= 0x17 &&
           bytes.data[1] == 0x03 && (uint8_t) bytes.data[2] <= 0x04;
}

bool rh_pg_wire_find_front(struct rh_pg_wire *w, struct rh_span bytes)
{
    bool fresh = w->fresh[RH_PG_FRONTEND];
    if (fresh && is_tls(bytes)) {
        rh_pg_wire_enter(w, RH_PG_WIRE_ENCRYPTED);
        return false;
    }
    w->fresh[RH_PG_FRONTEND] = false;
    if ((w->ready_seen || fresh) && front_chain_is_plausible(bytes, !w->ready_seen)) {
        found(w, RH_PG_FRONTEND);
        return true;
    }
    w->ready_seen = false;
    w->passed[RH_PG_FRONTEND] += bytes.len;
    return false;
}

static bool is_ready(const uint8_t *at)
{
    return memcmp(at, "Z\0\0\0\5", 5) == 0 && (at[5] == 'I' || at[5] == 'T' || at[5] == 'E');
}

/* The first bytes of an answer: only types that begin one. */
static bool back_is_plausible(struct rh_span bytes)
{
    if (bytes.len < HEAD_BYTES || !memchr("12CDTEIGHtn3sNAS", bytes.data[0], 16)) {
        return false;
    }
    uint32_t length = rh_be32(bytes.data + 1);
    return length >= 4 && length <= LENGTH_BELIEVED_MAX;
}

bool rh_pg_wire_find_back(struct rh_pg_wire *w, struct rh_span *bytes)
{
    bool fresh = w->fresh[RH_PG_BACKEND];
    if (fresh && is_tls(*bytes)) {
        rh_pg_wire_enter(w, RH_PG_WIRE_ENCRYPTED);
        return false;
    }
    w->fresh[RH_PG_BACKEND] = false;
    if (fresh && !w->front_lost && w->queue.count > 0 && back_is_plausible(*bytes)) {
        found(w, RH_PG_BACKEND);
        return true;
    }
    size_t n = bytes->len < READY_BYTES ? bytes->len : READY_BYTES;
    memmove(w->tail, w->tail + n, READY_BYTES - n);
    memcpy(w->tail + READY_BYTES - n, bytes->data + bytes->len - n, n);
    w->passed[RH_PG_BACKEND] += bytes->len;
    if (!is_ready(w->tail)) {
        return false;
    }
    /* The ReadyForQuery itself is read as a message: it settles what can be settled. */
    w->passed[RH_PG_BACKEND] -= READY_BYTES;
    found(w, RH_PG_BACKEND);
    bool one = rh_pg_wire_groups(w) <= 1;
    w->unsure_once = one && (!w->unsure || w->unsure_once);
    w->unsure = true;
    if (!one) {
        rh_pg_wire_give_up(w); /* which of them it ends cannot be told */
    }
    *bytes = rh_span((const char *) w->tail, READY_BYTES);
    return true;
}
