/*
 * formats/trace_frame.h
 *
 * The 88 bytes in front of every block of a trace file (FORMAT.md, "frames").  They can be judged
 * alone, so a walk over a file reads nothing else and finds its way again after damage.
 */
#ifndef RH_FORMATS_TRACE_FRAME_H
#define RH_FORMATS_TRACE_FRAME_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/span.h"

enum { RH_FRAME_BYTES = 88, RH_FRAME_MAGIC_BYTES = 8 };
extern const char rh_frame_magic[RH_FRAME_MAGIC_BYTES];

struct rh_frame {
    uint8_t type;    /* enum rh_block_type, or one of a later version */
    uint8_t version; /* of the format that a reader must know */
    uint16_t flags;  /* enum rh_block_flag */
    uint32_t number; /* of the block in its file, from 0 */
    uint32_t record_count;
    uint32_t statement_count;
    uint32_t state_bytes; /* of each part, compressed and before */
    uint32_t state_raw_bytes;
    uint32_t data_bytes;
    uint32_t data_raw_bytes;
    int64_t min; /* of the records' starts, in the file's unit */
    int64_t max;
    uint64_t blob_bytes; /* of the blob blocks right before */
    uint64_t state_hash; /* XXH3, 64 bits, seed 0, of each compressed part */
    uint64_t data_hash;
};

void rh_frame_put(const struct rh_frame *f, char out[RH_FRAME_BYTES]);
/* False if the magic or the checksum is wrong, or a size is above its limit. */
bool rh_frame_get(struct rh_frame *f, const char in[RH_FRAME_BYTES]);
/* With its parts. */
uint64_t rh_frame_total_bytes(const struct rh_frame *f);
uint64_t rh_frame_hash(struct rh_span part);

#endif
