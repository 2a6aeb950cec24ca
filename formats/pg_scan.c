#include "formats/pg_scan.h"

#include <string.h>

#include "formats/packet_bytes.h"

/* A body that came in pieces leaves its memory behind for the next one, up to this much. */
enum { BODY_KEEP = 4096 };

/*
 * How long the length word of a message may be.  Types that always have the same length, and those
 * that the server keeps short, catch a stream that is out of step at its first wrong message.
 */
enum { LENGTH_ANY = 0x7fffffff, LENGTH_SHORT = 30000 };

static uint32_t backend_length_max(char type)
{
    switch (type) {
    case 'D': /* DataRow */
    case 'd': /* CopyData */
    case 'T': /* RowDescription */
    case 'E': /* ErrorResponse */
    case 'N': /* NoticeResponse */
    case 'A': /* NotificationResponse */
    case 'V': /* FunctionCallResponse */
    case 'R': /* Authentication */
    case 'S': /* ParameterStatus */
        return LENGTH_ANY;
    case 't': /* ParameterDescription: 65,535 OIDs */
        return 4 + 2 + 4 * 65535;
    case 'G': /* CopyInResponse and its kin: 65,535 formats */
    case 'H':
    case 'W':
        return 4 + 1 + 2 + 2 * 65535;
    case 'K': /* BackendKeyData */
        return 4 + 4 + 256;
    case 'Z': /* ReadyForQuery */
        return 5;
    case '1': /* ParseComplete, BindComplete, CloseComplete, CopyDone, EmptyQueryResponse, NoData,
               */
    case '2': /* PortalSuspended */
    case '3':
    case 'c':
    case 'I':
    case 'n':
    case 's':
        return 4;
    default: /* CommandComplete, NegotiateProtocolVersion, and what later versions bring */
        return LENGTH_SHORT;
    }
}

static uint32_t frontend_length_max(char type)
{
    switch (type) {
    case 'Q': /* Query, FunctionCall, Bind, Parse, CopyData: postgres.c, SocketBackend() */
    case 'F':
    case 'B':
    case 'P':
    case 'd':
        return LENGTH_ANY;
    case 'p': /* PasswordMessage and its kin: auth.c takes up to 65,535 */
        return 65535;
    case 'H':
    case 'S':
    case 'X':
    case 'c':
        return 4;
    case RH_PG_UNTYPED: /* postmaster.c, MAX_STARTUP_PACKET_LENGTH */
        return 10000 + 4;
    default:
        return LENGTH_SHORT;
    }
}

static uint32_t length_min(const struct rh_pg_scan *s, char type)
{
    if (type == RH_PG_UNTYPED) {
        return 8;
    }
    if (s->side == RH_PG_BACKEND) {
        return type == 'D' ? 6 : type == 'Z' ? 5 : 4;
    }
    return 4;
}

static bool type_is_possible(char type)
{
    return (type >= 'A' && type <= 'Z') || (type >= 'a' && type <= 'z') ||
           (type >= '0' && type <= '9');
}

void rh_pg_scan_init(struct rh_pg_scan *s, enum rh_pg_side side, size_t body_max)
{
    *s = (struct rh_pg_scan){.side = side};
    rh_buf_init(&s->body, body_max);
}

void rh_pg_scan_release(struct rh_pg_scan *s)
{
    rh_buf_release(&s->body);
}

static bool head_is_possible(const struct rh_pg_scan *s, char type, uint32_t length)
{
    bool known = type == RH_PG_UNTYPED ? s->untyped : type_is_possible(type);
    uint32_t max = s->side == RH_PG_BACKEND ? backend_length_max(type) : frontend_length_max(type);
    return known && length >= length_min(s, type) && length <= max;
}

static int scan_bad_type(struct rh_pg_scan *s, struct rh_error *err)
{
    s->bad = true;
    return rh_error_set(err, RH_ERR_FORMAT,
                        "no message of the protocol has the type byte 0x%02x (byte %llu of the "
                        "stream)",
                        s->head[0], (unsigned long long) s->begin);
}

