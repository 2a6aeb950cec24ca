/*
 * tests/report/run_pair.h
 *
 * Two runs of one trace, as reports and benches need them made.
 */
#ifndef RH_TESTS_REPORT_RUN_PAIR_H
#define RH_TESTS_REPORT_RUN_PAIR_H

#include "common/clock.h"
#include "formats/trace_writer.h"

#define RUN_PAIR_EPOCH_NS (INT64_C(1767225600) * RH_NS_PER_SEC) /* 2026-01-01 */

/* How one of the two is told from the other, and what is the same in both. */
struct run_pair_side {
    bool is_candidate;
    struct rh_span server_version;
    struct rh_span server_address;
    struct rh_span name;         /* of user and database */
    uint32_t sessions;           /* 1 to so many */
    const char *applications[2]; /* in turn, by session; NULL: none */
};

/* The writer of a run with its header and sessions; to be finished by the caller. */
int run_pair_open(struct rh_trace_writer **w, const char *path, const struct run_pair_side *side,
                  struct rh_error *err);
/* A statement of it, sent at start_ns, that took service_ns and gave so many rows. */
void run_pair_done(struct rh_record *r, int64_t planned_ns, int64_t start_ns, int64_t service_ns,
                   int64_t rows);

#endif
