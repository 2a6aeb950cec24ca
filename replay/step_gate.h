/*
 * replay/step_gate.h
 *
 * When a message may be sent: once every message that was answered before it in the capture is
 * answered here, or was skipped by the server after an error.  Pure.
 *
 * A step says how many messages before it were not answered (n).  So no more than n may be
 * unanswered here, less those among the last n that are not sent in the replay.  What the server
 * need not have answered, since neither Flush nor Sync has followed it, is not waited for: the
 * client cannot have waited either, and here the answer may stay in the server's buffer.
 */
#ifndef RH_REPLAY_STEP_GATE_H
#define RH_REPLAY_STEP_GATE_H

#include <stdbool.h>
#include <stdint.h>

enum { RH_STEP_GATE_KEPT = 256 };

struct rh_step_gate {
    uint8_t unsent[RH_STEP_GATE_KEPT]; /* whether it was, of the last messages; a ring */
    uint32_t at;
    uint32_t since_unsent; /* messages since the last one that was not sent, up to KEPT */
    uint32_t unflushed;    /* messages sent since the last that makes the server send */
};

void rh_step_gate_init(struct rh_step_gate *g);
/* Behind a step that was sent, or passed over. */
void rh_step_gate_note(struct rh_step_gate *g, char letter, bool sent);
/* A message of our own was sent, which the capture does not have. */
void rh_step_gate_note_extra(struct rh_step_gate *g, char letter);
/* The server is in COPY, where it takes Sync and Flush without a word. */
void rh_step_gate_uncover(struct rh_step_gate *g, uint32_t outstanding);
/* outstanding: messages sent whose answers have not ended. */
bool rh_step_gate_is_open(const struct rh_step_gate *g, uint32_t awaits, uint32_t outstanding);
/* Whether answers may stay in the server's buffer. */
bool rh_step_gate_is_covered(const struct rh_step_gate *g);

#endif
