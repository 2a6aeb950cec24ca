/*
 * replay/target.h
 *
 * What is to be known of the server before anything is replayed on it: that it can be reached, that
 * it serves nobody else, what it is, and how long an empty round trip takes.
 */
#ifndef RH_REPLAY_TARGET_H
#define RH_REPLAY_TARGET_H

#include <stdbool.h>
#include <stdint.h>

#include "common/error.h"
#include "replay/finding.h"
#include "replay/inquiry.h"
#include "replay/replay_options.h"
#include "replay/source_guard.h"

enum { RH_ROUND_TRIPS = 200 };

struct rh_target {
    char version[64];        /* "15.18"; "" if it does not tell */
    char address[320];       /* "192.0.2.7:5432" or the path of a socket */
    int64_t round_trip_ns;   /* median of RH_ROUND_TRIPS empty queries; -1 unknown */
    int64_t max_connections; /* of the server; -1 unknown */
    int64_t reserved;        /* of those, only for superusers and the like; -1 unknown */
    int64_t others;          /* clients beside us; -1 unknown */
    bool is_here;            /* on this machine */
    bool is_pooled;          /* a pooler answers, and the server is behind it */
    bool is_in_recovery;
};

/*
 * Find out, by q, an inquiry on such a connection.  What the guard cannot tell becomes a finding,
 * and so, as a stop, do others who have transactions open (not with --allow-source).  A question
 * that is not answered in time ends it, with a note.  -1: the connection failed (RH_ERR_NET) or
 * RH_ERR_STOPPED.
 */
int rh_target_probe(struct rh_target *target, struct rh_inquiry *q,
                    const struct rh_source_guard *guard, const struct rh_replay_options *options,
                    struct rh_error *err);

#endif
