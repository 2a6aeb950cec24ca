/*
 * replay/calibration_report.h
 *
 * What a calibration found, for people and for programs.
 */
#ifndef RH_REPLAY_CALIBRATION_REPORT_H
#define RH_REPLAY_CALIBRATION_REPORT_H

#include <stdio.h>

#include "replay/calibration.h"

void rh_calibration_print_text(const struct rh_calibration *c, const char *trace_path, FILE *out);
void rh_calibration_print_json(const struct rh_calibration *c, const char *trace_path, FILE *out);

#endif
