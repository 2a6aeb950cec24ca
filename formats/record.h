/*
 * formats/record.h
 *
 * The model of a workload that every tool shares (docs/ARCHITECTURE.md, formats/FORMAT.md).  In
 * memory all times are int64_t nanoseconds since the epoch in UTC; a workload's file keeps µs.
 */
#ifndef RH_FORMATS_RECORD_H
#define RH_FORMATS_RECORD_H

#include <stdbool.h>
#include <stdint.h>

#include "common/arena.h"
#include "common/buf.h"
#include "common/span.h"

#define RH_TIME_UNKNOWN INT64_MIN
#define RH_COUNT_UNKNOWN INT64_C(-1)

enum rh_kind {
    /* Statements: one simple Query, one first Execute of a portal, one FunctionCall. */
    RH_KIND_QUERY = 0,
    RH_KIND_EXECUTE = 1,
    RH_KIND_FUNCTION = 2,
    /* In their session's order, with ordinals, but not counted as statements. */
    RH_KIND_FETCH = 3,    /* a later Execute of a portal */
    RH_KIND_PROTOCOL = 4, /* messages that lead to no execution, such as P D S */
    RH_KIND_CANCEL = 5,   /* a cancel request for the statement that runs */
    /* Without ordinals. */
    RH_KIND_OPEN = 8, /* in a run with a `detail` it is a re-opening */
    RH_KIND_CLOSE = 9,
    RH_KIND_GAP = 10,
    RH_KIND_COPY_DATA = 11, /* a chunk of COPY data of statement (session, ordinal) */
    RH_KIND_OUTCOME = 12,   /* the outcome of a statement whose record was written without one;
                               readers join it and never hand it out */
};

static inline bool rh_kind_is_statement(enum rh_kind kind)
{
    return kind <= RH_KIND_FUNCTION;
}

static inline bool rh_kind_has_ordinal(enum rh_kind kind)
{
    return kind <= RH_KIND_CANCEL;
}

/* Why a record of a workload cannot be replayed as it is (0: it can), or why a run did not send it.
 */
enum rh_reason {
    RH_REASON_NONE = 0,
    RH_REASON_CUT_TEXT = 1,      /* the text is cut */
    RH_REASON_CUT_PARAMETER = 2, /* a parameter is cut */
    RH_REASON_NO_PARAMETERS = 3, /* $n in the text, values not logged */
    RH_REASON_SECRET = 4,        /* a password literal was removed */
    RH_REASON_NO_COPY_DATA = 5,  /* COPY FROM STDIN, data not captured */
    RH_REASON_NO_ARGUMENTS = 6,  /* function call, arguments not captured */
    RH_REASON_NO_ROW_LIMIT = 7,  /* fetch from a portal, row limit not captured */
    RH_REASON_NOT_PREPARED = 8,  /* prepared before the capture began */
    RH_REASON_ENCODING = 9,      /* SET client_encoding of a log: the log is not in it */
    RH_REASON_NO_EXECUTION =
        10, /* parse or bind was logged, its execution was not: unknown whether it ran */
    RH_REASON_REDACTED = 11,
    RH_REASON_REPLICATION = 12,
    /* also of a run: a cancel whose statement had ended already, or never ran */
    RH_REASON_CANCEL_NOT_NEEDED = 39,
    /* of a run only */
    RH_REASON_CONNECT_FAILED = 32, /* the session's connection was refused */
    RH_REASON_SESSION_LOST = 33,   /* the connection was lost before this statement */
    RH_REASON_STOPPED = 34,        /* the replay was stopped before */
    RH_REASON_OUTSIDE_WINDOW =
        35, /* before the first transaction boundary after --from, or open at --to */
    RH_REASON_READ_ONLY = 36,
    RH_REASON_PROTOCOL = 37, /* skipped by the server after an error, up to Sync */
    RH_REASON_DAMAGED = 38,  /* its block of the trace is damaged, or the trace cannot be read */
    RH_REASON_TRANSACTION_LOST = 40, /* the connection was lost in its transaction, and made again
                                        behind it */
    RH_REASON_COUNT = 64,
};

/* A few words, the same in every output ("the text is cut"). */
const char *rh_reason_text(enum rh_reason reason);
/* The name in JSON ("cut-text"). */
const char *rh_reason_name(enum rh_reason reason);

