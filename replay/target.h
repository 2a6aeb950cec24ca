/*
 * replay/target.h
 *
 * What is to be known of the server before anything is replayed on it: that it can be reached, that
 * it is not the one that was captured and serves nobody else, and how long an empty round trip
 * takes.
 */
#ifndef RH_REPLAY_TARGET_H
#define RH_REPLAY_TARGET_H

#include <stdbool.h>
#include <stdint.h>

#include "common/error.h"
#include "replay/connector.h"
#include "replay/plan.h"
#include "replay/replay_options.h"
#include "replay/source_guard.h"

enum { RH_ROUND_TRIPS = 200 };

struct rh_target {
    char version[64];        /* "15.18"; "" if it does not tell */
    char address[320];       /* "192.0.2.7:5432" or the path of a socket */
    int64_t round_trip_ns;   /* median of RH_ROUND_TRIPS empty queries */
    int64_t max_connections; /* of the server; -1 unknown */
};

/*
 * Connect as one of the plan's sessions and find out; say what the guard cannot tell.  RH_ERR_NET:
 * no connection; RH_ERR_REFUSED: a replay might do harm there (not with --allow-source);
 * RH_ERR_STOPPED.
 */
int rh_target_probe(struct rh_target *target, struct rh_connector *connector,
                    const struct rh_plan *plan, const struct rh_source_guard *guard,
                    const struct rh_replay_options *options, struct rh_error *err);

#endif
