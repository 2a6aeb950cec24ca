#include "formats/trace_frame.h"

#include <string.h>
#include <xxhash.h>
#include <zstd.h>

#include "formats/trace_layout.h"

/* A byte that is no text, the name, and both line ends, so that a transfer as text shows at once.
 */
const char rh_frame_magic[RH_FRAME_MAGIC_BYTES] = {'\x89', 'R', 'H', 'S', 'L', '\r', '\n', '\x1a'};

enum { HASHED_BYTES = RH_FRAME_BYTES - 8 };

static void put_le(char **at, uint64_t v, unsigned bytes)
{
    for (unsigned i = 0; i < bytes; i++) {
        *(*at)++ = (char) (v >> (8 * i));
    }
}

static uint64_t get_le(const char **at, unsigned bytes)
{
    uint64_t v = 0;
    for (unsigned i = 0; i < bytes; i++) {
        v |= (uint64_t) (uint8_t) * (*at)++ << (8 * i);
    }
    return v;
}

void rh_frame_put(const struct rh_frame *f, char out[RH_FRAME_BYTES])
{
    char *at = out;
    memcpy(at, rh_frame_magic, RH_FRAME_MAGIC_BYTES);
    at += RH_FRAME_MAGIC_BYTES;
    put_le(&at, f->type, 1);
    put_le(&at, f->version, 1);
    put_le(&at, f->flags, 2);
    put_le(&at, f->number, 4);
    put_le(&at, f->record_count, 4);
    put_le(&at, f->statement_count, 4);
    put_le(&at, f->state_bytes, 4);
    put_le(&at, f->state_raw_bytes, 4);
    put_le(&at, f->data_bytes, 4);
    put_le(&at, f->data_raw_bytes, 4);
    put_le(&at, (uint64_t) f->min, 8);
    put_le(&at, (uint64_t) f->max, 8);
    put_le(&at, f->blob_bytes, 8);
    put_le(&at, f->state_hash, 8);
    put_le(&at, f->data_hash, 8);
    put_le(&at, XXH3_64bits(out, HASHED_BYTES), 8);
}

static bool sizes_within_limits(const struct rh_frame *f)
{
    /* What zstd makes of incompressible bytes, with its blocks ended early at every column. */
    const uint64_t packed_max = ZSTD_COMPRESSBOUND(RH_BLOCK_RAW_MAX) + RH_BLOCK_RAW_MAX / 16;
    return f->state_raw_bytes <= RH_BLOCK_RAW_MAX &&
           f->data_raw_bytes <= RH_BLOCK_RAW_MAX - f->state_raw_bytes &&
           f->state_bytes <= packed_max && f->data_bytes <= packed_max &&
           f->record_count <= RH_BLOCK_RECORDS_MAX && f->statement_count <= f->record_count;
}

bool rh_frame_get(struct rh_frame *f, const char in[RH_FRAME_BYTES])
{
    if (memcmp(in, rh_frame_magic, RH_FRAME_MAGIC_BYTES) != 0) {
        return false;
    }
    const char *at = in + RH_FRAME_MAGIC_BYTES;
    f->type = (uint8_t) get_le(&at, 1);
    f->version = (uint8_t) get_le(&at, 1);
    f->flags = (uint16_t) get_le(&at, 2);
    f->number = (uint32_t) get_le(&at, 4);
    f->record_count = (uint32_t) get_le(&at, 4);
    f->statement_count = (uint32_t) get_le(&at, 4);
    f->state_bytes = (uint32_t) get_le(&at, 4);
    f->state_raw_bytes = (uint32_t) get_le(&at, 4);
    f->data_bytes = (uint32_t) get_le(&at, 4);
    f->data_raw_bytes = (uint32_t) get_le(&at, 4);
    f->min = (int64_t) get_le(&at, 8);
    f->max = (int64_t) get_le(&at, 8);
    f->blob_bytes = get_le(&at, 8);
    f->state_hash = get_le(&at, 8);
    f->data_hash = get_le(&at, 8);
    return get_le(&at, 8) == XXH3_64bits(in, HASHED_BYTES) && sizes_within_limits(f);
}

uint64_t rh_frame_total_bytes(const struct rh_frame *f)
{
    return RH_FRAME_BYTES + (uint64_t) f->state_bytes + f->data_bytes;
}

uint64_t rh_frame_hash(struct rh_span part)
{
    return XXH3_64bits(part.data, part.len);
}
