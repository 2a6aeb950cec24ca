/*
 * formats/pg_wire.h
 *
 * Follows one connection of protocol 3.0 to 3.2 from the outside: it is given the bytes of both
 * sides in causal order and tells which answer belongs to which message.  No I/O; memory is taken
 * only for messages that come in pieces and while the queue grows.
 *
 * Messages that the server answers stand in a queue, and answers take them off it:
 *
 *   P 1   B 2   C 3   D t|T|n   E C|I|s|E   F V, Z   Q and S: Z
 *
 * After an error everything up to the next Sync is skipped.  Z is the point where both sides agree:
 * where the queue disagrees with it, Z is right, what should have been answered before is unknown,
 * and an anomaly is counted.
 *
 * After missing bytes that belong to the body of one message, the stream goes on behind them. After
 * others each side is found again: the server at a ReadyForQuery that ends a piece of its stream,
 * the client at its first bytes behind one, if they begin a message.  What passes until then is
 * counted as lost, never guessed.
 */
#ifndef RH_FORMATS_PG_WIRE_H
#define RH_FORMATS_PG_WIRE_H

#include <stdbool.h>
#include <stdint.h>

#include "common/span.h"
#include "formats/pg_scan.h"
#include "formats/pg_wire_queue.h"

enum {
    /* What is kept of a message of the client that comes in pieces. */
    RH_PG_WIRE_BODY_MAX = 64 * 1024 * 1024,
    RH_PG_WIRE_TAG_MAX = 64,
};

enum rh_pg_wire_phase {
    RH_PG_WIRE_START, /* a message without a type comes next */
    RH_PG_WIRE_SSL_ASKED,
    RH_PG_WIRE_GSS_ASKED,
    RH_PG_WIRE_TALK,
    /* Nothing more is looked at in these. */
    RH_PG_WIRE_CANCEL,
    RH_PG_WIRE_ENCRYPTED,
    RH_PG_WIRE_REPLICATION,
    RH_PG_WIRE_FOREIGN, /* another protocol */
};

/* How a message of the client ended. */
enum rh_pg_wire_end {
    RH_PG_WIRE_DONE,
    RH_PG_WIRE_SUSPENDED, /* Execute reached its row limit */
    RH_PG_WIRE_FAILED,
    RH_PG_WIRE_SKIPPED, /* not looked at by the server, after an error */
    RH_PG_WIRE_UNKNOWN, /* lost, or the connection ended before */
};

struct rh_pg_wire_answer {
    enum rh_pg_wire_end end;
    int64_t first_ns; /* RH_TIME_UNKNOWN: none came */
    int64_t rows;     /* RH_COUNT_UNKNOWN: neither tag nor rows tell */
    int64_t bytes;    /* of the answer, headers included */
    uint32_t results;
    uint32_t sqlstate;   /* of FAILED: the first one */
    struct rh_span tag;  /* of the last result, without counts */
    uint64_t rows_since; /* data rows of the result under way */
};

enum rh_pg_wire_event_type {
    RH_PG_WIRE_ON_STARTUP, /* body: of the StartupMessage */
    RH_PG_WIRE_ON_CANCEL,  /* body: of the CancelRequest */
    RH_PG_WIRE_ON_PHASE,   /* phase is one in which nothing more is looked at */
    RH_PG_WIRE_ON_LOGIN,   /* the server has accepted it */
    RH_PG_WIRE_ON_KEY,     /* body: of BackendKeyData */
    RH_PG_WIRE_ON_PARAMETER,
    RH_PG_WIRE_ON_FATAL,   /* sqlstate; the server ends the session */
    RH_PG_WIRE_ON_MESSAGE, /* of the client: type, serial, body, awaits */
    RH_PG_WIRE_ON_ANSWER,  /* message `serial` has its answer */
    RH_PG_WIRE_ON_READY,   /* status; what was answered before it is settled */
    RH_PG_WIRE_ON_LOSS,    /* side, bytes (UINT64_MAX: unknown), what */
};

enum rh_pg_wire_loss {
    RH_PG_WIRE_LOSS_BODY, /* within one message, which is cut */
    RH_PG_WIRE_LOSS_GAP,
    RH_PG_WIRE_LOSS_NOT_UNDERSTOOD, /* the stream is not the protocol, or out of step */
    RH_PG_WIRE_LOSS_PASSED,         /* bytes that passed before the side was found again */
};

