/*
 * formats/trace_file.h
 *
 * An opened trace or run file: its header, the directory of its blocks (made by walking the block
 * headers, without decoding), and what is damaged.  A file that was cut keeps all whole blocks; a
 * damaged block costs itself and is reported, the walk goes on at the next block's magic.
 */
#ifndef RH_FORMATS_TRACE_FILE_H
#define RH_FORMATS_TRACE_FILE_H

#include <stdbool.h>
#include <stdint.h>

#include "common/error.h"
#include "formats/trace_header.h"

enum rh_block_type {
    RH_BLOCK_HEADER = 1,
    RH_BLOCK_DATA = 2,
    RH_BLOCK_BLOB = 3, /* bytes of a value too large for its data block, which follows */
    RH_BLOCK_END = 4,
};

enum rh_block_flag {
    RH_BLOCK_LATE = 1 << 0,     /* its starts may lie before the end of earlier blocks */
    RH_BLOCK_OUTCOMES = 1 << 1, /* it has OUTCOME records */
};

/* One data block as its header tells. */
struct rh_block_info {
    uint64_t offset;      /* of the block in the file */
    uint64_t blob_bytes;  /* how many bytes of blob blocks lie right before it */
    uint32_t state_bytes; /* compressed: sessions and templates */
    uint32_t state_raw_bytes;
    uint32_t data_bytes; /* compressed: columns */
    uint32_t data_raw_bytes;
    uint32_t record_count;
    uint32_t statement_count;
    uint32_t flags; /* enum rh_block_flag */
    int64_t min_ns; /* of the records' starts */
    int64_t max_ns;
};

struct rh_trace_damage {
    uint64_t offset;
    uint64_t bytes;
    const char *what; /* static text */
};

/* Totals of the end block, or counted from the block headers where there is none. */
struct rh_trace_totals {
    uint64_t records;
    uint64_t statements;
};

struct rh_trace_file;

/* Whether path is a regular file that begins as a trace or run does. */
bool rh_trace_file_is_trace(const char *path);

/* path may also name a PATH.partial left by a kill.  -1: not such a file, or no whole header block.
 */
int rh_trace_file_open(struct rh_trace_file **out, const char *path, struct rh_error *err);
void rh_trace_file_close(struct rh_trace_file *f);

const char *rh_trace_file_path(const struct rh_trace_file *f);
/* With the notes of the end block merged in.  Valid until close. */
const struct rh_trace_header *rh_trace_file_header(const struct rh_trace_file *f);
uint64_t rh_trace_file_bytes(const struct rh_trace_file *f);
uint32_t rh_trace_file_block_count(const struct rh_trace_file *f);
const struct rh_block_info *rh_trace_file_block(const struct rh_trace_file *f, uint32_t index);
/* False after a cut (no end block), damage, or when the writer was stopped early. */
bool rh_trace_file_complete(const struct rh_trace_file *f);
/* Why not, for people: "cut at byte 123456 (3 whole blocks before it)"; "" if complete. */
const char *rh_trace_file_incomplete_reason(const struct rh_trace_file *f);
uint32_t rh_trace_file_damage_count(const struct rh_trace_file *f);
const struct rh_trace_damage *rh_trace_file_damage(const struct rh_trace_file *f, uint32_t index);
struct rh_trace_totals rh_trace_file_totals(const struct rh_trace_file *f);

#endif
