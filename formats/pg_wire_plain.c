/*
 * formats/pg_wire_plain.c
 *
 * Most answers hold no surprise: all that was asked is one Query, or Bind, Describe and Execute
 * with their Sync, and the answer to it comes in one piece.  Such an answer is looked over whole
 * and then told by the same events in the same order as pg_wire_match.c tells it message by
 * message, for a third of the work.  Whatever differs in any way is left to it.
 */
#include "formats/packet_bytes.h"
#include "formats/pg_wire_private.h"
#include "formats/record.h"

enum {
    HEAD_BYTES = 5,
    ASKED_MAX = 8,
    TAG_BODY_MAX = 1024, /* longer ones are not plain */
};

/* The answer to one of the messages asked. */
struct part {
    uint64_t bytes;
    uint64_t rows;
    struct rh_span tag; /* body of CommandComplete; no data: none */
};

struct walk {
    const char *at;
    const char *end;
    uint64_t messages;
};

/* Pass one message of that type whose length word is in the range. */
static bool pass(struct walk *k, char type, uint32_t length_min, uint32_t length_max,
                 struct rh_span *body)
{
    size_t left = (size_t) (k->end - k->at);
    if (left < HEAD_BYTES || *k->at != type) {
        return false;
    }
    uint32_t length = rh_be32(k->at + 1);
    if (length < length_min || length > length_max || length > left - 1) {
        return false;
    }
    *body = rh_span(k->at + HEAD_BYTES, length - 4);
    k->at += (size_t) length + 1;
    k->messages++;
    return true;
}

/* Rows, and the tag that ends them. */
static bool pass_result(struct walk *k, struct part *part)
{
    struct rh_span body;
    while (pass(k, 'D', 6, INT32_MAX, &body)) {
        part->rows++;
    }
    return pass(k, 'C', 4, TAG_BODY_MAX, &part->tag);
}

static bool pass_description(struct walk *k)
{
    struct rh_span body;
    return pass(k, 'T', 4, INT32_MAX, &body);
}

/* The plain answer to a message of this type. */
static bool pass_answer(struct walk *k, char asked, struct part *part, char *status)
{
    struct rh_span body;
    switch (asked) {
    case 'P':
        return pass(k, '1', 4, 4, &body);
    case 'B':
        return pass(k, '2', 4, 4, &body);
    case 'D':
        return pass_description(k) || pass(k, 'n', 4, 4, &body);
    case 'E':
        return pass_result(k, part);
    case 'Q':
        pass_description(k);
        if (!pass_result(k, part)) {
            return false;
        }
        break;
    case 'S':
        break;
    default:
        return false;
    }
    if (!pass(k, 'Z', 5, 5, &body)) {
        return false;
    }
    *status = body.data[0];
    return *status == 'I' || *status == 'T' || *status == 'E';
}

/* Nothing is under way or in doubt but what stands in the queue. */
static bool may_be_plain(const struct rh_pg_wire *w)
{
    return w->logged_in && !w->back_lost && !w->unsure && !w->skipping && !w->copying &&
           w->queue.count > 0 && w->queue.count <= ASKED_MAX && w->queue.silent == 0 &&
           w->now.first_ns == RH_TIME_UNKNOWN && w->now.sqlstate == 0 &&
           rh_pg_scan_is_between(&w->back);
}

bool rh_pg_wire_take_plain(struct rh_pg_wire *w, struct rh_span bytes)
{
    struct part parts[ASKED_MAX];
    struct walk k = {bytes.data, bytes.data + bytes.len, 0};
    char status = '\0';
    if (!may_be_plain(w)) {
        return false;
    }
    const uint32_t count = w->queue.count;
    for (uint32_t i = 0; i < count; i++) {
        const char *from = k.at;
        parts[i] = (struct part){0};
        /* ReadyForQuery stands at the end, not before. */
        if (status != '\0' ||
            !pass_answer(&k, rh_pg_wire_queue_at(&w->queue, i), &parts[i], &status)) {
            return false;
        }
        parts[i].bytes = (uint64_t) (k.at - from);
    }
    if (status == '\0' || k.at != k.end) {
        return false;
    }
    w->counts.messages[RH_PG_BACKEND] += k.messages;
    w->back.offset += bytes.len;
    w->ready_seen = true;
    for (uint32_t i = 0; i < count; i++) {
        w->now.first_ns = w->time_ns;
        w->now.bytes = (int64_t) parts[i].bytes;
        w->now.rows_since = parts[i].rows;
        rh_pg_wire_settle_plain(w, parts[i].tag, i + 1 < count ? '\0' : status);
    }
    return true;
}