struct rh_pg_wire_event {
    enum rh_pg_wire_event_type type;
    enum rh_pg_wire_phase phase;
    int64_t time_ns;
    uint64_t serial; /* of messages that are answered: 0, 1, 2, ...; of others that of the next */
    uint32_t awaits; /* messages before it whose answers had not ended when it was seen */
    char message;    /* its type, RH_PG_UNTYPED for the startup */
    char status;     /* 'I', 'T', 'E', 0 unknown */
    bool body_cut;
    bool copying;        /* CopyData, CopyDone, CopyFail: the server had asked for them */
    struct rh_span body; /* valid during the call, as is the answer */
    const struct rh_pg_wire_answer *answer;
    uint32_t sqlstate;
    enum rh_pg_side side;
    enum rh_pg_wire_loss loss;
    uint64_t bytes;
};

struct rh_pg_wire_counts {
    uint64_t messages[2]; /* by enum rh_pg_side; rows and COPY data too */
    uint64_t anomalies;   /* the queue and the answers disagreed */
    uint64_t strays;      /* answers to nothing */
    uint64_t unknown;     /* messages of a type that is not known */
};

struct rh_pg_wire {
    void (*event)(void *context, const struct rh_pg_wire_event *ev);
    void *context;
    enum rh_pg_wire_phase phase;
    struct rh_pg_wire_counts counts;

    /* The tracker's own. */
    struct rh_pg_scan front;
    struct rh_pg_scan back;
    bool front_lost;
    bool back_lost;
    bool fresh[2];      /* joined midway: the side has shown nothing yet */
    bool ready_seen;    /* the server's last word was Z, and the client has said nothing since */
    bool logged_in;     /* AuthenticationOk was seen, or the session was joined midway */
    uint64_t passed[2]; /* bytes since the side was lost */
    uint8_t tail[6];    /* the last bytes of the lost server side */
    int64_t time_ns;
    struct rh_pg_wire_queue queue;
    bool skipping;    /* the server skips up to the next Sync */
    bool copying;     /* the server takes COPY data */
    bool copy_closed; /* and CopyDone or CopyFail was sent */
    bool overheard;   /* both sides come by rh_pg_wire_data() */
    bool unsure;      /* after a loss no outcome is believed: ... */
    bool unsure_once; /* ... up to the next Z; else until the client speaks when all is answered */
    bool just_found;  /* the client's side: it may await answers to what was not seen */
    struct rh_pg_wire_answer now; /* to the head of the queue */
    char tag_text[RH_PG_WIRE_TAG_MAX];
};

void rh_pg_wire_init(struct rh_pg_wire *w, bool joined_midway,
                     void (*event)(void *context, const struct rh_pg_wire_event *ev),
                     void *context);
void rh_pg_wire_release(struct rh_pg_wire *w);

void rh_pg_wire_data(struct rh_pg_wire *w, enum rh_pg_side side, int64_t time_ns,
                     struct rh_span bytes);
void rh_pg_wire_gap(struct rh_pg_wire *w, enum rh_pg_side side, int64_t time_ns, uint64_t bytes);
/* The connection ended: what has no answer gets UNKNOWN. */
void rh_pg_wire_close(struct rh_pg_wire *w, int64_t time_ns);

/*
 * For one who speaks on the connection himself, in place of rh_pg_wire_data(): he has joined it
 * midway, sets time_ns, and tells what he sends and what his scanner finds.  Events are answers,
 * ON_READY and ON_FATAL.
 */
/* A message that may be answered, or that ends COPY data; type as in events. */
void rh_pg_wire_ask(struct rh_pg_wire *w, char type);
/* A message of the server, or (type 0) rows that passed. */
void rh_pg_wire_answer(struct rh_pg_wire *w, const struct rh_pg_event *ev);

/* Bytes that the connection holds. */
size_t rh_pg_wire_bytes(const struct rh_pg_wire *w);
/* Keep no more of the message that the client is sending; it will be cut. */
void rh_pg_wire_spare(struct rh_pg_wire *w);

#endif
