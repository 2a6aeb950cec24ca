/*
 * capture/capture_stats.h
 *
 * What a capture counts, for its summary and the notes in the trace.
 */
#ifndef RH_CAPTURE_CAPTURE_STATS_H
#define RH_CAPTURE_CAPTURE_STATS_H

#include <stdint.h>

#include "formats/record.h"

enum { RH_SERVER_VERSION_MAX = 31 };

struct rh_log_place {
    const char *file; /* NULL: none */
    uint64_t line;
};

struct rh_error_count {
    uint32_t sqlstate;
    uint64_t count;
};

struct rh_capture_stats {
    uint64_t kinds[RH_KIND_CANCEL + 1]; /* records with ordinals, by kind */
    uint64_t timed;                     /* statements with a duration */
    uint64_t succeeded;                 /* known to have */
    uint64_t failed;
    uint64_t outcome_unknown;
    uint64_t error_only;
    uint64_t commit_not_timed;
    uint64_t held[RH_REASON_COUNT]; /* not replayable, by reason */
    uint64_t filtered;              /* statements left out by the filters */
    uint64_t carried; /* SETs and PREPAREs of before the first statement kept, in front of it */
    uint64_t sessions_filtered;
    uint64_t sessions;
    uint64_t joined_midway;
    uint64_t left_open;
    uint64_t retired; /* of these, given up because too many were open */
    uint64_t resumed; /* of these, came back as another session */
    uint64_t logins_failed;
    uint64_t probes;            /* connections that never logged in */
    uint64_t textless;          /* executions of which only a duration was logged */
    uint64_t textless_prepares; /* parses and binds likewise, without an execution */
    uint64_t errors_without_text;
    uint64_t missing_lines; /* gaps in the sessions' line numbers */
    uint64_t repeated;      /* records that were read before */
    uint64_t disordered;    /* records whose place in their session is past */
    uint64_t background;    /* records of processes without a client */
    uint64_t plans;         /* auto_explain */
    uint64_t audits;        /* pgaudit */
    uint64_t other;         /* records that say nothing about statements or sessions */
    uint64_t copies;        /* COPY FROM STDIN */
    int64_t first_ns;       /* the earliest and the latest stamp; RH_TIME_UNKNOWN */
    int64_t last_ns;
    struct rh_log_place repeated_at; /* the first one */
    struct rh_log_place disordered_at;
    char server_version[RH_SERVER_VERSION_MAX + 1]; /* as last told; "": not */
    struct rh_error_count *errors;                  /* of statements, by SQLSTATE */
    uint32_t error_count;
    uint32_t error_cap;
};

void rh_capture_stats_init(struct rh_capture_stats *s);
void rh_capture_stats_release(struct rh_capture_stats *s);
void rh_capture_stats_add_error(struct rh_capture_stats *s, uint32_t sqlstate);
/* Most frequent first. */
void rh_capture_stats_sort(struct rh_capture_stats *s);
/* QUERY, EXECUTE and FUNCTION. */
uint64_t rh_capture_stats_statements(const struct rh_capture_stats *s);

#endif
