/*
 * replay/engine.h
 *
 * A replay as a whole: the threads and what they share.
 */
#ifndef RH_REPLAY_ENGINE_H
#define RH_REPLAY_ENGINE_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "replay/batch.h"
#include "replay/connector.h"
#include "replay/feeder.h"
#include "replay/opener.h"
#include "replay/order.h"
#include "replay/plan.h"
#include "replay/recorder.h"
#include "replay/replay_options.h"
#include "replay/tally.h"

struct rh_worker;

struct rh_engine {
    const struct rh_replay_options *options;
    struct rh_plan *plan;
    struct rh_batch_pool pool;
    struct rh_connector *connector;
    struct rh_feeder *feeder;
    struct rh_recorder *recorder;
    struct rh_order *order;       /* of --order txn; NULL: none.  The caller's */
    _Atomic uint32_t orders_told; /* waits given up of which a warning told */
    struct rh_opener opener;      /* lives in the first worker's loop */
    struct rh_worker *workers;    /* [worker_count] */
    uint32_t worker_count;

    int64_t wall_offset_ns;    /* wall time - monotonic time, fixed at the start */
    _Atomic int64_t begin_ns;  /* monotonic; 0: the clock has not started */
    int wake_fd;               /* becomes readable when is_finished or has_failed is set */
    atomic_bool is_finished;   /* all sessions are closed */
    atomic_bool is_unreadable; /* the trace: what is not sent was not for this reason */

    pthread_mutex_t lock; /* guards what follows */
    struct rh_error error;
    bool has_failed;
};

struct rh_engine_result {
    struct rh_tally tally;
    bool is_stopped; /* a signal ended it early */
    bool has_failed; /* a file could not be read or written, or a connection led to the source */
    struct rh_error error;
    int64_t length_ns; /* from the clock's start to the last session's end; 0: it did not start */
    struct rh_feeder_counts read;
};

struct rh_engine_setup {
    struct rh_plan *plan;
    struct rh_connector *connector;
    const struct rh_replay_options *options;
    const char *run_path;
    const struct rh_trace_header *run_header;
    uint32_t max_connections; /* 0: no limit */
    struct rh_order *order;   /* NULL: transactions do not wait for each other */
};

/* Create what the threads share, and the run file; nothing is sent yet. */
int rh_engine_init(struct rh_engine *e, const struct rh_engine_setup *setup, struct rh_error *err);
/* Replay to the end, or until a stop is asked for (common/stop.h) or a file fails.  Afterwards the
 * threads are gone and e->recorder is drained: the caller finishes it. */
void rh_engine_run(struct rh_engine *e, struct rh_engine_result *result);
void rh_engine_release(struct rh_engine *e);

/* The replay cannot go on: a rh_recorder_options.fail, the connector's report of a
 * refusal.  From any thread; the first one counts. */
void rh_engine_fail(void *engine, const struct rh_error *err);
/* The user and database that a session is replayed as: a rh_recorder_options.identify. */
void rh_engine_identify(void *engine, struct rh_session *session);

#endif
