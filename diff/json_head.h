/*
 * diff/json_head.h
 *
 * The members of the JSON report (docs/REPORT.md) that come before its queries and errors.
 */
#ifndef RH_DIFF_JSON_HEAD_H
#define RH_DIFF_JSON_HEAD_H

#include "common/json.h"
#include "diff/report.h"

void rh_json_head(struct rh_json *j, const struct rh_report *report);

#endif
