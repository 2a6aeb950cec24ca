/*
 * capture/session_keep.h
 *
 * What the filters leave of a session.  Transactions are wanted or not as a whole, by the time and
 * the application of their first statement; patterns then choose among the statements of wanted
 * ones.  A statement that changes its session or transaction is never left out of what is kept: a
 * replay without its COMMIT would hold locks, one without its SET would do other work.  What
 * unwanted transactions changed in their session is carried to the first statement that is kept.
 */
#ifndef RH_CAPTURE_SESSION_KEEP_H
#define RH_CAPTURE_SESSION_KEEP_H

#include "capture/capture_filter.h"
#include "capture/statement_class.h"
#include "formats/record.h"
#include "formats/session_state.h"

/* Whether the filters want a transaction, as its first statement is. */
enum rh_txn_fate {
    RH_TXN_FATE_WANTED,
    RH_TXN_FATE_EARLY,   /* before --from */
    RH_TXN_FATE_LATE,    /* from --to on */
    RH_TXN_FATE_FOREIGN, /* of another application */
};

struct rh_session_keep {
    enum rh_txn_fate fate;            /* of the transaction under way */
    struct rh_session_state *carried; /* by statements that are not kept; NULL: nothing */
};

enum rh_keep {
    RH_KEEP,
    RH_KEEP_ALONE, /* out of a transaction that is not kept */
    RH_KEEP_NOT,
};

/* A statement, as the filters look at it. */
struct rh_keep_question {
    struct rh_span application; /* application_name when it began */
    int64_t start_ns;
    struct rh_span text;
    const struct rh_statement_class *klass; /* of the text */
    const struct rh_record *record; /* its kind and marks, and what it does to its session */
    bool is_written;                /* something of the session was kept before */
};

/* Zeros are the beginning. */
void rh_session_keep_release(struct rh_session_keep *k);
enum rh_keep rh_session_keep_judge(struct rh_session_keep *k, struct rh_capture_filter *filter,
                                   const struct rh_keep_question *q);
/* What is carried, and is no more; to be released and freed (common/alloc.h).  NULL: nothing. */
struct rh_session_state *rh_session_keep_take(struct rh_session_keep *k);
/* A SET or PREPARE that ran before what is kept, as a statement of its own without a duration. */
void rh_session_keep_carried(struct rh_record *r, struct rh_span text, int64_t start_ns);

#endif
