/*
 * replay/preview.h
 *
 * One pass over the records of a plan, for what only they tell before a replay: how many statements
 * each session has, which cannot be replayed, and in what encoding the texts may be.
 */
#ifndef RH_REPLAY_PREVIEW_H
#define RH_REPLAY_PREVIEW_H

#include <stdint.h>

#include "formats/trace_file.h"
#include "replay/identity.h"
#include "replay/plan.h"

/* The texts of one identity. */
struct rh_preview_texts {
    uint64_t beyond_ascii; /* statements with bytes above 127 */
    uint64_t not_utf8;     /* of those, the ones that are no UTF-8 */
};

/* Statements of one kind that act beyond their database (common/sql_effect.h). */
struct rh_preview_reach {
    const char *kind; /* static */
    uint64_t count;
    uint32_t session; /* one of them */
    uint64_t ordinal;
};

enum { RH_PREVIEW_REACHES = 16 };

struct rh_preview {
    uint64_t statements; /* that would be sent */
    /* Statements that would not, by reason; those of sessions that are not opened too. */
    uint64_t held[RH_REASON_COUNT];
    struct rh_preview_texts *texts; /* by identity */
    uint32_t damaged_blocks;
    struct rh_preview_reach reaches[RH_PREVIEW_REACHES];
    uint32_t reach_count;
    uint64_t reaches_beyond; /* statements of kinds that found no room */
};

/* Also fills in the statements of `ids`.  -1: an I/O error, or RH_ERR_STOPPED. */
int rh_preview_read(struct rh_preview *preview, const struct rh_plan *plan,
                    struct rh_trace_file *file, struct rh_identities *ids, struct rh_error *err);
void rh_preview_release(struct rh_preview *preview);

#endif
