/*
 * common/log.h
 *
 * Messages for people, on standard error: what happened, to what, and what to do about it.
 * Thread-safe; a line is written in one call.
 */
#ifndef RH_COMMON_LOG_H
#define RH_COMMON_LOG_H

#include "common/error.h"

enum rh_log_level { RH_LOG_ERROR, RH_LOG_WARNING, RH_LOG_INFO, RH_LOG_DEBUG };

/* The program's name in front of every message, and the most talkative level that is shown. */
void rh_log_setup(const char *program, enum rh_log_level level);

void rh_log(enum rh_log_level level, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* "hint: ..." below the last message. */
void rh_log_hint(const char *format, ...) __attribute__((format(printf, 1, 2)));
void rh_log_error(const struct rh_error *err);

/* A line of progress is on the terminal: erase it before the next message (common/progress.c). */
void rh_log_set_before_message(void (*hook)(void));

#endif
