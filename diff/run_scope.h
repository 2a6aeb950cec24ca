/*
 * diff/run_scope.h
 *
 * What of a trace two runs both replayed, when they were given different --from, --to or --scale:
 * only that is compared.  A run's times are its own, so the common part is found by ordinals: of
 * each session what lies between the first and the last statement that either run had in scope.
 */
#ifndef RH_DIFF_RUN_SCOPE_H
#define RH_DIFF_RUN_SCOPE_H

#include <stdbool.h>
#include <stdint.h>

#include "common/arena.h"
#include "common/error.h"
#include "common/map.h"
#include "diff/observation.h"
#include "formats/trace_file.h"

struct rh_run_scope {
    struct rh_map sessions; /* session number -> its ranges */
    struct rh_arena ranges;
};

/* So many copies of each session a run has. */
uint32_t rh_run_scale(const struct rh_trace_header *h);
/* Whether both are runs, of different windows. */
bool rh_run_windows_differ(const struct rh_trace_header *a, const struct rh_trace_header *b);

void rh_run_scope_init(struct rh_run_scope *scope);
void rh_run_scope_release(struct rh_run_scope *scope);
/* Reads a run once.  Of one that is not whole the end is not known, so nothing ends its part. */
int rh_run_scope_add(struct rh_run_scope *scope, struct rh_trace_file *run, enum rh_side side,
                     struct rh_error *err);
/* Whether both runs, once added, had it in scope. */
bool rh_run_scope_has(const struct rh_run_scope *scope, const struct rh_statement_ref *ref);

#endif
