/*
 * formats/pg_message.h
 *
 * Bodies of those backend messages that matter (protocol.sgml, "Message Formats").  Decoders
 * return 0, or -1 for a body that is not what it should be.  Spans point into the body.
 */
#ifndef RH_FORMATS_PG_MESSAGE_H
#define RH_FORMATS_PG_MESSAGE_H

#include <stdbool.h>
#include <stdint.h>

#include "common/span.h"

/* CommandComplete.  "INSERT 0 5" is INSERT and 5; "SELECT 5"; "CREATE TABLE" has no count. */
struct rh_pg_tag {
    struct rh_span name; /* without the counts */
    int64_t rows;        /* RH_COUNT_UNKNOWN: the tag has none */
};
int rh_pg_tag_decode(struct rh_span body, struct rh_pg_tag *tag);

/* ErrorResponse and NoticeResponse; a field that is absent has no data. */
struct rh_pg_report {
    struct rh_span severity; /* never localised (V, since 9.6); else as sent (S) */
    struct rh_span sqlstate; /* C: five characters */
    struct rh_span message;
    struct rh_span detail;
    struct rh_span hint;
    struct rh_span where;
    struct rh_span schema;
    struct rh_span table;
    struct rh_span column;
    struct rh_span constraint;
    int32_t position; /* character in the query, from 1; 0 unknown */
};
/* A body that was cut at the scanner's bound is decoded as far as it goes: pass cut = true. */
int rh_pg_report_decode(struct rh_span body, bool cut, struct rh_pg_report *report);
/* FATAL and PANIC end the session. */
bool rh_pg_report_is_fatal(const struct rh_pg_report *report);

/* ReadyForQuery: 'I', 'T' or 'E'; 0 for anything else. */
char rh_pg_ready_decode(struct rh_span body);

/* ParameterStatus. */
int rh_pg_parameter_decode(struct rh_span body, struct rh_span *name, struct rh_span *value);

/* BackendKeyData: keys have 4 bytes in protocol 3.0, up to 256 in 3.2. */
int rh_pg_key_decode(struct rh_span body, uint32_t *pid, struct rh_span *key);

/* DataRow: how many columns it has, or -1.  The first `max` values; a NULL has no data. */
int rh_pg_row_decode(struct rh_span body, struct rh_span *values, uint32_t max);

/* CopyInResponse, CopyOutResponse, CopyBothResponse. */
struct rh_pg_copy {
    uint8_t format; /* 0 text, 1 binary */
    uint16_t columns;
};
int rh_pg_copy_decode(struct rh_span body, struct rh_pg_copy *copy);

/* NotificationResponse. */
struct rh_pg_notification {
    uint32_t pid;
    struct rh_span channel;
    struct rh_span payload;
};
int rh_pg_notification_decode(struct rh_span body, struct rh_pg_notification *n);

#endif
