/*
 * common/stop.h
 *
 * SIGINT, SIGTERM and SIGHUP (the terminal is gone) ask a command to stop and keep what it has; a
 * second one ends it at once.  A SIGHUP that is ignored (nohup) stays ignored.
 */
#ifndef RH_COMMON_STOP_H
#define RH_COMMON_STOP_H

#include <stdbool.h>

/* Install the handlers (and ignore SIGPIPE).  Call once, before threads are made. */
void rh_stop_install(void);
bool rh_stop_requested(void);
/* The signal's number, 0 if none came. */
int rh_stop_signal(void);
/* Becomes readable when a stop is asked for; for event loops.  Not to be read or closed.  -1 before
 * rh_stop_install(). */
int rh_stop_fd(void);
/* In a child after fork(): nothing is asked for, and rh_stop_fd() is the child's own.  Without it
 * the two would hear of each other's signals. */
void rh_stop_detach(void);
/* Ask for a stop from inside (tests, limits). */
void rh_stop_request(void);
/* Forget what was asked for; for tests. */
void rh_stop_clear(void);

#endif
