/*
 * formats/trace_index.h
 *
 * Sessions instead of time: which blocks hold which session, read from the blocks' state parts
 * without decoding columns, and reading of one session's records in ordinal order from any point.
 * A replay pulls each session by itself, so no session can hold up another.
 */
#ifndef RH_FORMATS_TRACE_INDEX_H
#define RH_FORMATS_TRACE_INDEX_H

#include "common/arena.h"
#include "formats/record.h"
#include "formats/session_state.h"
#include "formats/trace_file.h"

struct rh_trace_index;

/* One pass over the state parts.  Memory: about 160 bytes a session, its texts, and 24 bytes for
 * each block it is in. */
int rh_trace_index_new(struct rh_trace_index **out, struct rh_trace_file *file,
                       struct rh_error *err);
void rh_trace_index_free(struct rh_trace_index *index);

/* Sessions in order of opening (by number, then copy); session 0, the capture itself, is left out.
 */
uint32_t rh_trace_index_session_count(const struct rh_trace_index *index);
/* Merged from all blocks (closed_ns and flags of the last); valid as long as the index. */
const struct rh_session *rh_trace_index_session(const struct rh_trace_index *index, uint32_t i);
/* Those that a cursor gives: with ordinals, and COPY_DATA. */
uint64_t rh_trace_index_record_count(const struct rh_trace_index *index, uint32_t i);
/* Start of the first and last record of session i that has an ordinal; RH_TIME_UNKNOWN if none. */
int64_t rh_trace_index_first_ns(const struct rh_trace_index *index, uint32_t i);
int64_t rh_trace_index_last_ns(const struct rh_trace_index *index, uint32_t i);
/* Blocks whose state part is damaged, and the records their headers announce (records may be NULL).
 */
uint32_t rh_trace_index_damaged(const struct rh_trace_index *index, uint64_t *records);
const struct rh_trace_file *rh_trace_index_file(const struct rh_trace_index *index);

/*
 * A cache of decoded blocks of bounded size, shared by the cursors of one thread.  At least two
 * blocks are kept whatever the size.
 */
struct rh_block_cache;
struct rh_block_cache *rh_block_cache_new(const struct rh_trace_index *index, uint64_t max_bytes);
void rh_block_cache_free(struct rh_block_cache *cache);
/* How many blocks were decoded so far: for tests and the summary. */
uint64_t rh_block_cache_decodes(const struct rh_block_cache *cache);

/* Blocks found damaged when they were to be decoded, and their records (records may be NULL). */
uint32_t rh_block_cache_damaged(const struct rh_block_cache *cache, uint64_t *records);

/* A position in one session; a plain value that may be kept for every session and costs nothing. */
struct rh_session_cursor {
    uint32_t session_index;
    uint64_t next_ordinal; /* records with a smaller ordinal were read; may be set */
    /* When it is next_ordinal too: some records of it were read (COPY data has its statement's
     * ordinal), the last of them is here. */
    uint64_t after_ordinal;
    int64_t after_start_ns;
    uint32_t after_rank;
    uint32_t after_block;
    uint32_t after_row;
};

void rh_session_cursor_init(struct rh_session_cursor *c, uint32_t session_index);

/*
 * Move to the first record with start >= from_ns, and fill *state with what the session had made of
 * itself before it (session_state.h).  state may be NULL.
 */
int rh_session_cursor_seek(struct rh_session_cursor *c, struct rh_block_cache *cache,
                           int64_t from_ns, struct rh_session_state *state, struct rh_error *err);
/* The same, to the first record with that ordinal or a later one. */
int rh_session_cursor_seek_ordinal(struct rh_session_cursor *c, struct rh_block_cache *cache,
                                   uint64_t ordinal, struct rh_session_state *state,
                                   struct rh_error *err);

/*
 * Read on: up to max_records (and 128) records (those with ordinals and COPY_DATA), and no more
 * than about max_bytes of their variable parts (but at least one), copied with all they point to
 * into the arena.  Returns how many; 0 at the session's end; -1 on an I/O error.  Records of
 * damaged blocks are left out.
 */
int rh_session_cursor_read(struct rh_session_cursor *c, struct rh_block_cache *cache,
                           struct rh_record *records, int max_records, size_t max_bytes,
                           struct rh_arena *arena, struct rh_error *err);

#endif
