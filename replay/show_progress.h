/*
 * replay/show_progress.h
 *
 * The line of progress while a replay runs.
 */
#ifndef RH_REPLAY_SHOW_PROGRESS_H
#define RH_REPLAY_SHOW_PROGRESS_H

#include <stdint.h>

#include "common/progress.h"

struct rh_engine;

struct rh_show_progress {
    struct rh_engine *engine;
    struct rh_progress line;
    int64_t last_ns; /* of the last line, for the rate */
    uint64_t last_sent;
};

void rh_show_progress_init(struct rh_show_progress *p, struct rh_engine *engine);
/* Show it again if it is time, and wanted. */
void rh_show_progress_update(struct rh_show_progress *p);
void rh_show_progress_end(struct rh_show_progress *p);

#endif
