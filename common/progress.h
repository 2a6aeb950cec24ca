/*
 * common/progress.h
 *
 * One line that is rewritten in place, only when standard error is a terminal.
 */
#ifndef RH_COMMON_PROGRESS_H
#define RH_COMMON_PROGRESS_H

#include <stdbool.h>
#include <stdint.h>

struct rh_progress {
    bool on_terminal;
    bool shown;
    int64_t last_ns;
    int64_t every_ns;
};

/* One line at a time in a program: messages of common/log.h erase it before they are written. */
void rh_progress_init(struct rh_progress *p);
/* True when stderr is a terminal and half a second has passed since init or the last time it was.
 */
bool rh_progress_due(struct rh_progress *p);
/* ASCII; cut to the width of the terminal.  Nothing where stderr is no terminal. */
void rh_progress_show(struct rh_progress *p, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
/* Erase the line. */
void rh_progress_end(struct rh_progress *p);

#endif
