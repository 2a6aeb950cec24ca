#include "common/hash.h"

#include <xxhash.h>

uint64_t rh_hash(struct rh_span s)
{
    return XXH3_64bits(s.data ? s.data : "", s.len);
}

uint64_t rh_hash_stable(struct rh_span s)
{
    return XXH64(s.data ? s.data : "", s.len, 0);
}
