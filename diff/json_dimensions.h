/*
 * diff/json_dimensions.h
 *
 * The workload by database, user and application, as JSON and the page have it.
 */
#ifndef RH_DIFF_JSON_DIMENSIONS_H
#define RH_DIFF_JSON_DIMENSIONS_H

#include "common/json.h"
#include "diff/result.h"

/* A member "dimensions". */
void rh_json_dimensions(struct rh_json *j, const struct rh_result *r);

#endif
