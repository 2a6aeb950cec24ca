/*
 * formats/trace_writer.h
 *
 * Write a trace or run file (FORMAT.md).  Records of one session come in the order of their
 * ordinals; sessions interleave in any order.  The writer keeps a bounded window of records,
 * seals it in start order into blocks of at most RH_BLOCK_RAW_MAX bytes, and puts what comes with a
 * start before the sealed blocks' end into late blocks.
 *
 * Everything handed in is copied.  Not thread-safe.
 */
#ifndef RH_FORMATS_TRACE_WRITER_H
#define RH_FORMATS_TRACE_WRITER_H

#include <stdbool.h>

#include "common/error.h"
#include "formats/record.h"
#include "formats/trace_header.h"

struct rh_trace_writer;

struct rh_trace_writer_options {
    uint32_t window_records; /* 0: default (24,576) */
    uint64_t window_bytes; /* 0: default (32 MiB) of texts, literals and parameters in the window */
    int compression_level; /* 0: default (1) */
};

/* Creates PATH.partial; the header block is written at once.  An existing file that is neither a
 * trace nor a run is not replaced: it may be the log. */
int rh_trace_writer_open(struct rh_trace_writer **out, const char *path,
                         const struct rh_trace_header *header,
                         const struct rh_trace_writer_options *options, struct rh_error *err);

/* Make a session known, before its first record, or again when more of it is known (closed_ns,
 * flags, user). */
int rh_trace_writer_put_session(struct rh_trace_writer *w, const struct rh_session *session,
                                struct rh_error *err);
/* The session takes no more records: its state is dropped once they are sealed. */
void rh_trace_writer_end_session(struct rh_trace_writer *w, uint32_t number);
/* The same for a copy (by --scale) of it. */
void rh_trace_writer_end_copy(struct rh_trace_writer *w, uint32_t number, uint32_t copy);

/* The session goes on in another file, `to`, which is told what is known of it and what it has made
 * of itself (session_state.h); here it takes no more records, and is marked as left open.  False:
 * there is no such session here, or it has ended. */
bool rh_trace_writer_hand_over(struct rh_trace_writer *from, struct rh_trace_writer *to,
                               uint32_t number);

/* OPEN, CLOSE and GAP records may come for session 0 (the whole capture) too. */
int rh_trace_writer_add(struct rh_trace_writer *w, const struct rh_record *r, struct rh_error *err);

/* Seal all that was added and bring it to the disk: what a kill after this cannot take. */
int rh_trace_writer_flush(struct rh_trace_writer *w, struct rh_error *err);

/* What became known since the header was written; goes to the end block and wins on reading. */
void rh_trace_writer_note(struct rh_trace_writer *w, const char *name, struct rh_span value);

uint64_t rh_trace_writer_bytes(const struct rh_trace_writer *w);

/*
 * Seal the rest, write the end block (totals; `complete` unless stopped_early), sync and rename
 * to the final name, free.  When the disk is full what was written is kept under the final name
 * without an end block, and -1 is returned.
 */
int rh_trace_writer_finish(struct rh_trace_writer *w, bool stopped_early, struct rh_error *err);
/* Close and remove the partial file. */
void rh_trace_writer_discard(struct rh_trace_writer *w);

#endif
