/*
 * diff/timeline.h
 *
 * One side over time: what started in each of at most RH_TIMELINE_POINTS spans of equal length,
 * counted from the side's first statement.  A longer file has longer spans: then two neighbours
 * become one, so the memory is bounded and nothing depends on the order of the statements.
 */
#ifndef RH_DIFF_TIMELINE_H
#define RH_DIFF_TIMELINE_H

#include <stdint.h>

#include "common/hist.h"
#include "diff/observation.h"

enum { RH_TIMELINE_POINTS = 256 };

/* At first a span is a tenth of a second long. */
#define RH_TIMELINE_SPAN_NS INT64_C(100000000)

struct rh_timeline_point {
    uint64_t calls;
    uint64_t errors;
    struct rh_hist service; /* ns, of those that succeeded */
    struct rh_hist lag;     /* ns, of a run */
};

struct rh_timeline {
    struct rh_timeline_point *points; /* NULL while empty */
    uint32_t count;
    int64_t span_ns;
    int64_t first_ns;
};

/* Zeroed is empty. */
void rh_timeline_release(struct rh_timeline *t);
/* A statement that ran and has a start (start_ns, whatever o says); in start order.  One before the
 * first counts into the first span; what starts more than twelve days after it is not counted. */
void rh_timeline_add(struct rh_timeline *t, const struct rh_observation *o, int64_t start_ns);
/* Make both have spans of the same length, the longer one. */
void rh_timeline_align(struct rh_timeline *a, struct rh_timeline *b);

#endif
