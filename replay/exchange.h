/*
 * replay/exchange.h
 *
 * What was sent to the server and not yet answered to the end, and the outcome that its answers
 * make. A session has one exchange at a time.  Pure: events in, outcome out.
 */
#ifndef RH_REPLAY_EXCHANGE_H
#define RH_REPLAY_EXCHANGE_H

#include <stdbool.h>
#include <stdint.h>

#include "formats/pg_scan.h"
#include "formats/record.h"

enum rh_exchange_end {
    RH_EXCHANGE_READY,     /* Query, FunctionCall or Sync was sent: ends with ReadyForQuery */
    RH_EXCHANGE_EXECUTION, /* Execute and Flush: ends with the answer of the Execute */
    RH_EXCHANGE_PARSING,   /* one Parse and Flush: ends with ParseComplete */
};

/* What the caller has to do after an event. */
enum rh_exchange_turn {
    RH_EXCHANGE_GOES_ON,
    RH_EXCHANGE_ENDED,   /* outcome is whole */
    RH_EXCHANGE_COPY_IN, /* the server waits for COPY data: answer with CopyFail */
    RH_EXCHANGE_FATAL,   /* the server closes the connection; outcome is whole if one was active */
    RH_EXCHANGE_BAD,     /* an answer that cannot follow what was sent */
};

/* Longest command tag of the server is 63 bytes (COMPLETION_TAG_BUFSIZE). */
enum { RH_EXCHANGE_TAG_MAX = 64 };

struct rh_exchange {
    bool is_active;
    enum rh_exchange_end end;
    bool parse_done;  /* ParseComplete came */
    bool copy_failed; /* CopyIn was asked for: what the server says then is no failure of its own */
    bool needs_sync;  /* an error in an exchange without Sync: the server skips until one */
    char fatal[6];    /* SQLSTATE of a FATAL or PANIC, "" if none */
    struct rh_outcome outcome; /* tag points to tag_text */
    uint64_t data_rows;        /* DataRow and CopyData of the result under way */
    char tag_text[RH_EXCHANGE_TAG_MAX];
};

/* An exchange begins; the one before has ended. */
void rh_exchange_begin(struct rh_exchange *x, enum rh_exchange_end end);
/* Take an event of the scanner, also one of type 0 and also while nothing is active. */
enum rh_exchange_turn rh_exchange_take(struct rh_exchange *x, const struct rh_pg_event *ev,
                                       int64_t now_ns);

#endif
