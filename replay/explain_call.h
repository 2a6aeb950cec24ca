/*
 * replay/explain_call.h
 *
 * Calls that a report refers to by part, session and ordinal, read from the traces: their texts and
 * values, so that a server can be asked how it would plan just these.
 */
#ifndef RH_REPLAY_EXPLAIN_CALL_H
#define RH_REPLAY_EXPLAIN_CALL_H

#include <stdbool.h>
#include <stdint.h>

#include "common/arena.h"
#include "common/error.h"
#include "common/opt.h"
#include "common/span.h"
#include "formats/record.h"

enum {
    /* A longer text, or more bytes of values, is not planned. */
    RH_EXPLAIN_CALL_MAX_BYTES = 1 << 20,
};

struct rh_explain_call {
    /* What the report tells; `wanted` is set by who asks. */
    bool wanted;
    uint32_t part;
    uint32_t session;
    uint32_t copy;
    uint64_t ordinal;
    uint64_t fingerprint; /* of its query */
    /* What the trace tells. */
    bool found;
    const char *problem; /* why it cannot be planned: static; NULL if it can */
    struct rh_span text; /* NUL-terminated; in the arena, as the parameters' texts are */
    const struct rh_param *params;
    uint32_t param_count;
};

/*
 * Look for the wanted ones of calls[0..count): paths->items[N] is the trace of part N, or a run of
 * it.  A call that is not found, or is another query there, has a `problem`.  -1: a file cannot be
 * read; RH_ERR_STOPPED after a signal.
 */
int rh_explain_calls_read(struct rh_explain_call *const *calls, uint32_t count,
                          const struct rh_str_list *paths, struct rh_arena *arena,
                          struct rh_error *err);

#endif
