/*
 * common/regex.h
 *
 * pcre2 with limits: a pattern that would run away is an error value, not a hang.
 */
#ifndef RH_COMMON_REGEX_H
#define RH_COMMON_REGEX_H

#include <stdbool.h>

#include "common/error.h"
#include "common/span.h"

struct rh_regex;

/* Byte semantics (no UTF-8 validity needed), `.` matches newlines, JIT where available. */
int rh_regex_new(struct rh_regex **out, const char *pattern, struct rh_error *err);
/* 1 match, 0 none, -1 the match limit was passed (err set).  Not thread-safe. */
int rh_regex_match(struct rh_regex *re, struct rh_span text, struct rh_error *err);
/* NULL is allowed. */
void rh_regex_free(struct rh_regex *re);

#endif
