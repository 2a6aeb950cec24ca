/*
 * diff/side_reader.h
 *
 * One side of a comparison: an opened trace or run, what is known of it as a whole, and its
 * statements in start order with the query each belongs to.
 */
#ifndef RH_DIFF_SIDE_READER_H
#define RH_DIFF_SIDE_READER_H

#include <stdbool.h>
#include <stdint.h>

#include "common/hist.h"
#include "diff/arrivals.h"
#include "diff/observation.h"
#include "diff/query_lookup.h"
#include "diff/run_scope.h"
#include "formats/trace_file.h"
#include "formats/trace_reader.h"

/* What is counted over a whole side. */
struct rh_side_summary {
    uint64_t statements;
    uint64_t calls; /* of these, ran */
    uint64_t errors;
    uint64_t unknown;
    uint64_t skipped;
    uint64_t not_sent;
    uint64_t lost;
    uint64_t by_reason[RH_REASON_COUNT]; /* of skipped and not_sent */
    uint64_t commit_not_timed;
    uint64_t timed;   /* succeeded, with a service time */
    uint64_t gaps;    /* records of something missing */
    int64_t first_ns; /* of the statements' starts, RH_TIME_UNKNOWN */
    int64_t last_ns;
    uint64_t outside_window;   /* not part of a run by --from, --to or --read-only, or not of what
                                  is compared; not in `statements` */
    struct rh_hist lag;        /* of a run, ns */
    struct rh_hist behind;     /* of a run, ns, of those that were */
    uint64_t sessions;         /* whose first message is in the file */
    uint64_t sessions_refused; /* of these, by the candidate's server */
    uint64_t order_waits;      /* of a run: statements that waited for their turn by --order */
    struct rh_arrivals arrivals;
    uint32_t damaged_blocks;
    uint64_t damaged_records;
};

struct rh_side_reader {
    struct rh_trace_file *file; /* the caller's */
    uint32_t part;              /* of the comparison */
    enum rh_file_kind kind;
    int64_t from_ns; /* the part of the file that is read: from_ns <= start < to_ns */
    int64_t to_ns;
    const struct rh_run_scope *scope; /* not NULL: what lies beyond it is outside */
    uint32_t copies;                  /* of a session, that are compared; 0: all */
    struct rh_trace_reader *reader;
    struct rh_query_lookup lookup;
    struct rh_record record; /* the last one given */
    uint32_t query;          /* its query */
    bool query_known;
    uint64_t read;     /* statements given so far */
    uint64_t expected; /* statements the file says it has, at least 1 */
    double share_each; /* 1 / expected */
    uint64_t gaps;
};

void rh_side_reader_init(struct rh_side_reader *s, struct rh_trace_file *file,
                         struct rh_query_table *queries);
void rh_side_reader_release(struct rh_side_reader *s);
/* Read only the part of a workload that the other side, a run with --from or --to, has replayed. */
void rh_side_reader_narrow(struct rh_side_reader *s, const struct rh_trace_header *other);
/* Begin again at the first record. */
int rh_side_reader_rewind(struct rh_side_reader *s, struct rh_error *err);
/* 1 and *o, 0 at the end, -1.  s->record is valid until the next call. */
int rh_side_reader_next(struct rh_side_reader *s, struct rh_observation *o, struct rh_error *err);
/* The query of the record just given. */
uint32_t rh_side_reader_query(struct rh_side_reader *s);
/* s->record was given without literals (RH_WANT_OUTCOMES): get them where its text is to be shown.
 */
void rh_side_reader_complete(struct rh_side_reader *s);
/* How far it is, 0..1. */
double rh_side_reader_share(const struct rh_side_reader *s);

void rh_side_summary_init(struct rh_side_summary *sum);
void rh_side_summary_release(struct rh_side_summary *sum);
/* Of every observation, statement or not: is it a session's first? */
void rh_side_summary_note_session(struct rh_side_summary *sum, const struct rh_observation *o);
/* placed_ns: its start on a clock on which the parts of a side follow each other. */
void rh_side_summary_observe(struct rh_side_summary *sum, const struct rh_observation *o,
                             int64_t placed_ns);

#endif
