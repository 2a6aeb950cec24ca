/*
 * formats/pg_frontend.h
 *
 * Bodies of frontend messages (protocol.sgml, "Message Formats").  Decoders return 0, or -1 for a
 * body that is not what it should be; they never look past it.  Spans point into the body.
 */
#ifndef RH_FORMATS_PG_FRONTEND_H
#define RH_FORMATS_PG_FRONTEND_H

#include <stdbool.h>
#include <stdint.h>

#include "common/span.h"
#include "formats/record.h"

/* The first four bytes of a message without a type (pqcomm.h). */
enum {
    RH_PG_CODE_CANCEL = 80877102,
    RH_PG_CODE_SSL = 80877103,
    RH_PG_CODE_GSS = 80877104,
    RH_PG_PROTOCOL_MAJOR = 3, /* in the upper half; 3.0, 3.2, and 3.9999 of clients that probe */
};
/* 0 for a body shorter than that. */
uint32_t rh_pg_untyped_code(struct rh_span body);

/* Parameters of a StartupMessage, one a call; *rest begins as the whole body.  False at the end. */
struct rh_span rh_pg_startup_rest(struct rh_span body);
bool rh_pg_startup_next(struct rh_span *rest, struct rh_span *name, struct rh_span *value);

/* CancelRequest: keys have 4 to 256 bytes. */
int rh_pg_cancel_decode(struct rh_span body, uint32_t *pid, struct rh_span *key);

int rh_pg_query_decode(struct rh_span body, struct rh_span *text);

struct rh_pg_parse {
    struct rh_span name;
    struct rh_span text;
    struct rh_span types; /* 4 bytes each, big-endian */
    uint16_t type_count;
};
int rh_pg_parse_decode(struct rh_span body, struct rh_pg_parse *parse);
uint32_t rh_pg_parse_type(const struct rh_pg_parse *parse, uint32_t i);

/* Values and their formats, of Bind and FunctionCall. */
struct rh_pg_values {
    struct rh_span formats; /* 2 bytes each */
    uint16_t format_count;  /* 0: all text, 1: all that one, else one each */
    struct rh_span values;  /* length and bytes each; a NULL has the length -1 */
    uint16_t count;
};
/* params has room for values->count; types are left 0. */
void rh_pg_values_read(const struct rh_pg_values *values, struct rh_param *params);

struct rh_pg_bound {
    struct rh_span portal;
    struct rh_span statement;
    struct rh_pg_values values;
    struct rh_span result_formats; /* 2 bytes each */
    uint16_t result_format_count;
};
int rh_pg_bind_decode(struct rh_span body, struct rh_pg_bound *bound);
void rh_pg_result_formats_read(const struct rh_pg_bound *bound, uint16_t *formats);

struct rh_pg_call {
    uint32_t function_oid;
    struct rh_pg_values values;
    uint16_t result_format;
};
int rh_pg_call_decode(struct rh_span body, struct rh_pg_call *call);

int rh_pg_execute_decode(struct rh_span body, struct rh_span *portal, int32_t *row_limit);
/* Describe and Close; *object is 'S' (a statement) or 'P' (a portal). */
int rh_pg_target_decode(struct rh_span body, char *object, struct rh_span *name);

#endif
