#include "formats/pg_wire.h"

#include <string.h>

#include "formats/pg_frontend.h"
#include "formats/pg_message.h"
#include "formats/pg_wire_private.h"
#include "formats/pg_write.h"
#include "formats/record.h"

enum { TLS_HANDSHAKE = 0x16 };

void rh_pg_wire_init(struct rh_pg_wire *w, bool joined_midway,
                     void (*event)(void *context, const struct rh_pg_wire_event *ev), void *context)
{
    *w = (struct rh_pg_wire){.event = event, .context = context};
    rh_pg_scan_init(&w->front, RH_PG_FRONTEND, RH_PG_WIRE_BODY_MAX);
    rh_pg_scan_init(&w->back, RH_PG_BACKEND, RH_PG_BODY_MAX);
    rh_pg_wire_answer_clear(&w->now);
    w->front.copy_events = true;
    w->front.untyped = !joined_midway;
    w->phase = joined_midway ? RH_PG_WIRE_TALK : RH_PG_WIRE_START;
    w->front_lost = w->back_lost = joined_midway;
    w->fresh[0] = w->fresh[1] = joined_midway;
    w->logged_in = joined_midway;
    w->time_ns = RH_TIME_UNKNOWN;
}

void rh_pg_wire_release(struct rh_pg_wire *w)
{
    rh_pg_scan_release(&w->front);
    rh_pg_scan_release(&w->back);
    rh_pg_wire_queue_release(&w->queue);
}

struct rh_pg_wire_event rh_pg_wire_event_make(const struct rh_pg_wire *w,
                                              enum rh_pg_wire_event_type type)
{
    return (struct rh_pg_wire_event){
        .type = type, .time_ns = w->time_ns, .phase = w->phase, .sqlstate = RH_SQLSTATE_UNKNOWN};
}

static bool is_over(const struct rh_pg_wire *w)
{
    return w->phase > RH_PG_WIRE_TALK;
}

void rh_pg_wire_enter(struct rh_pg_wire *w, enum rh_pg_wire_phase phase)
{
    w->phase = phase;
    if (is_over(w)) {
        rh_pg_wire_give_up(w);
        struct rh_pg_wire_event ev = rh_pg_wire_event_make(w, RH_PG_WIRE_ON_PHASE);
        w->event(w->context, &ev);
        /* Nothing more is kept of it. */
        rh_pg_wire_release(w);
    }
}

static void tell_body(struct rh_pg_wire *w, enum rh_pg_wire_event_type type, struct rh_span body)
{
    struct rh_pg_wire_event ev = rh_pg_wire_event_make(w, type);
    ev.body = body;
    w->event(w->context, &ev);
}

/* What the server takes for true (bool.c), and "database". */
static bool asks_replication(struct rh_span body)
{
    struct rh_span rest = rh_pg_startup_rest(body);
    struct rh_span name;
    struct rh_span value;
    while (rh_pg_startup_next(&rest, &name, &value)) {
        if (rh_span_is(name, "replication")) {
            return value.len > 0 && !rh_span_is(value, "false") && !rh_span_is(value, "off") &&
                   !rh_span_is(value, "no") && !rh_span_is(value, "0");
        }
    }
    return false;
}

static void take_untyped(struct rh_pg_wire *w, struct rh_span body)
{
    uint32_t code = rh_pg_untyped_code(body);
    if (code == RH_PG_CODE_SSL) {
        w->phase = RH_PG_WIRE_SSL_ASKED;
    } else if (code == RH_PG_CODE_GSS) {
        w->phase = RH_PG_WIRE_GSS_ASKED;
    } else if (code == RH_PG_CODE_CANCEL) {
        tell_body(w, RH_PG_WIRE_ON_CANCEL, body);
        rh_pg_wire_enter(w, RH_PG_WIRE_CANCEL);
    } else if (code >> 16 != RH_PG_PROTOCOL_MAJOR) {
        rh_pg_wire_enter(w, RH_PG_WIRE_FOREIGN);
    } else {
        w->phase = RH_PG_WIRE_TALK;
        rh_pg_wire_queue_push(&w->queue, RH_PG_UNTYPED);
        tell_body(w, RH_PG_WIRE_ON_STARTUP, body);
        if (asks_replication(body)) {
            rh_pg_wire_enter(w, RH_PG_WIRE_REPLICATION);
        }
    }
}

char rh_pg_wire_queue_type(char type, struct rh_span body)
{
    bool statement = body.len > 0 && body.data[0] == RH_PG_STATEMENT;
    if (type == 'D') {
        return statement ? 't' : 'D';
    }
    if (type == 'C') {
        return statement ? 'C' : 'p';
    }
    return type;
}

