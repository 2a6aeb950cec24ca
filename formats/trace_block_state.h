/*
 * formats/trace_block_state.h
 *
 * The state part of a data block, decoded: its sessions, what each had made of itself before the
 * block, its templates and strings.
 */
#ifndef RH_FORMATS_TRACE_BLOCK_STATE_H
#define RH_FORMATS_TRACE_BLOCK_STATE_H

#include "common/arena.h"
#include "formats/record.h"
#include "formats/session_state.h"

#define RH_NO_LIST UINT32_MAX

struct rh_block_session {
    struct rh_session s;
    uint32_t first_row; /* its rows in the block */
    uint32_t row_count;
    uint32_t cursor_rows; /* of them with ordinals or COPY data */
    uint64_t first_ordinal;
    uint64_t last_ordinal;
    int64_t first_start;    /* of its first row, in the file's unit */
    int64_t timed_first_ns; /* of its first and last row with an ordinal; RH_TIME_UNKNOWN */
    int64_t timed_last_ns;
    uint32_t list;  /* RH_NO_LIST: none */
    bool unordered; /* its ordinals do not ascend (told when the columns were decoded) */
};

struct rh_block_list {
    uint32_t first_item;
    uint32_t item_count;
    bool incomplete;
};

struct rh_block_item {
    enum rh_state_kind kind;
    struct rh_span name;
    struct rh_span text;
    struct rh_span types;
};

struct rh_block_state {
    struct rh_block_session *sessions; /* by number, then copy */
    uint32_t session_count;
    struct rh_span *strings;
    uint32_t string_count;
    struct rh_span *templates;
    uint32_t template_count;
    struct rh_block_list *lists;
    uint32_t list_count;
    struct rh_block_item *items;
    uint32_t item_count;
    uint32_t row_count; /* of all sessions */
};

/* `raw` and `blobs` must live as long as the arena, from which all else is taken.  min is the
 * block's smallest start.  -1: not what FORMAT.md allows. */
int rh_block_state_decode(struct rh_block_state *st, struct rh_span raw, struct rh_span blobs,
                          int64_t min, int64_t unit_ns, struct rh_arena *arena);
/* The sessions and their strings alone; templates, lists and items are left out. */
int rh_block_state_decode_sessions(struct rh_block_state *st, struct rh_span raw,
                                   struct rh_span blobs, int64_t min, int64_t unit_ns,
                                   struct rh_arena *arena);

/* The session with that number and copy, or NULL. */
const struct rh_block_session *rh_block_state_session(const struct rh_block_state *st,
                                                      uint32_t number, uint32_t copy);

/* A time of the file in ns; unknown stays unknown, what does not fit is the nearest that does. */
int64_t rh_block_time_ns(int64_t units, int64_t unit_ns);

#endif
