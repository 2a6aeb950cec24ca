/*
 * replay/plan.h
 *
 * What of a trace is replayed and when: which sessions are opened, where each starts and stops, and
 * how the trace's time maps to the replay's.  Made once, before anything is sent; from then on read
 * only, but for the fields that say so.
 */
#ifndef RH_REPLAY_PLAN_H
#define RH_REPLAY_PLAN_H

#include <stdbool.h>
#include <stdint.h>

#include "common/error.h"
#include "common/loop.h"
#include "common/map.h"
#include "formats/trace_file.h"
#include "formats/trace_index.h"
#include "replay/replay_options.h"
#include "replay/time_map.h"

struct rh_worker;
struct rh_write_filter;

struct rh_plan_session {
    const struct rh_session *session; /* as captured */
    uint32_t trace_index;             /* in rh_trace_index */
    uint32_t copy;                    /* 0, or 1, 2, ... by --scale */
    bool restore;     /* it ran at --from, in the file before this one, or before the capture: state
                         is restored before its first statement, and that begins a transaction */
    bool is_initial;  /* it ran when the window began: connected before the clock starts */
    bool close_early; /* its end was not captured and slots are scarce: closes after its last record
                       */
    enum rh_reason unsent;  /* not NONE: it is never opened, for this reason */
    int64_t open_ns;        /* trace time */
    int64_t close_ns;       /* trace time; RH_TIME_UNKNOWN: open to the end */
    uint64_t first_ordinal; /* what lies before is outside the window; without a window the feeder
                               finds it, if `restore` */
    uint64_t end_ordinal;   /* first of a transaction that is open at --to; UINT64_MAX: none */
    uint32_t closed_before; /* how many had closed, in the capture, before it opened */
    uint32_t close_rank;    /* its place in the order of closing; UINT32_MAX: it did not close */

    /* Of the session's worker, and read when the workers are gone. */
    struct rh_worker *worker;
    struct rh_task open_task;
    enum rh_reason rest; /* why the records from rest_ordinal on were not sent; NONE: all were */
    uint64_t rest_ordinal;
    int64_t opened_wall_ns; /* RH_TIME_UNKNOWN: it never was */
    int64_t closed_wall_ns; /* with a rest: when it ended, and how (to be freed) */
    char *closed_how;
    uint32_t backend_pid;
    /* Of the recorder. */
    bool is_recorded;
};

struct rh_plan {
    const struct rh_trace_index *index;
    bool speed_is_max;
    bool is_part;   /* the trace goes on where another file ended (FORMAT.md, "continues") */
    bool has_steps; /* captured from the wire: every message is known */
    struct rh_write_filter *read_only; /* NULL: writes are replayed too */
    struct rh_time_map map;
    int64_t from_ns;
    int64_t to_ns;
    int64_t end_ns; /* trace time of the last event of the window */

    struct rh_plan_session *sessions; /* in order of opening */
    uint32_t session_count;
    uint32_t openable_count; /* without those that are never opened */
    uint32_t peak_count;     /* most sessions open at once */
    uint32_t *by_close;      /* session numbers of this plan, in order of closing */
    uint32_t close_count;
    struct rh_map by_number; /* trace session number -> struct rh_plan_session: its first copy */
    uint32_t scale;          /* copies of each session; they stand side by side in `sessions` */

    uint64_t statement_count;    /* in the window (in the whole trace where none was given), of all
                                    copies */
    uint32_t login_failed_count; /* in production, not tried again */
    uint32_t replication_count;
    uint32_t encrypted_count;
    bool closes_unknown; /* the capture saw no session close */
};

int rh_plan_new(struct rh_plan **out, struct rh_trace_file *file,
                const struct rh_trace_index *index, const struct rh_replay_options *options,
                struct rh_error *err);
void rh_plan_free(struct rh_plan *plan);

/* Decide on a record before it is sent: it gets the session's copy, its run part the planned offset
 * (ns after the replay's begin; the worker makes a time of it), and a fate if it is not to be sent.
 * The record is whole; one thread at a time. */
void rh_plan_judge(const struct rh_plan *plan, const struct rh_plan_session *ps,
                   struct rh_record *r);

/* How long the replay lasts if nothing is late. */
int64_t rh_plan_length_ns(const struct rh_plan *plan);

#endif
