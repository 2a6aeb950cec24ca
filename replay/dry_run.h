/*
 * replay/dry_run.h
 *
 * What a replay would do, and what was found that could spoil it: on standard output, as text or as
 * JSON (docs/PREFLIGHT.md).
 */
#ifndef RH_REPLAY_DRY_RUN_H
#define RH_REPLAY_DRY_RUN_H

#include "common/error.h"
#include "replay/finding.h"
#include "replay/plan.h"
#include "replay/preview.h"
#include "replay/replay_options.h"
#include "replay/target.h"

struct rh_dry_run {
    const char *trace_path;
    const struct rh_trace_header *trace;
    const struct rh_plan *plan;
    const struct rh_replay_options *options;
    const struct rh_target *target;  /* NULL: nothing let us in */
    const struct rh_identity *asker; /* of the server; NULL: it was not asked */
    const struct rh_identity *const *database_askers;
    uint32_t database_count;
    const struct rh_preview *preview; /* NULL: the trace was not read */
    uint32_t max_connections;         /* 0: as many as the plan has */
    const struct rh_findings *findings;
};

int rh_dry_run_print(const struct rh_dry_run *d, struct rh_error *err);

/* The same, into a buffer: for tests. */
void rh_dry_run_write_text(const struct rh_dry_run *d, struct rh_buf *out);
void rh_dry_run_write_json(const struct rh_dry_run *d, struct rh_buf *out);

#endif
