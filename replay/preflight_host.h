/*
 * replay/preflight_host.h
 *
 * What this machine allows.
 */
#ifndef RH_REPLAY_PREFLIGHT_HOST_H
#define RH_REPLAY_PREFLIGHT_HOST_H

#include <stdint.h>

#include "replay/finding.h"
#include "replay/plan.h"

/* As many sessions at once as files can be open, which is raised as far as it may be; more wait for
 * their turn, and a finding says so.  0: as many as the plan has. */
uint32_t rh_preflight_host_limit(const struct rh_plan *plan,
                                 const struct rh_replay_options *options,
                                 struct rh_findings *findings);

#endif
