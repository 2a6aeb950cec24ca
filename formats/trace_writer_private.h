/*
 * formats/trace_writer_private.h
 *
 * The trace writer's insides, shared by its sources: trace_writer.c takes records in,
 * trace_writer_sessions.c knows the sessions, trace_writer_seal.c makes blocks.
 */
#ifndef RH_FORMATS_TRACE_WRITER_PRIVATE_H
#define RH_FORMATS_TRACE_WRITER_PRIVATE_H

#include <zstd.h>

#include "common/map.h"
#include "common/outfile.h"
#include "common/sql_template.h"
#include "formats/start_order.h"
#include "formats/trace_encode.h"
#include "formats/trace_frame.h"
#include "formats/trace_row.h"
#include "formats/trace_writer.h"

/* Rows that wait to be sealed, in the order they came. */
struct rh_trace_window {
    struct rh_trace_row *rows;
    int64_t *starts; /* by row, the same as in it */
    uint32_t count;
    uint32_t cap;
    uint32_t old_count; /* of the first rows, whose values are in store.old */
    struct rh_trace_row_store store;
};

/* A place in start order. */
struct rh_trace_mark {
    int64_t start;
    uint32_t session;
    uint32_t copy;
};

/* The rows of a window that wait, and those of them that go into the next block. */
struct rh_trace_selection {
    uint32_t *live; /* indexes, in the order they came */
    uint32_t live_count;
    struct rh_trace_row **chosen; /* in the order they came */
    uint32_t *rest;               /* of the live ones, those that were not chosen */
    uint32_t rest_count;

    uint32_t *group; /* scratch */
    int64_t *starts;
    struct rh_start_order order;
    uint32_t cap;
};

struct rh_trace_writer {
    struct rh_outfile *file;
    struct rh_trace_header header;
    struct rh_arena texts; /* of the header and the notes */
    int64_t unit_ns;
    uint32_t window_records;
    uint64_t window_bytes;

    struct rh_trace_window window;
    struct rh_trace_window late;
    struct rh_trace_row_store spare; /* where the window's rows move to leave behind what is gone */
    struct rh_trace_row_maps maps;
    uint32_t map_caps[2];
    bool has_sealed;
    struct rh_trace_mark sealed; /* ordinary blocks go up to here */
    int64_t newest_start;
    bool has_early_statement; /* an opening that waits starts behind its session's first one */

    struct rh_map sessions; /* by number and copy */
    struct rh_trace_writer_session *last_session;
    struct rh_trace_writer_session **ended; /* sealed or soon to be; to be told of, then dropped */
    uint32_t ended_count;
    uint32_t ended_cap;

    struct rh_trace_selection selection;
    struct rh_trace_encoder encoder;
    uint32_t bytes_per_row; /* before compression, of the last block */
    ZSTD_CCtx *cctx;
    struct rh_buf packed;
    struct rh_trace_part plain; /* header and end block, blobs */

    struct rh_buf tmpl;
    struct rh_literals literals;
    struct rh_arena scratch;

    uint32_t block_count;
    uint64_t records;
    uint64_t statements;
    struct rh_setting *notes;
    uint32_t note_count;
    uint32_t note_cap;
    size_t note_bytes;
    bool failed;
    struct rh_error failure;
};

/* trace_writer_sessions.c */
struct rh_trace_writer_session *rh_trace_writer_find_session(struct rh_trace_writer *w,
                                                             uint32_t number, uint32_t copy);
/* What a sealed row makes of its session. */
void rh_trace_writer_apply(struct rh_trace_writer *w, const struct rh_trace_row *row,
                           const struct rh_trace_row_store *store);
/* Sessions that are only to be told of: into *others, at most max. */
uint32_t rh_trace_writer_changed(struct rh_trace_writer *w, bool all,
                                 struct rh_trace_writer_session **others, uint32_t max);
/* Free ended sessions that have no rows left and were told of. */
void rh_trace_writer_drop_ended(struct rh_trace_writer *w);
void rh_trace_writer_free_sessions(struct rh_trace_writer *w);

/* trace_writer_select.c */
void rh_trace_selection_release(struct rh_trace_selection *s);
/* All rows of the window wait. */
void rh_trace_selection_begin(struct rh_trace_selection *s, const struct rh_trace_window *win);
/* Choose the first n, at least one, by start, session, copy, ordinal; *last is the place of the
 * last of them. */
void rh_trace_selection_choose(struct rh_trace_selection *s, const struct rh_trace_window *win,
                               uint32_t n, struct rh_trace_mark *last);
/* What was chosen waits no longer. */
void rh_trace_selection_take(struct rh_trace_selection *s);

/* trace_writer_seal.c: -1 with w->failed and w->failure set. */
/* Seal the oldest rows of the window until at most `keep` are left. */
int rh_trace_writer_seal(struct rh_trace_writer *w, uint32_t keep);
/* Let go of what sealed rows left in the window's store. */
void rh_trace_writer_compact(struct rh_trace_writer *w);
int rh_trace_writer_seal_late(struct rh_trace_writer *w);
/* Blocks without records for sessions that changed since they were told of. */
int rh_trace_writer_seal_sessions(struct rh_trace_writer *w);
/* trace_writer_check.c, for assert(): a reader takes the block that the encoder made, and finds its
 * ordinals where the index looks for them. */
bool rh_trace_writer_block_is_good(const struct rh_trace_writer *w, const struct rh_frame *frame);
/* A header or end block of what is in w->plain. */
int rh_trace_writer_put_plain(struct rh_trace_writer *w, uint8_t type);

#endif
