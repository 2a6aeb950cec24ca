/*
 * replay/identity.h
 *
 * As whom and where the sessions of a plan are replayed: each user and database of the capture
 * once, with those that take their place.
 */
#ifndef RH_REPLAY_IDENTITY_H
#define RH_REPLAY_IDENTITY_H

#include <stdbool.h>
#include <stdint.h>

#include "replay/plan.h"

/* What a user sees of a server; more is greater. */
enum rh_sight {
    RH_SIGHT_OWN,        /* its own sessions and statistics */
    RH_SIGHT_STATISTICS, /* a member of pg_monitor or pg_read_all_stats */
    RH_SIGHT_SUPERUSER,
};

enum rh_login { RH_LOGIN_UNTRIED, RH_LOGIN_DONE, RH_LOGIN_FAILED };

struct rh_identity {
    struct rh_span captured_user; /* none: unknown */
    struct rh_span captured_database;
    struct rh_span user; /* of the replay; none: libpq's default */
    struct rh_span database;
    uint64_t sessions;   /* of the plan that are opened */
    uint64_t statements; /* of those, in the window; 0 until it is filled in (replay/preview.h) */
    /* The first identity with this user and database in the replay: it logs in for all of them, and
     * only its fields below count. */
    uint32_t leader;
    uint64_t all_sessions; /* of all that it logs in for */
    enum rh_login login;
    enum rh_sight sight; /* OWN until it is known (replay/asker.h) */
    char encoding[32];   /* of the database, "" unknown */
    char sqlstate[6];    /* of the refusal, "" if the server sent none */
    char *why;           /* NULL, or freed by release */
};

struct rh_identities {
    struct rh_identity *items;
    uint32_t count;
    size_t cap;
    uint32_t *leaders; /* places in items, those with most sessions first */
    uint32_t leader_count;
    uint32_t *of_session; /* by place in the plan; UINT32_MAX: never opened */
};

/* Texts point into plan and options. */
void rh_identities_init(struct rh_identities *ids, const struct rh_plan *plan,
                        const struct rh_replay_options *options);
void rh_identities_release(struct rh_identities *ids);

/* Most sessions of the plan that are open at once as this user, or in this database, in the replay;
 * a name without data stands for all. */
uint32_t rh_identities_peak(const struct rh_identities *ids, const struct rh_plan *plan,
                            struct rh_span user, struct rh_span database);

#endif
