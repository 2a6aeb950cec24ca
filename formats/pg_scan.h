/*
 * formats/pg_scan.h
 *
 * Incremental scanner of one direction of a protocol 3.0 stream, fed with pieces cut anywhere.
 * Messages that carry data (DataRow, CopyData) are passed by count, their bodies are neither
 * copied nor touched (CopyData are events where the caller wants them); every other message is an
 * event.  However the stream is cut, the events are
 * the same.
 */
#ifndef RH_FORMATS_PG_SCAN_H
#define RH_FORMATS_PG_SCAN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/buf.h"
#include "common/error.h"
#include "common/span.h"

enum rh_pg_side { RH_PG_BACKEND, RH_PG_FRONTEND };

/* The event's type for a message without a type byte (StartupMessage, SSLRequest, CancelRequest).
 */
enum { RH_PG_UNTYPED = '@' };

/* What is kept of a body by default. */
enum { RH_PG_BODY_MAX = 64 * 1024 };

struct rh_pg_scan {
    enum rh_pg_side side;
    /* The next message has no type byte.  Set by the caller, at the start of a frontend stream and
     * between messages only; the scanner resets it after one message. */
    bool untyped;
    bool copy_events; /* CopyData are events too, not counted; set by the caller, once */
    uint64_t offset;  /* bytes consumed so far; after -1, where the bad message begins */

    /* The scanner's own. */
    bool bad;
    uint64_t begin; /* offset of the message under way, once its head came in pieces */
    uint8_t head[5];
    uint8_t head_len;
    char type;          /* of the message under way, 0 between messages */
    uint32_t body_len;  /* as announced */
    uint32_t body_left; /* not yet seen */
    bool body_hole;     /* bytes of it are missing: what follows them is not kept */
    struct rh_buf body; /* of a message that came in pieces */
};

struct rh_pg_event {
    char type;       /* message type; 0: the input ended before the next event */
    bool body_cut;   /* body has less than length bytes */
    uint32_t length; /* of the body */
    struct rh_span
        body; /* valid until the next call and while the input is; RowDescription: none */
    /* What passed in this call before the event, or before the end of the input. */
    uint64_t rows;       /* DataRow messages that ended */
    uint64_t row_bytes;  /* of DataRow messages, headers included */
    uint64_t copies;     /* CopyData messages that ended */
    uint64_t copy_bytes; /* of CopyData messages, headers included */
    /* Type 0 only: the type of the message that has begun but not ended, 0 if none or unknown. */
    char partial;
};

/* body_max bounds what is kept of one body (RH_PG_BODY_MAX for answers). */
void rh_pg_scan_init(struct rh_pg_scan *s, enum rh_pg_side side, size_t body_max);
void rh_pg_scan_release(struct rh_pg_scan *s);

/*
 * Scan on to the next event.  Returns the bytes used: all n of them when ev->type is 0, else call
 * again with the rest.  -1 for a length or a type that cannot be: the stream is not the protocol,
 * or bytes are missing; the scanner gives -1 from then on.
 */
ptrdiff_t rh_pg_scan_next(struct rh_pg_scan *s, const char *data, size_t n, struct rh_pg_event *ev,
                          struct rh_error *err);

/*
 * n bytes of the stream are missing here.  True if all of them belong to the body of the message
 * under way: the scanner goes on behind them, *ev is as from rh_pg_scan_next(), and a body that is
 * kept ends at the hole (body_cut).  False, and nothing changed, otherwise.
 */
bool rh_pg_scan_skip(struct rh_pg_scan *s, uint64_t n, struct rh_pg_event *ev);
/* The next byte begins a message, of the usual kind. */
static inline bool rh_pg_scan_is_between(const struct rh_pg_scan *s)
{
    return s->type == '\0' && s->head_len == 0 && !s->untyped && !s->bad;
}
/* Forget the message under way and what was wrong: the next byte begins a message. */
void rh_pg_scan_restart(struct rh_pg_scan *s);

#endif
