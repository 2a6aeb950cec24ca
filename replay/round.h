/*
 * replay/round.h
 *
 * The reads and sends of a worker's turn together.  Sessions whose descriptors are ready are
 * gathered, then read in one system call; what they send in answer to what they got goes out in
 * another one.  Only plain sockets without a rest to be sent take part, and only where there are at
 * least two; the others read and send for themselves, as all do without a ring.
 */
#ifndef RH_REPLAY_ROUND_H
#define RH_REPLAY_ROUND_H

#include <stdbool.h>
#include <stddef.h>

#include "common/buf.h"
#include "replay/ring.h"

struct rh_replay_session;

enum {
    RH_ROUND_INPUT_BYTES = 4096,  /* of one read; a session that gets more reads for itself */
    RH_ROUND_OUTPUT_BYTES = 4096, /* of one send; what is longer goes out at once */
};

struct rh_round_send {
    struct rh_replay_session *session; /* NULL: it has left */
    size_t at;                         /* in output */
    size_t n;
};

/* Used by the worker's thread alone. */
struct rh_round {
    struct rh_ring *ring;                             /* NULL: nothing is gathered */
    bool is_open;                                     /* what is sent now is gathered */
    struct rh_replay_session *reads[RH_RING_OPS_MAX]; /* NULL: it has left */
    unsigned read_count;
    struct rh_round_send sends[RH_RING_OPS_MAX];
    unsigned send_count;
    char *input; /* RH_ROUND_INPUT_BYTES for each read */
    char *output;
};

/* In the thread that uses it; `ring` is owned from here on and may be NULL. */
void rh_round_init(struct rh_round *round, struct rh_ring *ring);
void rh_round_release(struct rh_round *round);

/* The descriptor of s is ready: true if it is read in this round, by rh_round_run() at the latest,
 * which calls rh_replay_session_received(). */
bool rh_round_read(struct rh_round *round, struct rh_replay_session *s);
/* True if the bytes go out with the others of the round; they are copied. */
bool rh_round_send(struct rh_round *round, struct rh_replay_session *s, struct rh_span bytes);
/* Send what was gathered until now: before a session says Terminate, for example. */
void rh_round_flush(struct rh_round *round);
/* Read what was gathered, and send what comes of it.  To be called once a turn. */
void rh_round_run(struct rh_round *round);
/* s leaves its connection: nothing of it is read or sent any more. */
void rh_round_drop(struct rh_round *round, const struct rh_replay_session *s);

#endif
