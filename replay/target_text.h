/*
 * replay/target_text.h
 *
 * Lines that the dry run and the summary of a replay share.
 */
#ifndef RH_REPLAY_TARGET_TEXT_H
#define RH_REPLAY_TARGET_TEXT_H

#include <stdbool.h>
#include <stdint.h>

#include "common/buf.h"
#include "replay/plan.h"
#include "replay/target.h"

enum { RH_DURATION_TEXT_SIZE = 32 };

/* A duration with a unit that suits it: "187 us". */
const char *rh_duration_text(int64_t ns, char text[RH_DURATION_TEXT_SIZE]);
/* Append the line of the target. */
void rh_target_write(const struct rh_target *target, struct rh_buf *out);
/* Append the lines of sessions that are not opened: they were, or are, left out. */
void rh_left_out_write(const struct rh_plan *plan, bool is_past, struct rh_buf *out);

#endif
