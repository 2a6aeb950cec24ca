/*
 * replay/step_message.h
 *
 * The frontend message of one step of a record that was captured from the wire, as it was sent
 * there (FORMAT.md, "Steps").  Pure.
 */
#ifndef RH_REPLAY_STEP_MESSAGE_H
#define RH_REPLAY_STEP_MESSAGE_H

#include <stdbool.h>

#include "common/arena.h"
#include "common/buf.h"
#include "common/error.h"
#include "formats/record.h"

/* How many steps r has.  A record without steps has those that lead to its execution. */
size_t rh_step_count(const struct rh_record *r);
/* Letter of step i. */
char rh_step_letter(const struct rh_record *r, size_t i);
/* How many messages before it were not yet answered when it was sent; RH_STEP_AWAITS_MANY: so many
 * or more. */
enum { RH_STEP_AWAITS_MANY = 255 };
uint32_t rh_step_awaits(const struct rh_record *r, size_t i);
bool rh_step_has(const struct rh_record *r, char letter);

/* The step's type in the tracker of answers (pg_wire.h); '\0' for a letter that is not known. */
char rh_step_type(char letter);
/* Whether the message is answered: not so Flush and COPY data. */
bool rh_step_is_answered(char letter);
/* Whether the server sends its answers when it has seen the message. */
bool rh_step_flushes(char letter);
/* Whether the message has the record's text. */
bool rh_step_has_text(char letter);

/* Append the message of any step but 'd' to out.  text: the record's, where the step has it.  -1 if
 * it cannot be made, and out is unchanged. */
int rh_step_write(char letter, const struct rh_record *r, struct rh_span text,
                  struct rh_arena *arena, struct rh_buf *out, struct rh_error *err);

#endif