static int scan_bad_length(struct rh_pg_scan *s, struct rh_error *err)
{
    s->bad = true;
    return rh_error_set(err, RH_ERR_FORMAT,
                        "a message of type '%c' cannot have the length %lu (byte %llu of the "
                        "stream)",
                        s->head[0], (unsigned long) rh_be32((const char *) s->head + 1),
                        (unsigned long long) s->begin);
}

/* How much of a body of this message is kept. */
static size_t body_keep(const struct rh_pg_scan *s, char type, uint32_t body_len)
{
    if (s->side == RH_PG_BACKEND && type == 'T') {
        return 0;
    }
    return body_len < s->body.max ? body_len : s->body.max;
}

static bool is_data(const struct rh_pg_scan *s, char type)
{
    return (type == 'd' && !s->copy_events) || (type == 'D' && s->side == RH_PG_BACKEND);
}

static void data_count(struct rh_pg_event *ev, char type, uint64_t bytes, bool ended)
{
    if (type == 'D') {
        ev->row_bytes += bytes;
        ev->rows += ended;
    } else {
        ev->copy_bytes += bytes;
        ev->copies += ended;
    }
}

/*
 * Messages that are wholly in the input.  This is where a large result spends its time: one header
 * is read for each row and nothing else.  Returns the bytes used; stops at a message that is not
 * whole, at an event (ev->type), or at one that cannot be (scan_head() says so).
 */
static size_t scan_whole(struct rh_pg_scan *s, const char *data, size_t n, struct rh_pg_event *ev)
{
    const char *at = data;
    const char *end = data + n;
    const bool rows = s->side == RH_PG_BACKEND;
    const bool copies = !s->copy_events;
    while (end - at >= 5) {
        char type = *at;
        uint32_t length = rh_be32(at + 1);
        size_t left = (size_t) (end - at) - 1;
        if (length > left) {
            break;
        }
        if (type == 'D' && rows && length >= 6) {
            ev->rows++;
            ev->row_bytes += (uint64_t) length + 1;
        } else if (type == 'd' && copies && length >= 4) {
            ev->copies++;
            ev->copy_bytes += (uint64_t) length + 1;
        } else {
            if (!head_is_possible(s, type, length)) {
                break;
            }
            uint32_t body_len = length - 4;
            size_t keep = body_keep(s, type, body_len);
            ev->type = type;
            ev->length = body_len;
            ev->body = rh_span(at + 5, keep);
            ev->body_cut = keep < body_len;
            return (size_t) (at - data) + 5 + body_len;
        }
        at += (size_t) length + 1;
    }
    return (size_t) (at - data);
}

/* Collect the head of a message that is not whole.  1: it is complete, 0: more is needed, -1 bad.
 */
static int scan_head(struct rh_pg_scan *s, const char **at, const char *end, struct rh_error *err)
{
    if (s->head_len == 0) {
        s->begin = s->offset;
        if (s->untyped) {
            s->head[s->head_len++] =
                RH_PG_UNTYPED; /* so that the length word is where it always is */
        }
    }
    while (s->head_len < sizeof s->head && *at < end) {
        s->head[s->head_len++] = (uint8_t) * (*at)++;
    }
    if (s->head_len > 0 && !s->untyped && !type_is_possible((char) s->head[0])) {
        return scan_bad_type(s, err);
    }
    if (s->head_len < sizeof s->head) {
        return 0;
    }
    uint32_t length = rh_be32((const char *) s->head + 1);
    if (!head_is_possible(s, (char) s->head[0], length)) {
        return scan_bad_length(s, err);
    }
    s->type = (char) s->head[0];
    s->body_len = length - 4;
    s->body_left = s->body_len;
    s->body_hole = false;
    s->head_len = 0;
    s->untyped = false;
    return 1;
}

