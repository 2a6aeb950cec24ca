/*
 * replay/unsent.h
 *
 * The records of sessions that were never opened, lost or stopped: written to the run, with the
 * reason, after everything else, in one pass over the trace; and the CLOSE records of those
 * sessions.
 */
#ifndef RH_REPLAY_UNSENT_H
#define RH_REPLAY_UNSENT_H

#include <stdint.h>

#include "common/error.h"
#include "formats/trace_file.h"
#include "replay/plan.h"
#include "replay/recorder.h"
#include "replay/tally.h"

/* begin_wall_ns: when the replay's clock started (or would have), in wall time; for the planned
 * times. The recorder is drained. */
int rh_unsent_write(struct rh_plan *plan, struct rh_trace_file *file, struct rh_recorder *recorder,
                    int64_t begin_wall_ns, struct rh_tally *tally, struct rh_error *err);

#endif
