/*
 * replay/replay_summary.h
 *
 * What is said at the end of a replay.
 */
#ifndef RH_REPLAY_REPLAY_SUMMARY_H
#define RH_REPLAY_REPLAY_SUMMARY_H

#include <stdio.h>

#include "replay/engine.h"
#include "replay/finding.h"
#include "replay/target.h"

struct rh_replay_summary {
    const struct rh_plan *plan;
    const struct rh_target *target;
    struct rh_engine_result *result; /* its states get sorted */
    const char *run_path;
    const struct rh_findings *findings;
    bool is_checked; /* the findings are of a whole preflight */
    uint32_t damaged_blocks;
    uint64_t damaged_records;
};

void rh_replay_summary_print(const struct rh_replay_summary *summary, FILE *out);

#endif
