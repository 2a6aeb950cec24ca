/*
 * common/hash.h
 *
 * The hash of byte strings that tables in memory use.
 */
#ifndef RH_COMMON_HASH_H
#define RH_COMMON_HASH_H

#include <stdint.h>

#include "common/span.h"

/* XXH3_64bits; no value hashes as the empty string. */
uint64_t rh_hash(struct rh_span s);

#endif
