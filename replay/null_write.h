/*
 * replay/null_write.h
 *
 * Backend messages of PostgreSQL's protocol 3 (protocol.sgml, "Message Formats"), appended to a
 * buffer whose maximum the caller has chosen so that they fit.
 */
#ifndef RH_REPLAY_NULL_WRITE_H
#define RH_REPLAY_NULL_WRITE_H

#include <stdbool.h>
#include <stdint.h>

#include "common/buf.h"
#include "common/span.h"

/* ErrorResponse. */
struct rh_null_error {
    const char *severity; /* "ERROR", "FATAL" */
    uint32_t sqlstate;    /* packed */
    const char *message;
};

/* What a result looks like. */
struct rh_null_shape {
    uint32_t columns;
    uint32_t width;
    const char *value;    /* of the first column; NULL: filled */
    uint64_t binary_mask; /* column i has the binary format if bit i is set */
};

/* A message without a body: ParseComplete '1', NoData 'n', CopyDone 'c'. */
void rh_null_write_empty(struct rh_buf *out, char type);
void rh_null_write_authenticated(struct rh_buf *out);
/* NegotiateProtocolVersion: 3.minor is spoken, and these options are not known. */
void rh_null_write_negotiate(struct rh_buf *out, uint32_t minor, const struct rh_span *options,
                             uint32_t count);
void rh_null_write_parameter(struct rh_buf *out, const char *name, struct rh_span value);
void rh_null_write_key(struct rh_buf *out, uint32_t pid, struct rh_span key);
void rh_null_write_ready(struct rh_buf *out, char status);
/* "SELECT 5"; without a count if count is negative. */
void rh_null_write_tag(struct rh_buf *out, const char *tag, int64_t count);
void rh_null_write_error(struct rh_buf *out, const struct rh_null_error *error);
/* ParameterDescription: the types that are known, then text. */
void rh_null_write_params(struct rh_buf *out, const uint32_t *types, uint32_t type_count,
                          uint32_t count);
void rh_null_write_description(struct rh_buf *out, const struct rh_null_shape *shape);
void rh_null_write_row(struct rh_buf *out, const struct rh_null_shape *shape);
/* CopyInResponse 'G' or CopyOutResponse 'H', text. */
void rh_null_write_copy(struct rh_buf *out, char type, uint32_t columns);
/* CopyData with one line of text. */
void rh_null_write_copy_row(struct rh_buf *out, const struct rh_null_shape *shape);
/* FunctionCallResponse. */
void rh_null_write_function(struct rh_buf *out, struct rh_span value);

#endif
