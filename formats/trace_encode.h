/*
 * formats/trace_encode.h
 *
 * Rows of the writer's window to the two parts of a data block, and the list of its blobs.
 */
#ifndef RH_FORMATS_TRACE_ENCODE_H
#define RH_FORMATS_TRACE_ENCODE_H

#include "common/map.h"
#include "formats/trace_layout.h"
#include "formats/trace_part.h"
#include "formats/trace_row.h"

/* One integer a row: `values`, or `usual` where all have it. */
struct rh_encode_column {
    int64_t *values;
    int64_t usual;
    bool varies;
};

/* What the index wants to know of a session's rows in the block. */
struct rh_encode_session {
    uint64_t ordinal_first; /* smallest and largest */
    uint64_t ordinal_last;
    int64_t timed_first; /* start of its first and last record with an ordinal, RH_INT_UNKNOWN */
    int64_t timed_last;
    uint32_t cursor_rows;
};

struct rh_trace_encoder {
    struct rh_trace_part state;
    struct rh_trace_part data;
    struct rh_blob_list blobs;
    /* Of the rows: smallest and largest start, counts. */
    int64_t min;
    int64_t max;
    uint32_t statement_count;
    bool has_outcomes;
    bool has_extra;
    bool has_run;
    bool has_param_types;
    bool has_param_formats;
    /* A field that is 0 here is the same in all rows; pointers say nothing. */
    struct rh_trace_row differences;
    struct rh_trace_row_extra extra_differences;
    struct rh_trace_row_run run_differences;

    /* Below: the encoder's own. */
    size_t map_begin; /* of the data part's map, and its entries so far */
    uint32_t map_entries;
    uint64_t serial;
    bool has_stamps;      /* units are us, and starts or ends may be whole ms */
    int64_t distance_max; /* of two times, in units */
    bool with_state;
    const struct rh_trace_row_store *store;
    /* What has one piece a row lies in `room`, of which the first room_used bytes are taken. */
    char *room;
    size_t room_bytes;
    size_t room_used;
    const struct rh_trace_row **rows; /* by session, then as they came */
    const void **parts;               /* by row: the row, its `extra` or its `run` */
    uint32_t row_count;
    struct rh_trace_writer_session **sessions; /* by number and copy */
    struct rh_encode_session *notes;           /* by session */
    uint32_t session_count;
    uint32_t session_cap;
    struct rh_intern strings; /* of this block */
    uint32_t *string_map;     /* from the store's numbers; RH_NO_STRING: not yet */
    uint32_t *template_map;
    uint32_t map_caps[2];
    uint32_t *templates; /* the store's numbers of this block's templates */
    uint32_t *template_uses;
    uint32_t template_count;
    uint32_t template_cap;
    uint32_t *row_templates;            /* by row: its template's number in this block */
    const struct rh_value **row_values; /* by row: literals, then parameters */
    uint32_t *by_template;              /* rows by template, those without one last */
    struct rh_encode_column columns[RH_ROW_COLUMN_COUNT];
    int64_t *start_units;
    int64_t *start_stamps;
    uint32_t start_unit_count;
    uint32_t start_stamp_count;
    struct rh_value *values;
    uint32_t value_cap;
    struct rh_value_scratch scratch;
    struct rh_map lists; /* digest of a session state to the session that has it */
    int64_t *flat;       /* of columns with a length of their own */
    uint32_t flat_cap;
};

/* unit_ns as in trace_row.h. */
void rh_trace_encoder_init(struct rh_trace_encoder *e, int64_t unit_ns);
void rh_trace_encoder_release(struct rh_trace_encoder *e);

/*
 * Encode `count` rows (in the order they came) and, besides their sessions, `others`, of which only
 * what is known of them is told.  with_state: sessions begin with their state.  False when the
 * block would pass a limit: then encode fewer rows.
 */
bool rh_trace_encoder_run(struct rh_trace_encoder *e, const struct rh_trace_row_store *store,
                          struct rh_trace_row *const *rows, uint32_t count,
                          struct rh_trace_writer_session *const *others, uint32_t other_count,
                          bool with_state);

/* Steps of the above, one a file. */
/* Steps of the above, one a file. */
void rh_trace_encode_columns(struct rh_trace_encoder *e);
bool rh_trace_encode_values(struct rh_trace_encoder *e);
bool rh_trace_encode_state(struct rh_trace_encoder *e);
/* Bytes of e->room, until the next run; all rows of at most RH_ROW_COLUMN_COUNT columns fit. */
void *rh_trace_encode_room(struct rh_trace_encoder *e, size_t bytes);
/* The number in this block of a template of the store, in order of first sight; counts its use. */
uint32_t rh_trace_encode_template(struct rh_trace_encoder *e, uint32_t id);
/* Begin an entry of the data part's map. */
void rh_trace_encode_key(struct rh_trace_encoder *e, enum rh_column key);
/* The number in this block of a string of the store, or of any bytes. */
int64_t rh_trace_encode_string_id(struct rh_trace_encoder *e, uint32_t id);
int64_t rh_trace_encode_string(struct rh_trace_encoder *e, struct rh_span s);
/* How many parameters a row has, once its columns are made. */
static inline uint32_t rh_trace_encode_param_count(const struct rh_trace_encoder *e, uint32_t row)
{
    const struct rh_encode_column *c = &e->columns[RH_COLUMN_PARAM_COUNT];
    return (uint32_t) (c->varies ? c->values[row] : c->usual);
}
/* Room for n integers. */
int64_t *rh_trace_encode_flat(struct rh_trace_encoder *e, uint32_t n);
struct rh_value *rh_trace_encode_value_room(struct rh_trace_encoder *e, uint32_t n);

#endif
