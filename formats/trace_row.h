/*
 * formats/trace_row.h
 *
 * A record as the trace writer keeps it in its window: times in the file's unit, strings and
 * templates as numbers of the window's tables, literals and parameters as values.
 */
#ifndef RH_FORMATS_TRACE_ROW_H
#define RH_FORMATS_TRACE_ROW_H

#include "common/arena.h"
#include "common/intern.h"
#include "common/template_match.h"
#include "formats/record.h"
#include "formats/session_state.h"
#include "formats/trace_layout.h"
#include "formats/value_column.h"

#define RH_NO_STRING UINT32_MAX

/* What the writer knows of a session. */
struct rh_trace_writer_session {
    struct rh_session s; /* what it points to lies in `texts` */
    struct rh_arena texts;
    int64_t opened; /* in the file's unit, RH_INT_UNKNOWN */
    int64_t closed;
    struct rh_session_state state;
    uint32_t last_template; /* of its newest row, a number of the window's store then */
    /* Named statements that `state` has, hash of name and text: in groups by the hash, in each the
     * newest first. */
    uint64_t known_names[16][4];
    uint64_t first_ordinal;
    uint64_t last_ordinal;
    int64_t last_start;    /* of a record with an ordinal */
    int64_t first_start;   /* of its first statement, INT64_MAX: none yet */
    int64_t opening_start; /* of its OPEN record, INT64_MIN: none yet */
    bool opening_late;     /* it waits among the late rows */
    bool opening_sealed;
    uint64_t open_ordinal; /* the newest statement whose end is not known, 0: none */
    int64_t open_start;
    uint32_t open_row;     /* of the window, RH_NO_STRING: sealed */
    uint32_t pending_rows; /* in the window */
    bool changed;          /* since a block told of it */
    bool ended;
    /* While a block is encoded: */
    uint64_t block_serial;
    uint32_t block_rows;
    uint32_t block_first_row;
    bool block_disorder;        /* its rows did not come in their order */
    uint32_t block_list;        /* number of its list of prepared texts and settings */
    uint64_t block_list_serial; /* the block that has this session's list */
};

/* What most records do not have. */
struct rh_trace_row_extra {
    uint32_t statement_name; /* numbers of strings */
    uint32_t portal_name;
    uint32_t application;
    uint32_t prepare_text;
    uint32_t steps;
    int64_t parse; /* RH_INT_UNKNOWN */
    int64_t bind;
    int64_t execute;
    const uint32_t *param_types;  /* NULL: all 0 */
    const uint8_t *param_formats; /* NULL: all 0 */
    const uint16_t *result_formats;
    uint32_t result_format_count;
    int32_t row_limit;
    uint32_t function_oid;
    uint64_t count;
    struct rh_value detail;
};

struct rh_trace_row_run {
    uint8_t fate;
    uint8_t reason;
    int64_t planned; /* RH_INT_UNKNOWN */
    int64_t sent;
    int64_t wait;
    int64_t ready;
};

/* Two cache lines: what the encoder reads of every row, and what mostly is the same in all. */
struct rh_trace_row {
    struct rh_trace_writer_session *session;
    uint64_t ordinal;
    int64_t start;
    int64_t done;                           /* RH_INT_UNKNOWN */
    const struct rh_value *values;          /* literals, then parameters */
    const struct rh_trace_row_extra *extra; /* never NULL */
    const struct rh_trace_row_run *run;     /* never NULL */
    uint32_t tmpl;                          /* number of a template, RH_NO_STRING */
    uint8_t kind;
    uint8_t txn;
    uint8_t hold;
    uint8_t tx_status;

    int64_t first; /* RH_INT_UNKNOWN */
    int64_t rows;
    int64_t bytes;
    uint32_t flags;
    uint32_t param_count;
    uint32_t literal_count;
    uint32_t sqlstate;
    uint32_t tag; /* number of a string */
    uint32_t results;
    uint64_t unused[2];
};

extern const struct rh_trace_row_extra rh_trace_row_no_extra;
extern const struct rh_trace_row_run rh_trace_row_no_run;

/* Of a row, as the next one of its template will have them: numbers of strings, RH_NO_STRING. */
struct rh_trace_row_strings {
    uint32_t tag;
    uint32_t statement_name;
    uint32_t steps;
};

