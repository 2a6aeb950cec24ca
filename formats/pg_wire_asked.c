/*
 * formats/pg_wire_asked.c
 *
 * What a client asks comes in one piece in most cases: a Query, or Bind, Describe and Execute with
 * their Sync.  Such a piece is looked over whole, and then told by the same events in the same
 * order as message by message (pg_wire.c, take_front()), without the scanner between them. Whatever
 * differs in any way is left to it, before anything is told.
 */
#include "formats/packet_bytes.h"
#include "formats/pg_wire_private.h"

enum {
    HEAD_BYTES = 5,
    ASKED_MAX = 8,
    LENGTH_SHORT = 4096, /* of Describe and Execute; longer names are not plain */
};

struct asked {
    char type;
    struct rh_span body;
};

/* Types that are asked in plain requests, and lengths that they surely may have. */
static bool is_plain(char type, uint32_t length)
{
    switch (type) {
    case 'Q':
    case 'P':
    case 'B':
        return length >= 4;
    case 'D':
    case 'E':
        return length >= 4 && length <= LENGTH_SHORT;
    case 'S':
        return length == 4;
    default:
        return false;
    }
}

/* The whole messages that the bytes are; 0: they are something else too, or more. */
static uint32_t split(struct rh_span bytes, struct asked asked[ASKED_MAX])
{
    uint32_t count = 0;
    while (bytes.len > 0) {
        if (count == ASKED_MAX || bytes.len < HEAD_BYTES) {
            return 0;
        }
        char type = bytes.data[0];
        uint32_t length = rh_be32(bytes.data + 1);
        if (length > bytes.len - 1 || !is_plain(type, length)) {
            return 0;
        }
        asked[count++] = (struct asked){type, rh_span(bytes.data + HEAD_BYTES, length - 4)};
        bytes = rh_span_behind(bytes, (size_t) length + 1);
    }
    return count;
}

/* Each message means what its type says, and nothing of an earlier one is under way. */
static bool may_be_plain(const struct rh_pg_wire *w, struct rh_span bytes)
{
    return w->phase == RH_PG_WIRE_TALK && !w->front_lost && !w->skipping && !w->copying &&
           rh_pg_scan_is_between(&w->front) && w->front.body.len == 0 &&
           bytes.len <= RH_PG_WIRE_BODY_MAX;
}

bool rh_pg_wire_take_asked(struct rh_pg_wire *w, struct rh_span bytes)
{
    struct asked asked[ASKED_MAX];
    uint32_t count = may_be_plain(w, bytes) ? split(bytes, asked) : 0;
    if (count == 0) {
        return false;
    }
    rh_pg_wire_note_rest(w);
    w->counts.messages[RH_PG_FRONTEND] += count;
    w->front.offset += bytes.len;
    struct rh_pg_wire_event ev = rh_pg_wire_event_make(w, RH_PG_WIRE_ON_MESSAGE);
    for (uint32_t i = 0; i < count; i++) {
        ev.message = rh_pg_wire_queue_type(asked[i].type, asked[i].body);
        ev.serial = w->queue.next_serial;
        ev.awaits = rh_pg_wire_queue_awaits(&w->queue);
        ev.body = asked[i].body;
        w->event(w->context, &ev);
        rh_pg_wire_ask(w, ev.message);
    }
    return true;
}
