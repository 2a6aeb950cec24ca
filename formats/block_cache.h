/*
 * formats/block_cache.h
 *
 * Decoded blocks of one file, the least recently used given up first (the declarations for the
 * tools are in trace_index.h).
 */
#ifndef RH_FORMATS_BLOCK_CACHE_H
#define RH_FORMATS_BLOCK_CACHE_H

#include "formats/trace_block.h"
#include "formats/trace_index.h"

/* Valid until two more blocks were asked for.  NULL with *result 0: damaged (counted once), or -1.
 */
const struct rh_trace_block *rh_block_cache_get(struct rh_block_cache *cache, uint32_t index,
                                                int *result, struct rh_error *err);
const struct rh_trace_index *rh_block_cache_index(const struct rh_block_cache *cache);

#endif