static bool is_known_message(char type)
{
    switch (type) {
    case 'Q':
    case 'P':
    case 'B':
    case 'D':
    case 'E':
    case 'C':
    case 'F':
    case 'S':
    case 'H':
    case 'd':
    case 'c':
    case 'f':
    case 'X':
        return true;
    default:
        return false;
    }
}

static void take_front(struct rh_pg_wire *w, const struct rh_pg_event *e)
{
    w->counts.messages[RH_PG_FRONTEND]++;
    if (e->type == RH_PG_UNTYPED) {
        take_untyped(w, e->body);
        return;
    }
    if (e->type == 'p') {
        return; /* a password or its kin */
    }
    if (!is_known_message(e->type)) {
        w->counts.unknown++;
        return;
    }
    struct rh_pg_wire_event ev = rh_pg_wire_event_make(w, RH_PG_WIRE_ON_MESSAGE);
    ev.message = rh_pg_wire_queue_type(e->type, e->body);
    ev.serial = w->queue.next_serial;
    ev.awaits = rh_pg_wire_queue_awaits(&w->queue);
    ev.body = e->body;
    ev.body_cut = e->body_cut;
    ev.copying = w->copying && !w->copy_closed;
    w->event(w->context, &ev);
    if (e->type != 'H' && e->type != 'd' && e->type != 'X') {
        rh_pg_wire_ask(w, ev.message);
    }
}

static void take_back(struct rh_pg_wire *w, const struct rh_pg_event *e)
{
    w->counts.messages[RH_PG_BACKEND] += e->rows + e->copies + (e->type != '\0');
    if (e->type == 'R' && e->body.len >= 4 && memcmp(e->body.data, "\0\0\0\0", 4) == 0) {
        w->logged_in = true;
        tell_body(w, RH_PG_WIRE_ON_LOGIN, RH_SPAN_NONE);
    } else if (e->type == 'K') {
        tell_body(w, RH_PG_WIRE_ON_KEY, e->body);
    } else if (e->type == 'S') {
        tell_body(w, RH_PG_WIRE_ON_PARAMETER, e->body);
    } else if (e->type == 'Z') {
        w->ready_seen = true;
    } else if (e->type == 'W') {
        rh_pg_wire_enter(w, RH_PG_WIRE_REPLICATION);
        return;
    }
    rh_pg_wire_answer(w, e);
}

void rh_pg_wire_note_rest(struct rh_pg_wire *w)
{
    bool in_step = w->ready_seen && w->queue.count == 0 && !w->just_found;
    w->unsure = w->unsure && !in_step;
    w->ready_seen = w->just_found = false;
}

/* One event further in *bytes; false when the stream is out of step or nothing more is looked at.
 */
static bool scan_on(struct rh_pg_wire *w, enum rh_pg_side side, struct rh_span *bytes)
{
    struct rh_pg_event e;
    struct rh_pg_scan *scan = side == RH_PG_FRONTEND ? &w->front : &w->back;
    ptrdiff_t used = rh_pg_scan_next(scan, bytes->data, bytes->len, &e, NULL);
    if (side == RH_PG_BACKEND) {
        take_back(w, &e);
    } else if (used >= 0) {
        rh_pg_wire_note_rest(w);
        if (e.type) {
            take_front(w, &e);
        }
    }
    if (is_over(w)) {
        return false;
    }
    if (used >= 0) {
        bytes->data += used;
        bytes->len -= (size_t) used;
        return true;
    }
    if (w->phase != RH_PG_WIRE_TALK ||
        (side == RH_PG_BACKEND && !w->logged_in && w->counts.messages[RH_PG_BACKEND] == 0)) {
        rh_pg_wire_enter(w, RH_PG_WIRE_FOREIGN);
        return false;
    }
    rh_pg_wire_lose(w, side, RH_PG_WIRE_LOSS_NOT_UNDERSTOOD, bytes->len);
    return false;
}

/* The client before its startup message. */
static bool begin_front(struct rh_pg_wire *w, struct rh_span bytes)
{
    bool between = w->front.head_len <= 1 && w->front.type == '\0';
    if (between && bytes.data[0] == TLS_HANDSHAKE) {
        rh_pg_wire_enter(w, RH_PG_WIRE_ENCRYPTED);
        return false;
    }
    if (w->phase != RH_PG_WIRE_START) {
        /* It goes on without waiting, or the answer was not captured. */
        w->phase = RH_PG_WIRE_START;
        w->front.untyped = true;
    }
    return true;
}

static void front_data(struct rh_pg_wire *w, struct rh_span bytes)
{
    while (bytes.len > 0) {
        if (w->phase < RH_PG_WIRE_TALK && !begin_front(w, bytes)) {
            return;
        }
        if (w->front_lost && !rh_pg_wire_find_front(w, bytes)) {
            return;
        }
        if (!scan_on(w, RH_PG_FRONTEND, &bytes)) {
            return;
        }
    }
}

