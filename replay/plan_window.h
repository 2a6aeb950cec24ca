/*
 * replay/plan_window.h
 *
 * One pass over the window of a trace, for what only its records tell: each session's first
 * transaction boundary after --from, its transaction that is open at --to, and the pauses in which
 * nothing runs.
 */
#ifndef RH_REPLAY_PLAN_WINDOW_H
#define RH_REPLAY_PLAN_WINDOW_H

#include "replay/plan.h"

/* What was seen of one session. */
struct rh_plan_seen {
    uint64_t record_count;
    int64_t first_ns;
    uint64_t start_ordinal; /* first transaction boundary; 0: its first record is one */
    uint64_t open_ordinal;  /* BEGIN of a transaction that did not end; 0: none */
    bool is_inside;         /* within a transaction that began before the window */
    bool is_settled;        /* start_ordinal is final */
};

/* Takes a record of the session, in their order. */
void rh_plan_seen_add(struct rh_plan_seen *seen, const struct rh_record *r);

/* Finds pauses; events come in order of time. */
struct rh_idle_finder {
    int64_t keep_ns;    /* what is kept of each pause */
    int64_t busy_to_ns; /* something ran until then; INT64_MIN: no event yet */
    struct rh_time_map *map;
};

/* Something begins at from_ns and runs until to_ns (RH_TIME_UNKNOWN or less: is a mere event). */
void rh_idle_finder_add(struct rh_idle_finder *f, int64_t from_ns, int64_t to_ns);

struct rh_plan_scan {
    struct rh_plan_seen *seen; /* by place in rh_trace_index */
    uint64_t statement_count;
    int64_t end_ns; /* last start or end of a record; INT64_MIN: none */
};

/* Reads the window that the options give.  With their skip_idle_ns, *map gets the cuts; then
 * `events` are the times of openings and closings, sorted. */
int rh_plan_scan(struct rh_plan_scan *scan, struct rh_trace_file *file,
                 const struct rh_trace_index *index, const struct rh_replay_options *options,
                 const int64_t *events, size_t event_count, struct rh_time_map *map,
                 struct rh_error *err);
void rh_plan_scan_release(struct rh_plan_scan *scan);

#endif
