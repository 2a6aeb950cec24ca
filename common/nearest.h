/*
 * common/nearest.h
 *
 * Which known name a mistyped one may have meant.
 */
#ifndef RH_COMMON_NEAREST_H
#define RH_COMMON_NEAREST_H

#include <stddef.h>

enum { RH_NEAREST_LENGTH_MAX = 63 };

struct rh_nearest {
    const char *wanted;
    const char *best; /* NULL: no name was near */
    size_t distance;
};

/* wanted and the names offered must live as long as the result is used. */
void rh_nearest_init(struct rh_nearest *n, const char *wanted);
/* A name is near when it begins with all of `wanted` (two letters or more), or when at most a third
 * of its letters, rounded up, must be changed, added, removed or swapped with the next. */
void rh_nearest_offer(struct rh_nearest *n, const char *name);

#endif
