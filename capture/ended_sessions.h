/*
 * capture/ended_sessions.h
 *
 * Ids of sessions that have ended, with the lines of them that were read: a log that is given twice
 * does not make them begin again.  Bounded: of more than RH_ENDED_SESSIONS_MAX the older half is
 * forgotten.
 */
#ifndef RH_CAPTURE_ENDED_SESSIONS_H
#define RH_CAPTURE_ENDED_SESSIONS_H

#include "capture/seen_lines.h"
#include "common/arena.h"
#include "common/map.h"

enum { RH_ENDED_SESSIONS_MAX = 1024 * 1024 };

struct rh_ended_generation {
    struct rh_map by_key;
    struct rh_arena entries;
};

struct rh_ended_sessions {
    struct rh_ended_generation young;
    struct rh_ended_generation old;
    size_t max;
};

void rh_ended_sessions_init(struct rh_ended_sessions *e);
void rh_ended_sessions_release(struct rh_ended_sessions *e);
void rh_ended_sessions_put(struct rh_ended_sessions *e, uint64_t key,
                           const struct rh_seen_lines *seen);
/* False if none of this id is known to have ended. */
bool rh_ended_sessions_get(const struct rh_ended_sessions *e, uint64_t key,
                           struct rh_seen_lines *seen);

#endif
