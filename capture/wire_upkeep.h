/*
 * capture/wire_upkeep.h
 *
 * What a capture of the wire looks after while it runs: its files (capture/wire_rotation.h), the
 * packets that the kernel dropped, and when it is to end.
 */
#ifndef RH_CAPTURE_WIRE_UPKEEP_H
#define RH_CAPTURE_WIRE_UPKEEP_H

#include "capture/capture_options.h"
#include "capture/live_source.h"
#include "capture/wire_rotation.h"

struct rh_wire_upkeep {
    const struct rh_capture_options *options;
    struct rh_wire_rotation *output;
    struct rh_live_source *live; /* NULL: the packets are of files */
    uint64_t drops;              /* by the kernel, told so far */
    int64_t begun_ns;            /* by the clock of its ticks; RH_TIME_UNKNOWN */
    int64_t asked_ns;            /* the kernel, for its drops */
};

enum rh_upkeep { RH_UPKEEP_FAILED = -1, RH_UPKEEP_GO_ON = 0, RH_UPKEEP_END = 1 };

/* To be called now and then; last_ns is the time of the newest packet, RH_TIME_UNKNOWN: none came.
 * END: --stop-after is reached.  FAILED: the output failed. */
enum rh_upkeep rh_wire_upkeep_tick(struct rh_wire_upkeep *u, int64_t last_ns, struct rh_error *err);
/* What the kernel dropped up to now is in the trace. */
int rh_wire_upkeep_drops(struct rh_wire_upkeep *u, int64_t last_ns, struct rh_error *err);

#endif
