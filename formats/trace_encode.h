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

/* One integer a row; `values` counts once a row differed from the first. */
struct rh_encode_column {
    int64_t *values;
    int64_t usual;
    bool varies;
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
    bool outcomes_differ; /* in what put_outcome() puts */
    bool has_extra;
    bool has_run;

    /* Below: the encoder's own. */
    size_t map_begin; /* of the data part's map, and its entries so far */
    uint32_t map_entries;
    uint64_t serial;
    int64_t stamp_units;  /* units in a ms where stamps are worth looking for, else 0 */
    int64_t distance_max; /* of two times, in units */
    bool with_state;
    const struct rh_trace_row_store *store;
    const struct rh_trace_row **rows; /* by session, then as they came */
    uint32_t row_count;
    struct rh_trace_writer_session **sessions; /* by number and copy */
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
    uint32_t *row_params;               /* by row: how many parameters */
    const struct rh_value **row_values; /* by row: literals, then parameters */
    uint32_t *by_template;              /* rows by template, those without one last */
    struct rh_encode_column columns[RH_ROW_COLUMN_COUNT];
    int64_t *start_units;
    int64_t *start_stamps;
    uint32_t start_unit_count;
    uint32_t start_stamp_count;
    int64_t *timed_first; /* by session: start of its first and last record with an ordinal */
    int64_t *timed_last;
    uint64_t *ordinal_first; /* by session: smallest and largest */
    uint64_t *ordinal_last;
    uint32_t *cursor_rows;
    uint32_t row_cap;
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
 * Encode `count` rows (in start order; those of one session in its order) and, besides their
 * sessions, `others`, of which only what is known of them is told.  with_state: sessions begin with
 * their state.  False when the block would pass a limit: then encode fewer rows.
 */
bool rh_trace_encoder_run(struct rh_trace_encoder *e, const struct rh_trace_row_store *store,
                          struct rh_trace_row *const *rows, uint32_t count,
                          struct rh_trace_writer_session *const *others, uint32_t other_count,
                          bool with_state);

uint32_t rh_trace_encode_template(struct rh_trace_encoder *e, uint32_t id);

/* Steps of the above, one a file. */
void rh_trace_encode_columns(struct rh_trace_encoder *e);
bool rh_trace_encode_values(struct rh_trace_encoder *e);
bool rh_trace_encode_state(struct rh_trace_encoder *e);
/* Begin an entry of the data part's map. */
void rh_trace_encode_key(struct rh_trace_encoder *e, enum rh_column key);
/* The number in this block of a string of the store, or of any bytes. */
int64_t rh_trace_encode_string_id(struct rh_trace_encoder *e, uint32_t id);
int64_t rh_trace_encode_string(struct rh_trace_encoder *e, struct rh_span s);
/* Room for n integers. */
int64_t *rh_trace_encode_flat(struct rh_trace_encoder *e, uint32_t n);
struct rh_value *rh_trace_encode_value_room(struct rh_trace_encoder *e, uint32_t n);

#endif
