/*
 * formats/csvlog.h
 *
 * Records of PostgreSQL's csvlog (src/backend/utils/error/csvlog.c; in elog.c before 15): 22
 * columns in 8.3 and 8.4, 23 from 9.0, 24 in 13, 26 from 14 on.  A record ends at the first line
 * feed that is outside quotes; inside quotes a quote is doubled and every other byte stands for
 * itself.  Files rewritten by other programs may quote more or fewer fields; both are accepted.
 *
 * Pure functions on a window of bytes.  Nothing is copied: fields are spans of the window, and
 * doubled quotes are folded in place when a field's text is asked for.
 */
#ifndef RH_FORMATS_CSVLOG_H
#define RH_FORMATS_CSVLOG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/span.h"

enum rh_csvlog_column {
    RH_CSVLOG_TIME,
    RH_CSVLOG_USER,
    RH_CSVLOG_DATABASE,
    RH_CSVLOG_PID,
    RH_CSVLOG_CLIENT,
    RH_CSVLOG_SESSION_ID,
    RH_CSVLOG_LINE,
    RH_CSVLOG_TAG,
    RH_CSVLOG_SESSION_START,
    RH_CSVLOG_VXID,
    RH_CSVLOG_XID,
    RH_CSVLOG_SEVERITY,
    RH_CSVLOG_SQLSTATE,
    RH_CSVLOG_MESSAGE,
    RH_CSVLOG_DETAIL,
    RH_CSVLOG_HINT,
    RH_CSVLOG_INTERNAL_QUERY,
    RH_CSVLOG_INTERNAL_POSITION,
    RH_CSVLOG_CONTEXT,
    RH_CSVLOG_QUERY,
    RH_CSVLOG_QUERY_POSITION,
    RH_CSVLOG_LOCATION,
    RH_CSVLOG_APPLICATION,  /* from 9.0 */
    RH_CSVLOG_BACKEND_TYPE, /* from 13 */
    RH_CSVLOG_LEADER_PID,   /* from 14 */
    RH_CSVLOG_QUERY_ID,
};

enum {
    RH_CSVLOG_COLUMNS_MIN = 22,
    RH_CSVLOG_COLUMNS_MAX = 29, /* 30 are Greenplum's, whose columns mean other things */
    RH_CSVLOG_COLUMNS_KNOWN = 26,
    RH_CSVLOG_COLUMNS_GREENPLUM = 30,
    RH_CSVLOG_FIELDS_MAX = 40, /* counted before a record is given up */
    RH_CSVLOG_ENDS_STEP = 8,   /* so many are found at a time */
};

/* A longer record is given up as bad. */
#define RH_CSVLOG_RECORD_MAX_BYTES ((size_t) 64 * 1024 * 1024)

enum rh_csvlog_fault {
    RH_CSVLOG_OK,
    RH_CSVLOG_NO_STAMP,  /* it does not begin with a time stamp */
    RH_CSVLOG_QUOTING,   /* a quote where none may be */
    RH_CSVLOG_COLUMNS,   /* too few or too many columns */
    RH_CSVLOG_NUL,       /* it holds a NUL byte */
    RH_CSVLOG_TRUNCATED, /* the input ends within it */
    RH_CSVLOG_TOO_LONG,
    RH_CSVLOG_FIELD, /* a field does not hold what it should */
    RH_CSVLOG_FAULT_COUNT,
};

/* A few words for people. */
const char *rh_csvlog_fault_text(enum rh_csvlog_fault fault);

struct rh_csvlog_row {
    char *data;
    size_t len; /* with its line end */
    uint32_t columns;
    uint32_t lines; /* line feeds in it, the last one included */
    bool crlf;      /* it ends with CR LF: line feeds in its text were made CR LF, too */
    bool twins;     /* a quote in it is doubled */
    enum rh_csvlog_fault fault;
    /* Offset behind each field; the last ones are room for the splitter. */
    uint32_t ends[RH_CSVLOG_FIELDS_MAX + RH_CSVLOG_ENDS_STEP];
};

/*
 * Cut the record at the start of data[0..n).  Returns its bytes; 0 when more input is needed (never
 * if at_end); -1 with row->fault when these bytes cannot be a record.  Only the form is checked
 * here, not what the fields hold.  An empty line is no record and gives -1 with RH_CSVLOG_NO_STAMP.
 */
ptrdiff_t rh_csvlog_split(char *data, size_t n, bool at_end, struct rh_csvlog_row *row);

/* More columns than any release has, or a number that none has. */
static inline bool rh_csvlog_is_unknown(const struct rh_csvlog_row *row)
{
    return row->columns > RH_CSVLOG_COLUMNS_KNOWN || row->columns == RH_CSVLOG_COLUMNS_KNOWN - 1;
}

/* The field without outer quotes, doubled quotes not yet folded; no value when it is empty without
 * quotes or behind the last column. */
static inline struct rh_span rh_csvlog_raw(const struct rh_csvlog_row *row, uint32_t column)
{
    if (column >= row->columns) {
        return RH_SPAN_NONE;
    }
    size_t start = column ? row->ends[column - 1] + 1 : 0;
    size_t len = row->ends[column] - start;
    const char *p = row->data + start;
    if (len == 0) {
        return RH_SPAN_NONE;
    }
    return *p == '"' && len >= 2 ? rh_span(p + 1, len - 2) : rh_span(p, len);
}

/* The field's text.  Folds doubled quotes (and CR LF where the file has them) within the window, so
 * ask once a field. */
struct rh_span rh_csvlog_text(const struct rh_csvlog_row *row, uint32_t column);

/* Make each doubled quote in the text one, in place; gives the new length. */
size_t rh_csvlog_fold_quotes(char *text, size_t len);

/*
 * Look for the next place in data[0..n) at which a record may start: a time stamp, and behind it
 * user, database, process id, client, session id and line number as they should look.  Gives its
 * offset with *sure; n when there is none.  Without *sure the bytes from the offset on may be the
 * start of a record whose head goes on behind n (never if at_end).
 */
size_t rh_csvlog_find_start(const char *data, size_t n, bool at_end, bool *sure);

#endif