/* Go on with the body of the message under way; true when it ended with this input. */
static bool scan_body(struct rh_pg_scan *s, const char **at, const char *end,
                      struct rh_pg_event *ev)
{
    size_t take = (size_t) (end - *at) < s->body_left ? (size_t) (end - *at) : s->body_left;
    if (!is_data(s, s->type) && !s->body_hole) {
        size_t keep = body_keep(s, s->type, s->body_len) - s->body.len;
        rh_buf_add(&s->body, *at, take < keep ? take : keep);
    }
    *at += take;
    s->body_left -= (uint32_t) take;
    if (is_data(s, s->type)) {
        data_count(ev, s->type, take, s->body_left == 0);
    }
    return s->body_left == 0;
}

/* The message under way ended: an event, unless it was data. */
static void scan_ended(struct rh_pg_scan *s, struct rh_pg_event *ev)
{
    if (!is_data(s, s->type)) {
        ev->type = s->type;
        ev->length = s->body_len;
        ev->body = rh_buf_span(&s->body);
        ev->body_cut = s->body.len < s->body_len;
    }
    s->type = 0;
}

static void body_reset(struct rh_pg_scan *s)
{
    if (s->type == 0 && s->body.len > 0) {
        if (s->body.cap > BODY_KEEP) {
            rh_buf_release(&s->body);
        }
        rh_buf_clear(&s->body);
    }
}

/* Go on, at any byte of a message, to its end or the input's. */
static int scan_pieces(struct rh_pg_scan *s, const char **at, const char *end,
                       struct rh_pg_event *ev, struct rh_error *err)
{
    if (s->type == 0) {
        int complete = scan_head(s, at, end, err);
        if (complete <= 0) {
            return complete;
        }
        if (is_data(s, s->type)) {
            data_count(ev, s->type, sizeof s->head, false);
        }
    }
    if (scan_body(s, at, end, ev)) {
        scan_ended(s, ev);
    }
    return 0;
}

ptrdiff_t rh_pg_scan_next(struct rh_pg_scan *s, const char *data, size_t n, struct rh_pg_event *ev,
                          struct rh_error *err)
{
    *ev = (struct rh_pg_event){0};
    if (s->bad) {
        return rh_error_set(err, RH_ERR_FORMAT,
                            "the protocol stream is out of step since its byte %llu",
                            (unsigned long long) s->offset);
    }
    body_reset(s);
    const char *at = data;
    const char *end = data + n;
    while (at < end && ev->type == 0) {
        if (s->type == 0 && s->head_len == 0 && !s->untyped) {
            size_t used = scan_whole(s, at, (size_t) (end - at), ev);
            at += used;
            s->offset += used;
            if (ev->type || at == end) {
                break;
            }
        }
        const char *from = at;
        if (scan_pieces(s, &at, end, ev, err)) {
            s->offset = s->begin;
            return -1;
        }
        s->offset += (uint64_t) (at - from);
    }
    if (ev->type == 0) {
        ev->partial = s->type;
        if (s->head_len > 0) {
            ev->partial = (char) s->head[0];
        }
    }
    return at - data;
}

bool rh_pg_scan_skip(struct rh_pg_scan *s, uint64_t n, struct rh_pg_event *ev)
{
    *ev = (struct rh_pg_event){0};
    if (s->bad || s->type == 0 || n > s->body_left) {
        return false;
    }
    s->offset += n;
    s->body_left -= (uint32_t) n;
    s->body_hole = true;
    if (is_data(s, s->type)) {
        data_count(ev, s->type, n, s->body_left == 0);
    }
    if (s->body_left == 0) {
        scan_ended(s, ev);
    }
    ev->partial = s->type;
    return true;
}

void rh_pg_scan_restart(struct rh_pg_scan *s)
{
    s->bad = false;
    s->untyped = false;
    s->head_len = 0;
    s->type = 0;
    s->body_left = 0;
    body_reset(s);
}
