/*
 * diff/fitness.h
 *
 * Can this rehearsal be trusted?  Named checks with their figures, before any verdict on queries:
 * an INVALID one gets none.
 */
#ifndef RH_DIFF_FITNESS_H
#define RH_DIFF_FITNESS_H

#include <stdbool.h>

#include "diff/comparison.h"

struct rh_noise;

enum rh_fit { RH_FIT_VALID, RH_FIT_DEGRADED, RH_FIT_INVALID, RH_FIT_UNKNOWN /* of a check only */ };

enum rh_check {
    RH_CHECK_COMPLETE,            /* 1 when both files are whole */
    RH_CHECK_SAME_TRACE,          /* 1 when the statements pair */
    RH_CHECK_SAME_VANTAGE,        /* 1 when times were taken at one kind of place */
    RH_CHECK_SAME_SPEED,          /* 1 when both went at one speed; a workload's is 1 */
    RH_CHECK_CONNECTED,           /* % of the base's statements not kept from running by a lost or
                                     refused session */
    RH_CHECK_SENT,                /* % of the base's statements that ran */
    RH_CHECK_SESSIONS,            /* % of the candidate's sessions that could connect */
    RH_CHECK_ERROR_PARITY,        /* % of the pairs that both succeeded or both failed */
    RH_CHECK_ROW_PARITY,          /* % of the compared pairs with the same number of rows */
    RH_CHECK_ARRIVAL_CORRELATION, /* of both sides' statements per second */
    RH_CHECK_LAG_P99_MS,          /* the larger one of the runs */
    RH_CHECK_ORDER_WAIT,          /* % of the candidate's statements that waited for --order */
    RH_CHECK_GAPS,                /* of the captures, known to be missing */
    RH_CHECK_SHIFT,               /* %: how far the median query's mean moved, either way */
    RH_CHECK_NOISE,               /* %: what runs of one side differ by, the noise's margin */
    RH_CHECKS,
};

/* What is worse than `degraded` or `invalid` makes the rehearsal so. */
struct rh_fitness_check {
    double actual; /* NAN when it is not known */
    enum rh_fit state;
};

struct rh_fitness {
    enum rh_fit verdict;
    struct rh_fitness_check checks[RH_CHECKS];
};

/* Rows: of the pairs that count for them (result.h).  noise NULL: not known. */
void rh_fitness_make(struct rh_fitness *f, const struct rh_comparison *c, uint64_t rows_compared,
                     uint64_t row_mismatches, const struct rh_noise *noise);

/* "statements-sent-pct". */
const char *rh_check_name(enum rh_check check);
/* What it tells, in a few words. */
const char *rh_check_text(enum rh_check check);
/* The limits: passed, the rehearsal is degraded or invalid; NAN where there is none. */
double rh_check_limit(enum rh_check check, enum rh_fit fit);
/* "valid", "degraded", "invalid"; of a check "ok" and "unknown" too. */
const char *rh_fit_name(enum rh_fit fit);
const char *rh_check_state_name(enum rh_fit fit);

#endif
