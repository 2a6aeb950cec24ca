/*
 * diff/observation.h
 *
 * What the comparison needs of one record: which statement it is, how it went, how long it took.
 * The same for a workload (production's outcome) and a run (the replay's).
 */
#ifndef RH_DIFF_OBSERVATION_H
#define RH_DIFF_OBSERVATION_H

#include <stdbool.h>
#include <stdint.h>

#include "formats/record.h"
#include "formats/trace_header.h"

enum rh_side { RH_BASE = 0, RH_CANDIDATE = 1, RH_SIDES = 2 };

/* A statement and when it started, for examples. */
struct rh_statement_ref {
    uint32_t part; /* of the comparison: which of the side's files it is in */
    uint32_t session;
    uint32_t copy;
    uint64_t ordinal;
    int64_t start_ns;
};

/* The order in which examples are preferred: earlier part, then start, session, copy, ordinal. */
bool rh_statement_ref_before(const struct rh_statement_ref *a, const struct rh_statement_ref *b);

/* No statement takes longer than 104 days: sums of so many bits stay exact. */
enum { RH_SERVICE_BITS = 53 };

enum rh_observed {
    RH_OBSERVED_OK = 0,      /* known to have succeeded */
    RH_OBSERVED_ERROR = 1,   /* answered with a SQLSTATE */
    RH_OBSERVED_UNKNOWN = 2, /* it ran, what came of it is not known */
    RH_OBSERVED_MISSING = 3, /* of a run: skipped, not sent, or lost without an answer */
};

struct rh_observation {
    struct rh_statement_ref ref;
    enum rh_observed status;
    bool is_statement;     /* counted; false: its error counts, nothing else of it */
    bool commit_not_timed; /* its service time lacks the commit */
    bool waited_for_order; /* of a run */
    bool untyped;          /* has parameters whose types the capture could not know */
    enum rh_fate fate;
    enum rh_reason reason;
    uint32_t sqlstate;  /* RH_OBSERVED_ERROR only */
    int64_t service_ns; /* sent to done, or the duration; -1 unknown */
    int64_t
        behind_ns;  /* of a run: waited past its time for the answer before it; 0 if it did not */
    int64_t rows;   /* RH_COUNT_UNKNOWN */
    int64_t lag_ns; /* of a run, -1 unknown: sent after it was due by the schedule, the answer it
                       had to wait for and its turn by --order */
};

/* Why a run left out a statement that was not to be in it. */
static inline bool rh_reason_is_outside(enum rh_reason reason)
{
    return reason == RH_REASON_OUTSIDE_WINDOW || reason == RH_REASON_READ_ONLY;
}

/* A statement that the run was told to leave out, by --from and --to (or since its transaction was
 * open there) or by --read-only, or that the other run was: it is missing nowhere. */
static inline bool rh_observation_is_outside(const struct rh_observation *o)
{
    return o->status == RH_OBSERVED_MISSING && rh_reason_is_outside(o->reason);
}

/* Of a run that has nothing to do with what is compared. */
void rh_observation_put_outside(struct rh_observation *o);
/* False for records that say nothing to the comparison: openings, gaps, cancels, COPY data. */
bool rh_observation_make(struct rh_observation *o, const struct rh_record *r,
                         enum rh_file_kind kind);

#endif
