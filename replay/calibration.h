/*
 * replay/calibration.h
 *
 * What this host can drive: a trace is replayed on a null server, so that all that takes time is
 * the replay itself.
 */
#ifndef RH_REPLAY_CALIBRATION_H
#define RH_REPLAY_CALIBRATION_H

#include <stdbool.h>
#include <stdint.h>

#include "common/error.h"
#include "replay/null_server.h"
#include "replay/replay_options.h"
#include "replay/tally.h"

/* One way to replay, maybe several times over. */
struct rh_calibration_run {
    uint32_t runs;
    struct rh_tally tally;  /* the engine's, of all runs */
    int64_t length_ns;      /* sum; as in struct rh_engine_result */
    int64_t cpu_ns;         /* user and system time of this process meanwhile, connects included */
    uint32_t peak_sessions; /* open at once, as the null server saw it */
    uint64_t server_statements; /* that it answered */
    bool is_stopped;
};

struct rh_calibration {
    /* The whole trace. */
    uint64_t statement_count;
    int64_t busiest_ns; /* wall time at which its busiest second begins; INT64_MIN: no statement */
    uint64_t busiest_count;
    uint32_t peak_sessions;
    int64_t length_ns;
    int64_t replayed_ns; /* of these, what is replayed here */

    /* This host. */
    uint32_t cores;
    uint32_t jobs;
    uint64_t files; /* descriptors that sessions may take; UINT64_MAX: no limit */
    uint64_t ports; /* local TCP ports to one address of a server; 0: not known */

    struct rh_calibration_run flat_out;
    struct rh_calibration_run original;
};

struct rh_calibration_options {
    const char *trace_path;
    int64_t first_ns; /* how much of the trace's time is replayed */
    struct rh_replay_options replay;
};

/*
 * Measure.  0, also when a signal ended it early after the first way (is_stopped); -1 if nothing
 * was measured.  Forks: call it before threads are made.
 */
int rh_calibration_measure(struct rh_calibration *c, const struct rh_calibration_options *options,
                           struct rh_error *err);
void rh_calibration_release(struct rh_calibration *c);

/* Which limit of a host decides how many are needed. */
enum rh_calibration_bound { RH_BOUND_CPU, RH_BOUND_FILES, RH_BOUND_PORTS };

/* A host is planned to be busy for this part of its time at most, so that a statement finds it
 * idle more often than not. */
#define RH_CALIBRATION_LOAD 0.5

/* Statements a second that this host's cores are good for at that load; 0: not known. */
double rh_calibration_capacity(const struct rh_calibration *c);
/* Hosts like this one for `factor` times the busiest second; 0: not known. */
uint64_t rh_calibration_hosts(const struct rh_calibration *c, double factor,
                              enum rh_calibration_bound *bound);

#endif
