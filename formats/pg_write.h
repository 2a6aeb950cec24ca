/*
 * formats/pg_write.h
 *
 * Frontend messages of PostgreSQL's protocol 3.0, appended to a buffer (protocol.sgml, "Message
 * Formats").  Each function appends one whole message and returns 0, or appends nothing and returns
 * -1 with the reason: the buffer's maximum, a NUL in a string, more than 65,535 of what an
 * Int16 counts, or a message longer than the server reads (postgres.c, SocketBackend()).
 */
#ifndef RH_FORMATS_PG_WRITE_H
#define RH_FORMATS_PG_WRITE_H

#include <stdint.h>

#include "common/buf.h"
#include "common/error.h"
#include "common/span.h"
#include "formats/record.h"

/* The greatest length word (itself included) that the server accepts: libpq/libpq.h,
 * PQ_SMALL_MESSAGE_LIMIT and PQ_LARGE_MESSAGE_LIMIT. */
enum { RH_PG_SMALL_MAX = 10000, RH_PG_LARGE_MAX = 0x3ffffffe, RH_PG_COUNT_MAX = 65535 };

/* What Describe and Close are about. */
enum rh_pg_object { RH_PG_STATEMENT = 'S', RH_PG_PORTAL = 'P' };

/* How Bind and FunctionCall tell the formats of their parameters. */
enum rh_pg_formats {
    RH_PG_FORMATS_SHORTEST, /* none for all text, one where all agree, else one each */
    RH_PG_FORMATS_ONE,      /* that of the first parameter, for all */
    RH_PG_FORMATS_EACH,
};

/* What Bind carries.  A name without data is the unnamed one. */
struct rh_pg_bind {
    enum rh_pg_formats formats; /* of params */
    struct rh_span portal;
    struct rh_span statement;
    const struct rh_param *params; /* data, len and format are used */
    uint32_t param_count;
    const uint16_t *result_formats; /* none: all text; one: for all columns */
    uint32_t result_format_count;
};

int rh_pg_write_query(struct rh_buf *b, struct rh_span sql, struct rh_error *err);
/* types may be NULL when type_count is 0; OID 0 leaves a type to the server. */
int rh_pg_write_parse(struct rh_buf *b, struct rh_span name, struct rh_span sql,
                      const uint32_t *types, uint32_t type_count, struct rh_error *err);
int rh_pg_write_bind(struct rh_buf *b, const struct rh_pg_bind *bind, struct rh_error *err);
int rh_pg_write_describe(struct rh_buf *b, enum rh_pg_object object, struct rh_span name,
                         struct rh_error *err);
/* max_rows 0: no limit. */
int rh_pg_write_execute(struct rh_buf *b, struct rh_span portal, int32_t max_rows,
                        struct rh_error *err);
int rh_pg_write_close(struct rh_buf *b, enum rh_pg_object object, struct rh_span name,
                      struct rh_error *err);
int rh_pg_write_flush(struct rh_buf *b, struct rh_error *err);
int rh_pg_write_sync(struct rh_buf *b, struct rh_error *err);
int rh_pg_write_copy_data(struct rh_buf *b, struct rh_span data, struct rh_error *err);
int rh_pg_write_copy_done(struct rh_buf *b, struct rh_error *err);
int rh_pg_write_copy_fail(struct rh_buf *b, struct rh_span reason, struct rh_error *err);
struct rh_pg_function_call {
    uint32_t function_oid;
    enum rh_pg_formats formats;
    const struct rh_param *params; /* as of Bind */
    uint32_t param_count;
    uint16_t result_format;
};
int rh_pg_write_function_call(struct rh_buf *b, const struct rh_pg_function_call *call,
                              struct rh_error *err);
/* Those of a record, with its formats in the shortest form. */
static inline struct rh_pg_bind rh_pg_bind_of(const struct rh_record *r)
{
    return (struct rh_pg_bind){
        .portal = r->portal_name,
        .statement = r->statement_name,
        .params = r->params,
        .param_count = r->param_count,
        .result_formats = r->result_formats,
        .result_format_count = r->result_format_count,
    };
}

static inline struct rh_pg_function_call rh_pg_function_call_of(const struct rh_record *r)
{
    return (struct rh_pg_function_call){
        .function_oid = r->function_oid,
        .params = r->params,
        .param_count = r->param_count,
        .result_format = r->result_format_count ? r->result_formats[0] : 0,
    };
}

int rh_pg_write_terminate(struct rh_buf *b, struct rh_error *err);
/* Goes over a connection of its own, in place of a startup message.  Keys have 4 to 256 bytes. */
int rh_pg_write_cancel(struct rh_buf *b, uint32_t pid, struct rh_span key, struct rh_error *err);

#endif
