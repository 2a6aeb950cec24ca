/*
 * replay/tally.h
 *
 * What one worker counts; tallies of all workers are added up for the summary.
 */
#ifndef RH_REPLAY_TALLY_H
#define RH_REPLAY_TALLY_H

#include <stdbool.h>
#include <stdint.h>

#include "common/clock.h"
#include "common/hist.h"
#include "formats/record.h"

/* Different SQLSTATEs that are told apart; PostgreSQL has about 260. */
enum { RH_TALLY_STATES_MAX = 512, RH_TALLY_TEXT = 300 };

/* Fewer failures beyond production's need no warning. */
enum { RH_TALLY_EXCESS_MIN = 10 };

#define RH_LATE_SESSION_NS RH_NS_PER_SEC

struct rh_tally_state {
    uint32_t sqlstate;
    bool types_unknown;
    uint64_t count;
};

struct rh_tally {
    uint64_t sessions_opened;
    uint64_t sessions_failed;
    uint64_t sessions_lost;        /* with something still to be sent, and for good */
    uint64_t sessions_reconnected; /* each counted once */
    uint64_t reconnects;
    uint64_t sessions_late;    /* their first record went out RH_LATE_SESSION_NS or more too late */
    int64_t latest_session_ns; /* the most of it: a slot or the connection was waited for */
    uint64_t statements_sent;  /* statements; what follows in this block too */
    uint64_t statements_failed;
    uint64_t statements_lost;
    uint64_t production_failed; /* of those sent, failed in production */
    uint64_t production_known;  /* of those sent, production's outcome is known */
    uint64_t others_sent;       /* records that are not statements */
    uint64_t prepares_sent;     /* PREPARE commands that the log showed only with their EXECUTE */
    uint64_t setups_failed;     /* of those, and of commands that restore a session's state */
    uint64_t cancels_sent;      /* statements for which a cancel request was sent */
    uint64_t cancels_failed;    /* requests that did not get through */
    uint64_t skipped[RH_REASON_COUNT];  /* statements not replayable, by reason */
    uint64_t not_sent[RH_REASON_COUNT]; /* statements that could have been */
    uint32_t refused_session;           /* one of the refused, for an example; 0: none */
    char refused_text[RH_TALLY_TEXT];   /* and why it was, cut at this length */
    struct rh_tally_state states[RH_TALLY_STATES_MAX];
    uint32_t state_count;
    uint64_t orders_broken;   /* waits of --order that were given up */
    struct rh_hist order_ns;  /* how long records waited for their turn by --order */
    uint64_t states_beyond;   /* failures with a state that found no room */
    struct rh_hist lag_ns;    /* sent - max(planned, ready) */
    struct rh_hist behind_ns; /* ready - planned, of those that had to wait past their time for the
                                 answer before them */
};

void rh_tally_init(struct rh_tally *t);
void rh_tally_release(struct rh_tally *t);
void rh_tally_merge(struct rh_tally *into, const struct rh_tally *from);

/* A session was refused for that reason; the first one is kept. */
void rh_tally_note_refusal(struct rh_tally *t, uint32_t session, const char *why);
/* Count a record whose run part and outcome are final.  True if it is a statement that failed. */
bool rh_tally_add(struct rh_tally *t, const struct rh_record *r);
/*
 * How many more statements failed than in production, at the least: each whose outcome there is not
 * known counts as failed there.  0 where that is none, or less than 1 % of those sent (there the
 * diff's gates would pass) or RH_TALLY_EXCESS_MIN.
 */
uint64_t rh_tally_excess(const struct rh_tally *t);
/* The SQLSTATE of most failures, and of how many; 0 without a failure. */
uint32_t rh_tally_top_state(const struct rh_tally *t, uint64_t *count);
/* Most frequent first. */
void rh_tally_sort_states(struct rh_tally *t);

#endif
