/*
 * formats/trace_defaults.h
 *
 * What a column holds when a block does not have it (FORMAT.md, "columns").
 */
#ifndef RH_FORMATS_TRACE_DEFAULTS_H
#define RH_FORMATS_TRACE_DEFAULTS_H

#include "formats/int_column.h"
#include "formats/trace_layout.h"

static inline int64_t rh_trace_column_default(unsigned column)
{
    switch (column) {
    case RH_COLUMN_ORDINAL:
        return 1;
    case RH_COLUMN_START:
        return RH_START_UNITS;
    case RH_COLUMN_DURATION:
    case RH_COLUMN_FIRST:
    case RH_COLUMN_TEMPLATE:
    case RH_COLUMN_STATEMENT_NAME:
    case RH_COLUMN_PORTAL_NAME:
    case RH_COLUMN_APPLICATION:
    case RH_COLUMN_PREPARE_TEXT:
    case RH_COLUMN_STEPS:
    case RH_COLUMN_PARSE:
    case RH_COLUMN_BIND:
    case RH_COLUMN_EXECUTE:
    case RH_COLUMN_SQLSTATE:
    case RH_COLUMN_TAG:
    case RH_COLUMN_ROWS:
    case RH_COLUMN_BYTES:
    case RH_COLUMN_PLANNED:
    case RH_COLUMN_SENT:
    case RH_COLUMN_READY:
        return RH_INT_UNKNOWN;
    default:
        return 0;
    }
}

static inline int64_t rh_trace_session_default(unsigned column)
{
    switch (column) {
    case RH_SESSION_USER:
    case RH_SESSION_DATABASE:
    case RH_SESSION_APPLICATION:
    case RH_SESSION_CLIENT:
    case RH_SESSION_OPENED:
    case RH_SESSION_CLOSED:
    case RH_SESSION_TIMED_FIRST:
    case RH_SESSION_LIST:
        return RH_INT_UNKNOWN;
    default:
        return 0;
    }
}

#endif
