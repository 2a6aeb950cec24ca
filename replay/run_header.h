/*
 * replay/run_header.h
 *
 * The header of a run file: which trace was replayed, where, and by which options.  Settings:
 * trace, speed ("1", "max"), order ("txn"), order_timeout_ns, read_only, scale, jobs, from, to,
 * skip_idle_ns, max_connections, read_ahead_bytes, map_user, map_database, dbname, host, port, user
 * (those that were given), round_trip_ns, target, target_max_connections, preflight ("warning:
 * ...", one for each, or "left out"); at the end: began_at, length_ns, sessions_opened,
 * sessions_refused, sessions_lost, lag_p50_ns, lag_p99_ns, lag_max_ns; with waits of --order txn
 * order_waits, order_waits_broken, order_p99_ns, order_max_ns.
 */
#ifndef RH_REPLAY_RUN_HEADER_H
#define RH_REPLAY_RUN_HEADER_H

#include <stdint.h>

#include "common/arena.h"
#include "formats/trace_header.h"
#include "replay/engine.h"
#include "replay/finding.h"
#include "replay/recorder.h"
#include "replay/replay_options.h"
#include "replay/target.h"

struct rh_run_header {
    struct rh_trace_header header; /* valid until release */
    struct rh_arena arena;
    struct rh_setting *settings;
    uint32_t count;
    size_t cap;
};

/* Of the findings (NULL: nothing was looked for) the warnings are kept. */
void rh_run_header_init(struct rh_run_header *h, const struct rh_trace_header *trace,
                        const struct rh_replay_options *options, const struct rh_target *target,
                        const struct rh_findings *findings, const char *trace_path);
void rh_run_header_release(struct rh_run_header *h);

/* What is known at the end; the recorder is drained. */
void rh_run_header_note(struct rh_recorder *recorder, const struct rh_engine_result *result,
                        int64_t began_wall_ns);

#endif
