/*
 * capture/wire_command.h
 *
 * pgrehearse-capture wire: packets in, a trace out.
 *
 *   packet_source  ->  wire_stack  ->  wire_capture  ->  wire_trace
 *   files or an        streams of      sessions and      the file that
 *   interface          connections     records           is open
 *
 * The command asks its source for packets one by one and, after every RH_WIRE_TICK_PACKETS of them
 * or a second of theirs and whenever the source has none for a while, does what is due: look for a
 * failure of the output, show progress.  What ends a capture before its source does belongs there
 * too.
 */
#ifndef RH_CAPTURE_WIRE_COMMAND_H
#define RH_CAPTURE_WIRE_COMMAND_H

#include "capture/capture_options.h"

enum { RH_WIRE_TICK_PACKETS = 1024 };

/* The exit status (common/error.h). */
int rh_wire_command_run(const struct rh_capture_options *options);

#endif