enum rh_record_flag {
    RH_FLAG_COMMIT_NOT_TIMED =
        1 << 0, /* duration lacks the commit (extended protocol, no block, from a log) */
    RH_FLAG_ERROR_ONLY = 1 << 1, /* known only from its ERROR record */
    RH_FLAG_NO_TYPES = 1 << 2,   /* parameter types unknown (from a log) */
    RH_FLAG_START_ESTIMATED =
        1 << 3,                /* no duration and no start line: start is the stamp of its end */
    RH_FLAG_CANCELED = 1 << 4, /* ended by a cancel request of the user (57014) */
    RH_FLAG_STATEMENT_TIMEOUT = 1 << 5,
    RH_FLAG_HAS_PARSE = 1 << 6,   /* a Parse belongs to it */
    RH_FLAG_SQL_EXECUTE = 1 << 7, /* a simple EXECUTE; `prepare_text` has its PREPARE */
    RH_FLAG_SKIPPED = 1 << 8,     /* not run: the server skipped it after an error, up to Sync */
};

/* Marks of transactions; 0 for a record within a transaction block or where nothing is known. */
enum rh_txn_mark {
    RH_TXN_BEGINS = 1, /* the first record of a transaction, explicit or implicit */
    RH_TXN_ENDS = 2,   /* the last one */
    RH_TXN_BLOCK = 4,  /* within an explicit block (set on its BEGIN and COMMIT too) */
};

/* SQLSTATE packed: five digits of base 36, '00000' = 0. */
#define RH_SQLSTATE_UNKNOWN UINT32_MAX
/* RH_SQLSTATE_UNKNOWN for what is not five of 0-9A-Z. */
uint32_t rh_sqlstate_pack(struct rh_span text);
/* Five characters and NUL; "" for unknown. */
char *rh_sqlstate_unpack(uint32_t sqlstate, char text[6]);
/* 42725, 42P18, 42804, 42883: what a parameter of unknown type (RH_FLAG_NO_TYPES) may cause. */
bool rh_sqlstate_is_of_types(uint32_t sqlstate);

struct rh_param {
    const char *data; /* NULL: SQL NULL */
    uint32_t len;
    uint32_t type;  /* OID, 0 unknown */
    uint8_t format; /* 0 text, 1 binary */
};

struct rh_outcome {
    int64_t first_ns; /* time of the first answer, RH_TIME_UNKNOWN */
    int64_t done_ns;  /* time it ended, RH_TIME_UNKNOWN */
    /* Duration by the server's log of each part, -1 unknown (extended protocol). */
    int64_t parse_ns;
    int64_t bind_ns;
    int64_t execute_ns;
    uint32_t sqlstate;  /* 0 known success, RH_SQLSTATE_UNKNOWN */
    struct rh_span tag; /* command tag without its row count; none: unknown */
    int64_t rows;       /* RH_COUNT_UNKNOWN */
    int64_t bytes;      /* of the answer, RH_COUNT_UNKNOWN */
    uint32_t results;   /* results of a Query string, 0 unknown */
    char tx_status;     /* ReadyForQuery after it: 'I' 'T' 'E', 0 unknown */
};

/* All unknown. */
void rh_outcome_clear(struct rh_outcome *o);

enum rh_fate {
    RH_FATE_NONE = 0,     /* of a workload */
    RH_FATE_DONE = 1,     /* sent and answered: see sqlstate */
    RH_FATE_LOST = 2,     /* sent, the connection was lost before the answer ended */
    RH_FATE_SKIPPED = 3,  /* not replayable: see reason */
    RH_FATE_NOT_SENT = 4, /* could have been, was not: see reason */
};

/* What a replay adds. */
struct rh_run_part {
    enum rh_fate fate;
    enum rh_reason reason;
    int64_t planned_ns; /* when it should have been sent */
    int64_t sent_ns;    /* RH_TIME_UNKNOWN if it was not */
    int64_t wait_ns;    /* of the time between, what it waited for its turn by --order */
    int64_t ready_ns; /* when the answer it had to wait for had come; RH_TIME_UNKNOWN: not waited */
};

/*
 * One record.  In the workload it is what production did; in a run it is the same with the replay's
 * outcome and run part instead of production's.
 */
