/*
 * formats/trace_reader.h
 *
 * All records of a trace or run file in start order (ties: session, then ordinal), late blocks and
 * outcome records merged in; an OPEN before all statements of its session, a CLOSE behind all that
 * were written before it; with bounded memory: the current block and a few cached late ones.
 * Not thread-safe; any number of readers may share one file, one a thread.
 */
#ifndef RH_FORMATS_TRACE_READER_H
#define RH_FORMATS_TRACE_READER_H

#include "formats/record.h"
#include "formats/trace_file.h"

struct rh_trace_reader;

/* Only records with from_ns <= start < to_ns; INT64_MIN and INT64_MAX for all.  `file` must stay
 * open. */
int rh_trace_reader_open(struct rh_trace_reader **out, struct rh_trace_file *file, int64_t from_ns,
                         int64_t to_ns, struct rh_error *err);

enum rh_trace_want {
    RH_WANT_OUTCOMES = 0,   /* all but what the next line says */
    RH_WANT_EVERYTHING = 1, /* literals, parameters and result formats too, as is usual */
};

/* What the caller needs of the records to come.  With RH_WANT_OUTCOMES, which is about twice as
 * fast, literals, params and result_formats of a record may be NULL although it tells how many
 * there are (then rh_record_text() fails); rh_trace_reader_complete() gets them. */
void rh_trace_reader_want(struct rh_trace_reader *reader, enum rh_trace_want want);
/* Get what was left out of the record just given, a whole block at a time; false when it is damaged
 * (it stays out). */
bool rh_trace_reader_complete(struct rh_trace_reader *reader, struct rh_record *r);

/* 1 and *r, 0 at the end.  A damaged block is skipped, counted (rh_trace_reader_damaged()), and
 * never an error; -1 is an I/O error.  *r and all it points to are valid until the next call. */
int rh_trace_reader_next(struct rh_trace_reader *reader, struct rh_record *r, struct rh_error *err);

/* The session of the record just given, as its block knows it; NULL for session 0.  Valid until
 * next. */
const struct rh_session *rh_trace_reader_session(struct rh_trace_reader *reader);
/* A number that changes with every block: template_id is stable while it is the same. */
uint64_t rh_trace_reader_block_serial(const struct rh_trace_reader *reader);
/* Blocks that could not be decoded, and the records their headers announced. */
uint32_t rh_trace_reader_damaged(const struct rh_trace_reader *reader, uint64_t *records);
/* Whether this data block of the file is among them. */
bool rh_trace_reader_block_is_damaged(const struct rh_trace_reader *reader, uint32_t index);
void rh_trace_reader_close(struct rh_trace_reader *reader);

#endif
