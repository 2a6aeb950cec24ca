/*
 * replay/time_map.h
 *
 * From the trace's time to the replay's: offset = (t - origin - pauses cut before t) / speed.
 */
#ifndef RH_REPLAY_TIME_MAP_H
#define RH_REPLAY_TIME_MAP_H

#include <stddef.h>
#include <stdint.h>

/* Past this many cuts further pauses are kept; a map then still holds in all else. */
enum { RH_TIME_CUTS_MAX = 1000000 };

struct rh_time_cut {
    int64_t from_ns; /* trace time; [from, to) is cut out */
    int64_t to_ns;
    int64_t removed_ns; /* by this cut and all before it */
};

struct rh_time_map {
    int64_t origin_ns; /* trace time at which the replay begins */
    double speed;      /* above 0 */
    struct rh_time_cut *cuts;
    size_t cut_count;
    size_t cut_cap;
};

void rh_time_map_init(struct rh_time_map *m, int64_t origin_ns, double speed);
void rh_time_map_release(struct rh_time_map *m);

/* Cut [from, to) out; cuts come in order and do not overlap.  -1 if there are too many already. */
int rh_time_map_cut(struct rh_time_map *m, int64_t from_ns, int64_t to_ns);

/* How long after the replay's begin the moment t comes; 0 for what lies before the origin. */
int64_t rh_time_map_offset_ns(const struct rh_time_map *m, int64_t trace_ns);

/* How long a stretch of the trace lasts in the replay, without regard to cuts. */
int64_t rh_time_map_scale_ns(const struct rh_time_map *m, int64_t length_ns);

/* Time that all cuts remove. */
int64_t rh_time_map_removed_ns(const struct rh_time_map *m);

#endif