struct rh_record {
    enum rh_kind kind;
    uint32_t session;
    uint32_t copy;       /* of the session, by --scale; 0 else */
    uint64_t ordinal;    /* 1, 2, ... within the session; of OPEN, CLOSE and GAP: of the
                            statement before it (of a session's first OPEN behind its first
                            statement: of that), 0 if there is none; writers fill it in */
    int64_t start_ns;    /* in a run: sent, or planned if it was not sent */
    uint32_t flags;      /* enum rh_record_flag */
    uint8_t txn;         /* enum rh_txn_mark */
    enum rh_reason hold; /* why it cannot be replayed */

    /* The text: whole (tmpl.data NULL), or template and literals.  Writers take both forms,
     * readers give the second; rh_record_text() makes the whole. */
    struct rh_span text;
    struct rh_span tmpl;
    const struct rh_span *literals;
    uint32_t literal_count;
    uint32_t template_id; /* given by readers: equal ids in one block are equal templates */

    struct rh_span statement_name; /* none or empty: unnamed */
    struct rh_span portal_name;
    struct rh_span application;  /* application_name at that time; none: the session's */
    struct rh_span prepare_text; /* RH_FLAG_SQL_EXECUTE: the PREPARE command the log shows */

    const struct rh_param *params;
    uint32_t param_count;
    const uint16_t *result_formats;
    uint32_t result_format_count;
    int32_t row_limit; /* of Execute; 0 none, -1 unknown */
    uint32_t function_oid;
    /* Frontend messages around it as captured from the wire: two bytes a message, what it is and
     * how many before it were not yet answered (FORMAT.md, "Steps").  None: those a log implies. */
    struct rh_span steps;

    struct rh_outcome outcome;
    struct rh_run_part run;

    /* GAP: what is missing; CLOSE: how; OPEN: how the connection before it ended, none of a
     * session's first one; COPY_DATA: the client's messages, whole (FORMAT.md, "COPY data"). */
    struct rh_span detail;
    uint64_t count; /* GAP: how much of it; COPY_DATA: messages */
};

/* All unknown, kind QUERY. */
void rh_record_init(struct rh_record *r);
/* A gap of no session: how much of what is missing; what must live as long as r. */
void rh_record_init_gap(struct rh_record *r, int64_t start_ns, uint64_t count, const char *what);

/* Append the whole text; nothing for a record without text.  -1 when the buffer's maximum is
 * passed, or the reader was to leave literals out (trace_reader.h). */
int rh_record_text(const struct rh_record *r, struct rh_buf *out);
/* *to is *from with all it points to copied into the arena. */
void rh_record_copy(struct rh_record *to, const struct rh_record *from, struct rh_arena *arena);

enum rh_session_flag {
    RH_SESSION_JOINED_MIDWAY = 1 << 0, /* it was open when the capture began */
    RH_SESSION_LEFT_OPEN = 1 << 1,     /* it was open when the capture ended */
    RH_SESSION_REPLICATION = 1 << 2,
    RH_SESSION_LOGIN_FAILED = 1 << 3,
    RH_SESSION_ENCRYPTED = 1 << 4, /* the wire shows that it was there, no more */
    /* Its client went without saying Terminate: the connection was closed, or was reset. */
    RH_SESSION_NO_TERMINATE = 1 << 5,
    RH_SESSION_RESET = 1 << 6,
};

struct rh_setting {
    struct rh_span name;
    struct rh_span value;
};

struct rh_session {
    uint32_t number; /* 1, 2, ... in order of opening (of first sight where that is unknown) */
    uint32_t copy;   /* of a run with --scale; 0 else */
    struct rh_span user;
    struct rh_span database;
    struct rh_span application;
    struct rh_span client;            /* "192.0.2.7:40312", "[local]"; none: unknown */
    int64_t opened_ns;                /* RH_TIME_UNKNOWN */
    int64_t closed_ns;                /* RH_TIME_UNKNOWN: not (yet) */
    uint32_t backend_pid;             /* 0 unknown */
    uint32_t flags;                   /* enum rh_session_flag */
    const struct rh_setting *startup; /* startup parameters beyond user and database */
    uint32_t startup_count;
};

void rh_session_copy(struct rh_session *to, const struct rh_session *from, struct rh_arena *arena);

/* Where a file's times come from; two of one vantage may be compared in absolute terms. */
enum rh_vantage { RH_VANTAGE_SERVER_LOG = 0, RH_VANTAGE_WIRE = 1, RH_VANTAGE_CLIENT = 2 };
/* "server log", "wire", "replay client". */
const char *rh_vantage_text(enum rh_vantage vantage);

#endif
