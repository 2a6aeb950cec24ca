/*
 * replay/null_tag.h
 *
 * The command tag of an SQL command, from its first words (src/include/tcop/cmdtaglist.h, 17).
 */
#ifndef RH_REPLAY_NULL_TAG_H
#define RH_REPLAY_NULL_TAG_H

#include <stdbool.h>

#include "common/span.h"

struct rh_null_tag {
    const char *tag;  /* static; NULL: no command begins like this */
    bool has_count;   /* the number of rows follows */
    bool gives_rows;  /* always */
    bool may_return;  /* gives rows with RETURNING */
    bool is_rollback; /* ROLLBACK, ROLLBACK TO, ABORT */
    bool is_show;
    struct rh_span rest; /* of the command, behind its first word */
};

struct rh_null_tag rh_null_tag_find(struct rh_span command);

#endif
