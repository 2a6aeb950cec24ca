/*
 * capture/wire_group.h
 *
 * The messages of a client that make one record: what leads to an execution, the execution, and
 * what follows it up to the next message that leads to something.  Their bytes are kept until the
 * record is written.
 */
#ifndef RH_CAPTURE_WIRE_GROUP_H
#define RH_CAPTURE_WIRE_GROUP_H

#include <stdbool.h>
#include <stdint.h>

#include "common/buf.h"
#include "common/span.h"
#include "formats/pg_frontend.h"
#include "formats/pg_wire.h"
#include "formats/record.h"

/* A part of a group's bytes. */
struct rh_wire_part {
    uint32_t at;
    uint32_t len;
    bool set;
};

struct rh_wire_group {
    struct rh_buf bytes;
    struct rh_buf steps; /* FORMAT.md */
    struct rh_buf copy;  /* CopyData, CopyDone and CopyFail, whole, not yet written */
    /* From here on rh_wire_group_clear() clears it. */
    struct rh_wire_group *next;
    enum rh_kind kind; /* PROTOCOL until an execution comes */
    uint64_t first_serial;
    uint64_t next_serial;
    int64_t start_ns;
    uint64_t copy_messages;
    struct rh_wire_part statement;
    struct rh_wire_part portal;
    struct rh_wire_part text;
    struct rh_wire_part types; /* of its own Parse, or of the statement that it binds */
    struct rh_wire_part body;  /* of Bind or FunctionCall */
    size_t parse_step;         /* where in steps; SIZE_MAX: no Parse */
    size_t copy_step;          /* SIZE_MAX: no COPY data */
    bool has_bind;
    bool synced; /* its last message is Sync, Query or FunctionCall */
    bool cut;    /* bytes of its messages are missing */
    bool copy_cut;
    bool resolved; /* what its Bind or Execute means was looked up */
    bool unknown;  /* its statement or portal is not known */
    bool skipped;
    bool lost;  /* an answer of its execution is */
    bool stray; /* COPY data that came when its statement was over */
    bool canceled;
    bool idle_target; /* of a cancel request: nothing ran that it could hit */
    bool settled;     /* its execution has its answer */
    bool released;    /* its bytes were given up */
    bool told;        /* its record is written, its outcome is not */
    uint64_t ordinal;
    size_t accounted; /* bytes that the session was charged for it */
    int32_t row_limit;
    struct rh_outcome outcome;
    char tag[RH_PG_WIRE_TAG_MAX]; /* what outcome.tag points to */
};

void rh_wire_group_init(struct rh_wire_group *g);
void rh_wire_group_release(struct rh_wire_group *g);
/* For the next use; memory is kept unless it is much. */
void rh_wire_group_clear(struct rh_wire_group *g);
size_t rh_wire_group_bytes(const struct rh_wire_group *g);

/* No data for a part that is not set. */
struct rh_span rh_wire_group_span(const struct rh_wire_group *g, struct rh_wire_part part);
/* Keep s in the group. */
struct rh_wire_part rh_wire_group_put(struct rh_wire_group *g, struct rh_span s);

/* What a message of the client says, decoded. */
struct rh_wire_said {
    char type;           /* as in the tracker's queue */
    bool bad;            /* cut, or not what it should be */
    struct rh_span name; /* of the statement or portal that it is about */
    int32_t row_limit;
    union {
        struct rh_pg_parse parse;
        struct rh_pg_bound bound;
        struct rh_span text; /* of Query */
    };
};
void rh_wire_said_decode(struct rh_wire_said *said, const struct rh_pg_wire_event *ev);

/* Whether the message may belong to the group; a new one is needed otherwise. */
bool rh_wire_group_takes(const struct rh_wire_group *g, const struct rh_wire_said *said);
void rh_wire_group_add(struct rh_wire_group *g, const struct rh_wire_said *said,
                       const struct rh_pg_wire_event *ev);
/* CopyData, CopyDone, CopyFail, as they were sent. */
void rh_wire_group_add_copy(struct rh_wire_group *g, const struct rh_pg_wire_event *ev);

#endif
