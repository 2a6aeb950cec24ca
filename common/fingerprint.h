/*
 * common/fingerprint.h
 *
 * Which statements count as one query: docs/FINGERPRINT.md has the rule and why.  The normalised
 * text is made from tokens; the fingerprint is XXH64 (seed 0) of it.
 */
#ifndef RH_COMMON_FINGERPRINT_H
#define RH_COMMON_FINGERPRINT_H

#include <stdbool.h>
#include <stdint.h>

#include "common/buf.h"
#include "common/span.h"

/* Append the normalised text of a statement (or of its template: the result is the same). */
int rh_fingerprint_normalise(struct rh_span text, bool is_template, struct rh_buf *out);

/* XXH64 of the normalised text; scratch is cleared and used. */
uint64_t rh_fingerprint(struct rh_span text, bool is_template, struct rh_buf *scratch);

#endif
