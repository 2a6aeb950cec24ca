/*
 * capture/trace_sink.h
 *
 * The sink that writes a trace file.
 */
#ifndef RH_CAPTURE_TRACE_SINK_H
#define RH_CAPTURE_TRACE_SINK_H

#include "capture/capture_sink.h"
#include "formats/trace_writer.h"

/* 0, or -1: path is "-", and standard output is a terminal. */
int rh_trace_sink_check_output(const char *path, struct rh_error *err);
void rh_trace_sink_init(struct rh_capture_sink *sink, struct rh_trace_writer *writer);

#endif
