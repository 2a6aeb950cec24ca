/*
 * front/trace_summary.h
 *
 * What a trace or run file holds, counted by reading all of it once.
 */
#ifndef RH_FRONT_TRACE_SUMMARY_H
#define RH_FRONT_TRACE_SUMMARY_H

#include <stdint.h>

#include "common/error.h"
#include "common/intern.h"
#include "formats/record.h"
#include "formats/trace_file.h"
#include "front/damage_list.h"

enum { RH_SUMMARY_KINDS = 16, RH_SUMMARY_FATES = 5, RH_SUMMARY_GAP_REASONS_MAX = 64 };

struct rh_gap_count {
    uint64_t places; /* gap records */
    uint64_t amount; /* the sum of what they say is missing, at least one each */
};

struct rh_trace_summary {
    uint64_t by_kind[RH_SUMMARY_KINDS]; /* records by enum rh_kind */
    uint64_t statements;
    uint64_t failed; /* statements whose SQLSTATE is known and not a success */
    uint64_t transactions;
    int64_t begin_ns; /* RH_TIME_UNKNOWN: no record has a time */
    int64_t end_ns;
    uint64_t held[RH_REASON_COUNT]; /* records that cannot be replayed, by reason */
    uint64_t held_total;
    uint64_t fates[RH_SUMMARY_FATES]; /* of a run's statements */
    uint64_t unsent[RH_REASON_COUNT]; /* of a run's statements, why they were not sent */
    struct rh_intern gap_reasons;     /* the last one may be "other" */
    struct rh_gap_count gaps[RH_SUMMARY_GAP_REASONS_MAX]; /* by id in gap_reasons */
    uint64_t reopenings; /* of a run's sessions that lost their connection */
    uint32_t sessions;
    uint32_t peak_open;
    uint32_t joined_midway;
    uint32_t left_open;
    uint32_t logins_failed;
    uint32_t data_blocks;
    uint32_t late_blocks;
    struct rh_damage_list damage;
};

void rh_trace_summary_init(struct rh_trace_summary *s);
void rh_trace_summary_release(struct rh_trace_summary *s);
/* -1 only on an I/O error; damage is counted. */
int rh_trace_summary_read(struct rh_trace_summary *s, struct rh_trace_file *file,
                          struct rh_error *err);

#endif
