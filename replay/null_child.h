/*
 * replay/null_child.h
 *
 * A null server in a process of its own, on a socket in a folder that nobody else can enter.  It
 * ends with its parent, however that ends.
 */
#ifndef RH_REPLAY_NULL_CHILD_H
#define RH_REPLAY_NULL_CHILD_H

#include <stdint.h>
#include <sys/types.h>

#include "common/error.h"
#include "replay/null_server.h"

struct rh_null_child {
    char folder[64]; /* the host to connect to */
    char port[8];
    pid_t pid;
    int report_fd; /* the child writes its totals there when it ends */
};

/* Call it while this process has no other threads: it forks.  rh_stop_install() comes before. */
int rh_null_child_start(struct rh_null_child *child, uint32_t jobs, struct rh_error *err);
/* End it and remove its folder; *totals (may be NULL) is all 0 if it did not end well. */
void rh_null_child_stop(struct rh_null_child *child, struct rh_null_totals *totals);

#endif