/* The one byte that answers a request for encryption; false when nothing is left to look at. */
static bool begin_back(struct rh_pg_wire *w, struct rh_span *bytes)
{
    char yes = w->phase == RH_PG_WIRE_SSL_ASKED ? 'S' : 'G';
    if (w->phase == RH_PG_WIRE_START) {
        /* A server that speaks first, or to half a startup message. */
        if (bytes->data[0] != 'E') {
            rh_pg_wire_enter(w, RH_PG_WIRE_FOREIGN);
            return false;
        }
    } else if (bytes->data[0] == yes) {
        rh_pg_wire_enter(w, RH_PG_WIRE_ENCRYPTED);
        return false;
    } else if (bytes->data[0] == 'N') {
        w->phase = RH_PG_WIRE_START;
        w->front.untyped = true;
        bytes->data++;
        bytes->len--;
        return true;
    } else if (bytes->data[0] != 'E') {
        rh_pg_wire_enter(w, RH_PG_WIRE_FOREIGN);
        return false;
    }
    w->phase = RH_PG_WIRE_TALK; /* an ErrorResponse in place of the answer */
    return true;
}

static void back_data(struct rh_pg_wire *w, struct rh_span bytes)
{
    while (bytes.len > 0) {
        if (w->phase < RH_PG_WIRE_TALK) {
            if (!begin_back(w, &bytes)) {
                return;
            }
            continue; /* what stands behind a refusal is judged like the first byte of all */
        }
        if (w->back_lost && !rh_pg_wire_find_back(w, &bytes)) {
            return;
        }
        if (!scan_on(w, RH_PG_BACKEND, &bytes)) {
            return;
        }
    }
}

void rh_pg_wire_data(struct rh_pg_wire *w, enum rh_pg_side side, int64_t time_ns,
                     struct rh_span bytes)
{
    if (time_ns > w->time_ns) {
        w->time_ns = time_ns;
    }
    if (is_over(w) || bytes.len == 0) {
        return;
    }
    w->overheard = true;
    if (side == RH_PG_FRONTEND) {
        if (!rh_pg_wire_take_asked(w, bytes)) {
            front_data(w, bytes);
        }
    } else if (!rh_pg_wire_take_plain(w, bytes)) {
        back_data(w, bytes);
    }
}

void rh_pg_wire_gap(struct rh_pg_wire *w, enum rh_pg_side side, int64_t time_ns, uint64_t bytes)
{
    struct rh_pg_event e;
    struct rh_pg_scan *scan = side == RH_PG_FRONTEND ? &w->front : &w->back;
    bool *lost = side == RH_PG_FRONTEND ? &w->front_lost : &w->back_lost;
    if (time_ns > w->time_ns) {
        w->time_ns = time_ns;
    }
    if (is_over(w) || bytes == 0) {
        return;
    }
    if (w->phase < RH_PG_WIRE_TALK) {
        /* Who it is will never be known: as a session that was joined midway. */
        w->phase = RH_PG_WIRE_TALK;
        w->logged_in = true;
        rh_pg_wire_lose(w, RH_PG_FRONTEND, RH_PG_WIRE_LOSS_GAP, bytes);
        rh_pg_wire_lose(w, RH_PG_BACKEND, RH_PG_WIRE_LOSS_GAP, 0);
    } else if (!*lost && rh_pg_scan_skip(scan, bytes, &e)) {
        rh_pg_wire_lose(w, side, RH_PG_WIRE_LOSS_BODY, bytes);
        if (side == RH_PG_BACKEND) {
            take_back(w, &e);
        } else if (e.type) {
            take_front(w, &e);
        }
    } else {
        rh_pg_wire_lose(w, side, RH_PG_WIRE_LOSS_GAP, bytes);
    }
}

void rh_pg_wire_close(struct rh_pg_wire *w, int64_t time_ns)
{
    if (time_ns > w->time_ns) {
        w->time_ns = time_ns;
    }
    for (int side = 0; side < 2 && !is_over(w); side++) {
        if (w->passed[side] > 0) {
            rh_pg_wire_lose(w, (enum rh_pg_side) side, RH_PG_WIRE_LOSS_PASSED, w->passed[side]);
            w->passed[side] = 0;
        }
    }
    rh_pg_wire_give_up(w);
}

size_t rh_pg_wire_bytes(const struct rh_pg_wire *w)
{
    return w->front.body.cap + w->back.body.cap + w->queue.cap;
}

void rh_pg_wire_spare(struct rh_pg_wire *w)
{
    w->front.body_hole = w->front.type != '\0';
}
