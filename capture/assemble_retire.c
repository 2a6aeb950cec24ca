/*
 * capture/assemble_retire.c
 *
 * Sessions whose end the log does not tell.  Without log_disconnections they would only grow in
 * number, so past a limit those that are idle longest are given up.
 */
#include <stdlib.h>

#include "capture/assembly.h"
#include "common/alloc.h"

enum {
    PART_RETIRED = 8,               /* one of so many at a time, so that looking at all is rare */
    RETIRED_KEPT_MAX = 1024 * 1024, /* ids, to know one that comes back */
};

static const struct rh_follow follow_unknown = {0};

static bool is_busy(const struct rh_log_session *s)
{
    return s->in_block || s->txn_open || s->pending;
}

/* Those to be given up come first. */
static int compare_idleness(const void *a, const void *b)
{
    const struct rh_log_session *x = *(struct rh_log_session *const *) a;
    const struct rh_log_session *y = *(struct rh_log_session *const *) b;
    if (is_busy(x) != is_busy(y)) {
        return is_busy(x) ? 1 : -1;
    }
    if (x->last_stamp_ns != y->last_stamp_ns) {
        return x->last_stamp_ns < y->last_stamp_ns ? -1 : 1;
    }
    return x->key < y->key ? -1 : x->key > y->key;
}

static int retire(struct rh_assembler *a, struct rh_log_session *s, struct rh_error *err)
{
    static char retired; /* what a map holds must be something */
    if (a->retired.count >= RETIRED_KEPT_MAX) {
        rh_map_release(&a->retired);
    }
    rh_map_put(&a->retired, s->key, &retired);
    a->stats->retired++;
    if (rh_assemble_flush(a, s, &follow_unknown, err) != 0) {
        return -1;
    }
    /* Says what may be missing, and lets the writer tell of the session and forget it. */
    if (s->written &&
        rh_assemble_gap(a, s, "session given up, too many were open", 1, a->now_ns, err) != 0) {
        return -1;
    }
    return rh_assemble_close(a, s, NULL, err);
}

int rh_assemble_retire(struct rh_assembler *a, struct rh_error *err)
{
    size_t count = a->sessions.by_key.count;
    if (count < a->sessions_max) {
        return 0;
    }
    struct rh_log_session **list = rh_log_sessions_list(&a->sessions, compare_idleness);
    size_t part = a->sessions_max / PART_RETIRED;
    size_t surplus = count - a->sessions_max + (part > 0 ? part : 1);
    int rc = 0;
    for (size_t i = 0; i < surplus && i < count && rc == 0; i++) {
        rc = retire(a, list[i], err);
    }
    rh_free(list);
    return rc;
}

void rh_assemble_revive(struct rh_assembler *a, uint64_t key)
{
    if (a->retired.count > 0 && rh_map_remove(&a->retired, key)) {
        a->stats->resumed++;
    }
}
