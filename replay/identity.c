#include "replay/identity.h"

#include <stdlib.h>

#include "common/alloc.h"
#include "common/arena.h"
#include "common/intern.h"

/* A user and a database as one key; neither holds a NUL. */
static uint32_t put_pair(struct rh_intern *pairs, struct rh_arena *scratch, struct rh_span user,
                         struct rh_span database, bool *fresh)
{
    rh_arena_clear(scratch);
    char *key = rh_arena_alloc(scratch, user.len + database.len + 1);
    if (user.len > 0) {
        memcpy(key, user.data, user.len);
    }
    key[user.len] = '\0';
    if (database.len > 0) {
        memcpy(key + user.len + 1, database.data, database.len);
    }
    return rh_intern_put(pairs, rh_span(key, user.len + database.len + 1), fresh);
}

static int compare_leaders(const void *a, const void *b, void *items)
{
    const struct rh_identity *all = items;
    uint32_t i = *(const uint32_t *) a, k = *(const uint32_t *) b;
    if (all[i].all_sessions != all[k].all_sessions) {
        return all[i].all_sessions > all[k].all_sessions ? -1 : 1;
    }
    return (i > k) - (i < k);
}

static void find_leaders(struct rh_identities *ids, struct rh_arena *scratch)
{
    struct rh_intern pairs;
    rh_intern_init(&pairs);
    ids->leaders = rh_calloc(ids->count ? ids->count : 1, sizeof *ids->leaders);
    for (uint32_t i = 0; i < ids->count; i++) {
        bool fresh;
        struct rh_identity *id = &ids->items[i];
        uint32_t number = put_pair(&pairs, scratch, id->user, id->database, &fresh);
        if (fresh) {
            ids->leaders[ids->leader_count++] = i;
        }
        id->leader = ids->leaders[number];
        ids->items[id->leader].all_sessions += id->sessions;
    }
    qsort_r(ids->leaders, ids->leader_count, sizeof *ids->leaders, compare_leaders, ids->items);
    rh_intern_release(&pairs);
}

void rh_identities_init(struct rh_identities *ids, const struct rh_plan *plan,
                        const struct rh_replay_options *options)
{
    struct rh_intern pairs;
    struct rh_arena scratch;
    *ids = (struct rh_identities){0};
    rh_intern_init(&pairs);
    rh_arena_init(&scratch, 1024);
    ids->of_session = rh_calloc(plan->session_count + 1, sizeof *ids->of_session);
    for (uint32_t i = 0; i < plan->session_count; i++) {
        ids->of_session[i] = UINT32_MAX;
        if (plan->sessions[i].unsent != RH_REASON_NONE) {
            continue;
        }
        bool fresh;
        struct rh_session s = *plan->sessions[i].session;
        uint32_t number = put_pair(&pairs, &scratch, s.user, s.database, &fresh);
        if (fresh) {
            RH_GROW(ids->items, ids->count, ids->cap);
            struct rh_identity *id = &ids->items[ids->count++];
            *id = (struct rh_identity){.captured_user = s.user, .captured_database = s.database};
            rh_replay_options_identify(options, &s);
            id->user = s.user;
            id->database = s.database;
        }
        ids->items[number].sessions++;
        ids->of_session[i] = number;
    }
    rh_intern_release(&pairs);
    find_leaders(ids, &scratch);
    rh_arena_release(&scratch);
}

void rh_identities_release(struct rh_identities *ids)
{
    for (uint32_t i = 0; i < ids->count; i++) {
        rh_free(ids->items[i].why);
    }
    rh_free(ids->items);
    rh_free(ids->leaders);
    rh_free(ids->of_session);
}

static bool counts(const struct rh_identities *ids, uint32_t session, struct rh_span user,
                   struct rh_span database)
{
    uint32_t number = ids->of_session[session];
    if (number == UINT32_MAX) {
        return false;
    }
    const struct rh_identity *id = &ids->items[number];
    return (!user.data || rh_span_equal(id->user, user)) &&
           (!database.data || rh_span_equal(id->database, database));
}

uint32_t rh_identities_peak(const struct rh_identities *ids, const struct rh_plan *plan,
                            struct rh_span user, struct rh_span database)
{
    uint32_t open = 0, peak = 0, closed = 0;
    for (uint32_t i = 0; i < plan->session_count; i++) {
        int64_t open_ns = plan->sessions[i].open_ns;
        if (!counts(ids, i, user, database)) {
            continue;
        }
        for (; closed < plan->close_count; closed++) {
            uint32_t place = plan->by_close[closed];
            if (plan->sessions[place].close_ns >= open_ns) {
                break;
            }
            open -= counts(ids, place, user, database);
        }
        open++;
        peak = open > peak ? open : peak;
    }
    return peak;
}
