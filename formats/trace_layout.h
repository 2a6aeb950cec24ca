/*
 * formats/trace_layout.h
 *
 * The numbers of FORMAT.md: limits, and the keys of the maps in a block.
 */
#ifndef RH_FORMATS_TRACE_LAYOUT_H
#define RH_FORMATS_TRACE_LAYOUT_H

#include <stdint.h>

enum {
    RH_TRACE_VERSION = 1,
    RH_BLOCK_RAW_MAX = 1 << 20, /* state part and data part together */
    RH_BLOCK_RECORDS_MAX = 1 << 16,
    RH_BLOCK_SESSIONS_MAX = 1 << 16,
    RH_BLOCK_STRINGS_MAX = 1 << 18,
    RH_BLOCK_STATE_ITEMS_MAX = 1 << 18,
    RH_BLOCK_STARTUP_MAX = 1 << 17,  /* parameters of all sessions */
    RH_BLOCK_VALUES_MAX = 1 << 20,   /* literals, and apart from them parameters */
    RH_VALUE_INLINE_MAX = 64 * 1024, /* a longer value goes to blob blocks */
    RH_COLUMN_USES_MIN = 8,          /* a template used less often shares its value columns */
};

/* Of the values of one record, and of the blob blocks of one block. */
#define RH_RECORD_BYTES_MAX (UINT64_C(1) << 30)
#define RH_BLOCK_BLOB_MAX (UINT64_C(1) << 30)
/* A block of several records is cut in two before its blobs pass this. */
#define RH_BLOCK_BLOB_SOFT_MAX (UINT64_C(16) << 20)
/* Times of records lie within plus and minus this, and the distances between them within that, so
 * that no sum of a reader overflows. */
#define RH_TRACE_TIME_MAX_NS ((INT64_C(1) << 62) - 1)
#define RH_TRACE_DISTANCE_MAX_NS ((INT64_C(1) << 61) - 1)

enum rh_state_key {
    RH_STATE_KEY_STRINGS = 1,
    RH_STATE_KEY_TEMPLATES = 2,
    RH_STATE_KEY_SESSIONS = 3,
    RH_STATE_KEY_LISTS = 4,
};

/* Integer columns of the sessions map, one value a session. */
enum rh_session_column {
    RH_SESSION_NUMBER = 0, /* minus the number of the session before */
    RH_SESSION_COPY = 1,
    RH_SESSION_USER = 2, /* numbers of strings, null: unknown */
    RH_SESSION_DATABASE = 3,
    RH_SESSION_APPLICATION = 4,
    RH_SESSION_CLIENT = 5,
    RH_SESSION_OPENED = 6, /* minus the block's min start, null: unknown */
    RH_SESSION_CLOSED = 7,
    RH_SESSION_PID = 8,
    RH_SESSION_FLAGS = 9,
    RH_SESSION_STARTUP_COUNT = 10,
    RH_SESSION_ROWS = 11,        /* its records in this block */
    RH_SESSION_CURSOR_ROWS = 12, /* of them with ordinals or COPY data */
    RH_SESSION_FIRST_ORDINAL = 13,
    RH_SESSION_ORDINAL_SPAN = 14, /* last ordinal minus the first */
    RH_SESSION_FIRST_START = 15,  /* of its first record, minus the block's min start */
    RH_SESSION_TIMED_FIRST =
        16, /* start of the first record with an ordinal minus that, null: none */
    RH_SESSION_TIMED_SPAN = 17, /* start of the last one minus the start of the first */
    RH_SESSION_LIST = 18,       /* number of its list of prepared texts and settings, null: none */
    RH_SESSION_COLUMN_COUNT,
    /* With a length of its own: names and values of startup parameters in turn, as strings. */
    RH_SESSION_STARTUP = RH_SESSION_COLUMN_COUNT,
};

enum rh_column {
    RH_COLUMN_KIND = 0,
    RH_COLUMN_ORDINAL = 1, /* minus the ordinal before in the session */
    RH_COLUMN_START = 2,   /* enum rh_start_code */
    RH_COLUMN_DURATION = 3,
    RH_COLUMN_FIRST = 4,
    RH_COLUMN_FLAGS = 5,
    RH_COLUMN_TXN = 6,
    RH_COLUMN_HOLD = 7,
    RH_COLUMN_TEMPLATE = 8,
    RH_COLUMN_PARAM_COUNT = 9,
    RH_COLUMN_STATEMENT_NAME = 10,
    RH_COLUMN_PORTAL_NAME = 11,
    RH_COLUMN_APPLICATION = 12,
    RH_COLUMN_PREPARE_TEXT = 13,
    RH_COLUMN_RESULT_FORMAT_COUNT = 14,
    RH_COLUMN_ROW_LIMIT = 15,
    RH_COLUMN_FUNCTION_OID = 16,
    RH_COLUMN_STEPS = 17,
    RH_COLUMN_PARSE = 18,
    RH_COLUMN_BIND = 19,
    RH_COLUMN_EXECUTE = 20,
    RH_COLUMN_SQLSTATE = 21,
    RH_COLUMN_TAG = 22,
    RH_COLUMN_ROWS = 23,
    RH_COLUMN_BYTES = 24,
    RH_COLUMN_RESULTS = 25,
    RH_COLUMN_TX_STATUS = 26,
    RH_COLUMN_COUNT = 27,
    RH_COLUMN_FATE = 28,
    RH_COLUMN_REASON = 29,
    RH_COLUMN_PLANNED = 30,
    RH_COLUMN_SENT = 31,
    RH_COLUMN_WAIT = 32,
    RH_COLUMN_READY = 33,
    RH_COLUMN_HAS_DETAIL = 34,
    RH_ROW_COLUMN_COUNT, /* the columns above have one integer a record */
    /* Those below have lengths of their own. */
    RH_COLUMN_START_UNITS = 64,
    RH_COLUMN_START_STAMPS = 65,
    RH_COLUMN_USES_MIN_KEY = 66,
    RH_COLUMN_LITERALS = 67,
    RH_COLUMN_PARAMS = 68,
    RH_COLUMN_PARAM_TYPES = 69,
    RH_COLUMN_PARAM_FORMATS = 70,
    RH_COLUMN_RESULT_FORMATS = 71,
    RH_COLUMN_DETAILS = 72,
};

/* How a start follows from the record before it in its session. */
enum rh_start_code {
    RH_START_AT_END = 0,   /* it is the end (start plus duration) of the one before */
    RH_START_AT_START = 1, /* it is the start of the one before */
    RH_START_UNITS = 2,    /* end of the one before plus the next of START_UNITS */
    /* This record's end is a whole ms: the end of the one before, rounded down, plus the next of
     * START_STAMPS; or the same of its start. */
    RH_START_END_STAMP = 3,
    RH_START_START_STAMP = 4,
    /* The same with the distance in the code. */
    RH_START_END_NEAR = 5,
    RH_START_START_NEAR = 131,
    RH_START_CODE_MAX = 255,
};

#endif
