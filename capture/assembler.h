/*
 * capture/assembler.h
 *
 * Makes sessions and statements of log records.  One execution is one statement, however many
 * records tell of it, whatever the server's settings (docs/CAPTURE.md has the rules).
 */
#ifndef RH_CAPTURE_ASSEMBLER_H
#define RH_CAPTURE_ASSEMBLER_H

#include "capture/capture_filter.h"
#include "capture/capture_sink.h"
#include "capture/capture_stats.h"
#include "capture/log_entry.h"
#include "capture/log_reader.h"

struct rh_assembler;

/* So many sessions are kept whose end was not logged; then those idle longest are given up. */
enum { RH_LOG_SESSIONS_MAX = 100000 };

/* All arguments must outlive the assembler.  The reader gives its clock, language, and a look at
 * what comes next. */
struct rh_assembler *rh_assembler_new(const struct rh_capture_sink *sink,
                                      struct rh_capture_filter *filter,
                                      struct rh_log_reader *reader, struct rh_capture_stats *stats);
/* Redact all statements (redactor.h).  Before the first entry. */
void rh_assembler_redact(struct rh_assembler *a);
/* -1: the sink failed. */
int rh_assembler_add(struct rh_assembler *a, const struct rh_log_entry *e, struct rh_error *err);
/* The input has ended: write what is open. */
int rh_assembler_finish(struct rh_assembler *a, struct rh_error *err);
void rh_assembler_free(struct rh_assembler *a);

#endif
