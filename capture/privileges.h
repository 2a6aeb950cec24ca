/*
 * capture/privileges.h
 *
 * What a capture does with the bytes of strangers needs no privilege, so it gives up those that it
 * opened the device with.
 */
#ifndef RH_CAPTURE_PRIVILEGES_H
#define RH_CAPTURE_PRIVILEGES_H

#include <stdbool.h>
#include <sys/types.h>

#include "common/error.h"

struct rh_run_as {
    bool change; /* another user than now; only root can */
    uid_t uid;
    gid_t gid;
    char name[64];
};

/* Who to be: `user` (a name or a number) where it is given; for root else the one who called sudo
 * (SUDO_UID and SUDO_GID), or nobody; for others themselves.  -1: there is no such user, or it
 * takes root to become him. */
int rh_run_as_find(struct rh_run_as *who, const char *user, struct rh_error *err);

/* Become that user, with no capability left and no way to get one by running a program.  Before
 * threads are made. */
int rh_privileges_drop(const struct rh_run_as *who, struct rh_error *err);

#endif
