/*
 * replay/worker.h
 *
 * A thread with an event loop that owns some of the sessions.
 */
#ifndef RH_REPLAY_WORKER_H
#define RH_REPLAY_WORKER_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "common/buf.h"
#include "common/loop.h"
#include "replay/engine.h"
#include "replay/reconnector.h"
#include "replay/round.h"
#include "replay/tally.h"

struct rh_replay_session;

/* Of text and out as much is kept from one statement to the next. */
enum { RH_WORKER_INPUT_BYTES = 64 * 1024, RH_WORKER_KEEP_BYTES = 1024 * 1024 };

/* What is shown while the replay runs; written by the worker, read by anybody. */
struct rh_worker_progress {
    _Atomic uint64_t statements_sent;
    _Atomic uint64_t statements_failed;
    _Atomic uint64_t records_done; /* records that got their fate */
    _Atomic uint32_t sessions_open;
    _Atomic int64_t lag_ns; /* of the last record sent */
};

struct rh_worker {
    struct rh_engine *engine;
    uint32_t number;
    struct rh_loop *loop;
    pthread_t thread;
    bool has_thread;

    /* Of the thread. */
    struct rh_replay_session *sessions; /* all that live */
    struct rh_replay_session *dead;     /* to be freed by reap_task */
    int64_t begin_ns;                   /* monotonic; 0: the clock has not started */
    bool is_stopping;
    struct rh_task begin_task;
    struct rh_task stop_task;
    struct rh_task reap_task;
    struct rh_timer stop_timer;
    int stop_stage;
    struct rh_reconnector reconnector;
    uint32_t cancel_count; /* cancel requests under way */
    struct rh_buf text;    /* scratch of one statement */
    struct rh_buf out;     /* scratch of one request */
    char *input;           /* scratch of one read */
    struct rh_round round;
    struct rh_tally tally;
    struct rh_worker_progress progress;
};

int rh_worker_init(struct rh_worker *w, struct rh_engine *engine, uint32_t number,
                   struct rh_error *err);
int rh_worker_start(struct rh_worker *w, struct rh_error *err);
/* End the thread; its sessions are gone. */
void rh_worker_join(struct rh_worker *w);
void rh_worker_release(struct rh_worker *w);

/* From any thread. */
void rh_worker_open(struct rh_worker *w, struct rh_plan_session *ps);
/* The clock has started: engine->begin_ns. */
void rh_worker_begin(struct rh_worker *w);
/* Send nothing more; what runs has a second to end, is then cancelled, and then left. */
void rh_worker_stop(struct rh_worker *w);

/* For its sessions: what a large statement needed is given back. */
void rh_worker_trim(struct rh_worker *w);
/* For its sessions: free s once the callback that runs has ended. */
void rh_worker_bury(struct rh_worker *w, struct rh_replay_session *s);

#endif