/* What is known of a template besides its text. */
struct rh_trace_row_template {
    uint32_t slot_count;   /* what rh_template_slot_count() says */
    bool changes_state;    /* such a statement may change the session's state */
    uint32_t followers[2]; /* what came behind it, the latest first; RH_NO_STRING */
    struct rh_trace_row_strings last;
    struct rh_template_match match;
};

/*
 * What rows point to.  Of each row the values lie in `arena` or, if it was there when
 * rh_trace_row_store_turn() was called last, in `old`.
 */
struct rh_trace_row_store {
    struct rh_arena arena;
    struct rh_arena old;
    struct rh_arena learned; /* of the templates' matches */
    struct rh_intern templates;
    struct rh_intern strings;
    struct rh_trace_row_template *facts; /* by template */
    uint32_t template_cap;
};

void rh_trace_row_store_init(struct rh_trace_row_store *s);
void rh_trace_row_store_release(struct rh_trace_row_store *s);
void rh_trace_row_store_clear(struct rh_trace_row_store *s);
/* Bytes that rows of this store hold, and those that are gone but not cleared yet. */
static inline size_t rh_trace_row_store_bytes(const struct rh_trace_row_store *s)
{
    return s->arena.used_bytes + s->old.used_bytes + s->learned.used_bytes + s->templates.bytes +
           s->strings.bytes;
}
/* Nothing that stays is in `old`: it becomes the arena of new rows, and the arena the old one. */
void rh_trace_row_store_turn(struct rh_trace_row_store *s);

/* The number of a template. */
uint32_t rh_trace_row_store_template(struct rh_trace_row_store *s, struct rh_span tmpl);
/* The same where it is likely to be one that followed `last` before: its session's last one, of
 * this store or of none (any number may be given). */
uint32_t rh_trace_row_store_next(struct rh_trace_row_store *s, uint32_t last, struct rh_span tmpl);
/* The same of a whole text; *tmpl is the caller's scratch, *literals get what stands in its slots.
 */
uint32_t rh_trace_row_store_split(struct rh_trace_row_store *s, uint32_t last, struct rh_span text,
                                  struct rh_buf *tmpl, struct rh_literals *literals);

/* Of two rows of one session: a is before b, whatever came first. */
bool rh_trace_row_precedes(const struct rh_trace_row *a, const struct rh_trace_row *b);

/* Of times before 1970 and such as pass the limit. */
int64_t rh_trace_row_units_slow(int64_t ns, int64_t unit_ns);
/* A time in the file's unit, rounded down, kept within RH_TRACE_TIME_MAX_NS; unknown stays unknown.
 */
static inline int64_t rh_trace_row_units(int64_t ns, int64_t unit_ns)
{
    if ((uint64_t) ns > (uint64_t) RH_TRACE_TIME_MAX_NS) {
        return ns == RH_TIME_UNKNOWN ? RH_INT_UNKNOWN : rh_trace_row_units_slow(ns, unit_ns);
    }
    return unit_ns == 1000 ? (int64_t) ((uint64_t) ns / 1000) : ns;
}

/* A record's text, split. */
struct rh_trace_row_text {
    uint32_t tmpl; /* its number in the store, RH_NO_STRING: it has none */
    const struct rh_span *literals;
    uint32_t literal_count;
};

/*
 * Make a row of a record and its text.  unit_ns is 1000 in a workload, 1 in a run.  `session` is
 * left to the caller.
 */
void rh_trace_row_make(struct rh_trace_row *row, const struct rh_record *r,
                       const struct rh_trace_row_text *text, struct rh_trace_row_store *store,
                       int64_t unit_ns);

/* Copy what the row points to into the arena. */
void rh_trace_row_keep(struct rh_trace_row *row, struct rh_arena *arena);

/* Copy into another store; *maps have the new numbers of templates and strings, filled as
 * needed (RH_NO_STRING: not yet). */
struct rh_trace_row_maps {
    uint32_t *templates;
    uint32_t *strings;
};
void rh_trace_row_move(struct rh_trace_row *row, const struct rh_trace_row_store *from,
                       struct rh_trace_row_store *to, struct rh_trace_row_maps *maps);

/* The record again, for session_state: text, kind, names, outcome.  Literals are made in the arena.
 */
void rh_trace_row_record(const struct rh_trace_row *row, const struct rh_trace_row_store *store,
                         struct rh_arena *arena, struct rh_record *r);

#endif
