/*
 * diff/json_put.h
 *
 * Members of an object of a report's JSON: a key and its value.
 */
#ifndef RH_DIFF_JSON_PUT_H
#define RH_DIFF_JSON_PUT_H

#include <stdint.h>

#include "common/json.h"

/* Microseconds with three decimals; NAN: null. */
void rh_json_put_ns_as_us(struct rh_json *j, const char *key, double ns);
/* INT64_MAX stands for all that is more. */
void rh_json_put_count(struct rh_json *j, const char *key, uint64_t n);
void rh_json_put_text(struct rh_json *j, const char *key, struct rh_span text);

#endif
