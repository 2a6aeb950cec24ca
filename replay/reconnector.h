/*
 * replay/reconnector.h
 *
 * Sessions that connect once more: those that lost their connection, and those that the server did
 * not take for a reason that passes.  A restart of the server puts thousands of them here at once:
 * a few connect at a time, and while the server takes nobody, one at a time with growing pauses.
 *
 * Of one worker and its thread.
 */
#ifndef RH_REPLAY_RECONNECTOR_H
#define RH_REPLAY_RECONNECTOR_H

#include <stdbool.h>
#include <stdint.h>

#include "common/loop.h"

enum { RH_RECONNECTS_AT_ONCE = 4 };

/* One session's place; zero it before its first use. */
struct rh_reconnect {
    void (*go)(struct rh_reconnect *r);      /* its turn has come: connect, then say what came of it
                                                by rh_reconnector_end(); not from within go */
    void (*give_up)(struct rh_reconnect *r); /* it has tried for too long; it has left */
    void *ctx;
    int64_t since_ns; /* monotonic: it has been trying since; the session's to set */
    bool is_waiting;  /* in the queue */
    bool is_running;  /* between go and rh_reconnector_end() */
    struct rh_reconnect *next;
};

enum rh_reconnect_end {
    RH_RECONNECT_ANSWERED, /* the server took the session, or refused it for a reason of its own */
    RH_RECONNECT_FAILED,   /* the server takes nobody now: try again */
    RH_RECONNECT_LEFT,     /* the session has ended meanwhile */
};

struct rh_reconnector {
    struct rh_loop *loop;
    int64_t patience_ns; /* who has tried longer when a try fails is given up */
    struct rh_timer timer;
    struct rh_reconnect *first;
    struct rh_reconnect *last;
    uint32_t running_count;
    int64_t pause_ns; /* between tries; 0: the server answers */
    int64_t next_ns;  /* the next try, if there is a pause */
};

void rh_reconnector_init(struct rh_reconnector *rc, struct rh_loop *loop, int64_t patience_ns);
/* Wait for a turn.  go may be called at once. */
void rh_reconnector_put(struct rh_reconnector *rc, struct rh_reconnect *r);
/* The same for one whose try failed without a turn: its connection was taken, and lost again before
 * it was of use.  It may be given up instead. */
void rh_reconnector_put_failed(struct rh_reconnector *rc, struct rh_reconnect *r);
/* Leave the queue; does nothing for one that is not in it. */
void rh_reconnector_drop(struct rh_reconnector *rc, struct rh_reconnect *r);
/* The connect that go began has ended. */
void rh_reconnector_end(struct rh_reconnector *rc, struct rh_reconnect *r,
                        enum rh_reconnect_end end);

#endif
