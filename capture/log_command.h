/*
 * capture/log_command.h
 *
 * pgrehearse-capture log: files in, a trace out.
 */
#ifndef RH_CAPTURE_LOG_COMMAND_H
#define RH_CAPTURE_LOG_COMMAND_H

#include "capture/capture_options.h"

/* The exit status (common/error.h). */
int rh_log_command_run(const struct rh_capture_options *options, const char *const *paths,
                       size_t count);

#endif
