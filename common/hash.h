/*
 * common/hash.h
 *
 * Hashes of byte strings: one for tables in memory, one that may be shown and kept.
 */
#ifndef RH_COMMON_HASH_H
#define RH_COMMON_HASH_H

#include <stdint.h>

#include "common/span.h"

/* XXH3_64bits; no value hashes as the empty string. */
uint64_t rh_hash(struct rh_span s);
/* XXH64 with seed 0, as fingerprints are made (common/fingerprint.h). */
uint64_t rh_hash_stable(struct rh_span s);

#endif
