/*
 * Reading one session in the order of its ordinals.  Its ordinary blocks follow each other; late
 * blocks hold single records that belong between; so a read first finds which rows come next in
 * all of them, and then copies these.
 */
#include <string.h>

#include "formats/block_cache.h"
#include "formats/session_blocks.h"
#include "formats/trace_index.h"

enum { BATCH_MAX = 128, KEYS_MAX = BATCH_MAX + 1, SEEK_BATCH = 64, SEEK_BYTES = 1024 * 1024 };

struct key {
    uint64_t ordinal;
    int64_t start_ns;
    uint32_t rank; /* 0: has the ordinal; 1: COPY data of it */
    uint32_t block;
    uint32_t row;
    uint32_t outcome_block; /* UINT32_MAX: none */
    uint32_t outcome_row;
};

struct keys {
    struct key items[KEYS_MAX];
    uint32_t count;
    uint32_t max;
};

void rh_session_cursor_init(struct rh_session_cursor *c, uint32_t session_index)
{
    *c = (struct rh_session_cursor){.session_index = session_index, .after_ordinal = UINT64_MAX};
}

static bool comes_before(const struct key *a, const struct key *b)
{
    if (a->ordinal != b->ordinal) {
        return a->ordinal < b->ordinal;
    }
    if (a->rank != b->rank) {
        return a->rank < b->rank;
    }
    if (a->start_ns != b->start_ns) {
        return a->start_ns < b->start_ns;
    }
    return a->block != b->block ? a->block < b->block : a->row < b->row;
}

static bool was_read(const struct rh_session_cursor *c, const struct key *key)
{
    if (key->ordinal != c->next_ordinal || key->ordinal != c->after_ordinal) {
        return key->ordinal < c->next_ordinal;
    }
    struct key last = {c->next_ordinal,
                       c->after_start_ns,
                       c->after_rank,
                       c->after_block,
                       c->after_row,
                       UINT32_MAX,
                       0};
    return !comes_before(&last, key);
}

/* Into its place; the last one goes when there are too many. */
static void insert_key(struct keys *keys, const struct key *key)
{
    uint32_t i = keys->count < keys->max ? keys->count++ : keys->max - 1;
    while (i > 0 && comes_before(key, &keys->items[i - 1])) {
        keys->items[i] = keys->items[i - 1];
        i--;
    }
    keys->items[i] = *key;
}

static bool is_wanted(const struct keys *keys, uint64_t ordinal)
{
    return keys->count < keys->max || ordinal <= keys->items[keys->count - 1].ordinal;
}

/* The session's first row with at least that ordinal. */
static uint32_t find_row(const struct rh_trace_block *b, const struct rh_block_session *s,
                         uint64_t ordinal)
{
    uint32_t low = s->first_row;
    uint32_t high = s->first_row + s->row_count;
    while (!s->unordered && low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (b->ordinals[middle] < ordinal) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low;
}

/* Where the session's rows begin and end that may be at or after the ordinal. */
static const struct rh_block_session *find_session(struct rh_block_cache *cache,
                                                   const struct rh_session_cursor *c,
                                                   const struct rh_trace_block *b)
{
    const struct rh_session *s =
        rh_trace_index_session(rh_block_cache_index(cache), c->session_index);
    return rh_block_state_session(&b->state, s->number, s->copy);
}

static int gather(struct keys *keys, const struct rh_session_cursor *c,
                  struct rh_block_cache *cache, const struct rh_session_block *from,
                  struct rh_error *err)
{
    int result;
    const struct rh_trace_block *b = rh_block_cache_get(cache, from->block, &result, err);
    if (!b) {
        return result;
    }
    const struct rh_block_session *s = find_session(cache, c, b);
    if (!s) {
        return 0;
    }
    for (uint32_t row = find_row(b, s, c->next_ordinal); row < s->first_row + s->row_count; row++) {
        enum rh_kind kind = rh_trace_block_kind(b, row);
        uint64_t ordinal = b->ordinals[row];
        bool counts = rh_kind_has_ordinal(kind) || kind == RH_KIND_COPY_DATA;
        if (!is_wanted(keys, ordinal) && !s->unordered) {
            break;
        }
        struct key key = {
            ordinal, b->start_ns[row], kind == RH_KIND_COPY_DATA, from->block, row, UINT32_MAX, 0};
        if (counts && !was_read(c, &key) &&
            (keys->count < keys->max || comes_before(&key, &keys->items[keys->count - 1]))) {
            insert_key(keys, &key);
        }
    }
    return 0;
}

static int gather_all(struct keys *keys, const struct rh_session_cursor *c,
                      struct rh_block_cache *cache, const struct rh_session_blocks *blocks,
                      struct rh_error *err)
{
    uint32_t low = 0;
    uint32_t high = blocks->ordinary_count;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (blocks->ordinary[middle].last_ordinal < c->next_ordinal) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    for (uint32_t i = low; i < blocks->ordinary_count; i++) {
        if (!is_wanted(keys, blocks->ordinary[i].first_ordinal)) {
            break;
        }
        if (gather(keys, c, cache, &blocks->ordinary[i], err) < 0) {
            return -1;
        }
    }
    for (uint32_t i = 0; i < blocks->late_count; i++) {
        const struct rh_session_block *late = &blocks->late[i];
        if (late->last_ordinal >= c->next_ordinal && is_wanted(keys, late->first_ordinal) &&
            gather(keys, c, cache, late, err) < 0) {
            return -1;
        }
    }
    return 0;
}

static void join_outcome(struct keys *keys, uint64_t ordinal, uint32_t block, uint32_t row)
{
    for (uint32_t i = 0; i < keys->count; i++) {
        if (keys->items[i].ordinal == ordinal && keys->items[i].rank == 0) {
            keys->items[i].outcome_block = block;
            keys->items[i].outcome_row = row;
            return;
        }
    }
}

/* Outcomes that were written after their statements. */
static int gather_outcomes(struct keys *keys, const struct rh_session_cursor *c,
                           struct rh_block_cache *cache, const struct rh_session_blocks *blocks,
                           struct rh_error *err)
{
    const struct rh_trace_file *file = rh_trace_index_file(rh_block_cache_index(cache));
    for (uint32_t i = 0; keys->count > 0 && i < blocks->late_count; i++) {
        const struct rh_session_block *late = &blocks->late[i];
        uint64_t last = keys->items[keys->count - 1].ordinal;
        if (!(rh_trace_file_block(file, late->block)->flags & RH_BLOCK_OUTCOMES) ||
            late->first_ordinal > last || late->last_ordinal < keys->items[0].ordinal) {
            continue;
        }
        int result;
        const struct rh_trace_block *b = rh_block_cache_get(cache, late->block, &result, err);
        if (result < 0) {
            return -1;
        }
        const struct rh_block_session *s = b ? find_session(cache, c, b) : NULL;
        for (uint32_t row = s ? find_row(b, s, keys->items[0].ordinal) : 0;
             s && row < s->first_row + s->row_count; row++) {
            if (rh_trace_block_kind(b, row) == RH_KIND_OUTCOME) {
                join_outcome(keys, b->ordinals[row], late->block, row);
            }
        }
    }
    return 0;
}

/* 1: copied; 0: its block is damaged; -1. */
static int copy_row(const struct key *key, struct rh_block_cache *cache, struct rh_record *to,
                    struct rh_arena *arena, struct rh_error *err)
{
    int result;
    struct rh_record record;
    const struct rh_trace_block *b = rh_block_cache_get(cache, key->block, &result, err);
    if (!b) {
        return result;
    }
    rh_trace_block_record(b, key->row, &record);
    rh_record_copy(to, &record, arena);
    if (key->outcome_block == UINT32_MAX) {
        return 1;
    }
    b = rh_block_cache_get(cache, key->outcome_block, &result, err);
    if (b) {
        rh_trace_block_outcome(b, key->outcome_row, &to->outcome);
        to->outcome.tag = rh_arena_copy(arena, to->outcome.tag);
    }
    return result < 0 ? -1 : 1;
}

/* Behind keys 0..done. */
static void move_on(struct rh_session_cursor *c, const struct keys *keys, uint32_t done)
{
    const struct key *last = &keys->items[done - 1];
    bool within = done < keys->count && keys->items[done].ordinal == last->ordinal;
    c->next_ordinal = last->ordinal + !within;
    c->after_ordinal = within ? last->ordinal : UINT64_MAX;
    c->after_rank = last->rank;
    c->after_start_ns = last->start_ns;
    c->after_block = last->block;
    c->after_row = last->row;
}

/* One batch: *done says how many rows it went on, which is more than the records that it gives when
 * a block turns out to be damaged. */
static int read_batch(struct rh_session_cursor *c, struct rh_block_cache *cache,
                      struct rh_record *records, uint32_t max_records, size_t max_bytes,
                      struct rh_arena *arena, uint32_t *done, struct rh_error *err)
{
    struct rh_session_blocks blocks =
        rh_trace_index_blocks(rh_block_cache_index(cache), c->session_index);
    struct keys keys;
    keys.count = 0;
    keys.max = max_records + 1;
    *done = 0;
    if (gather_all(&keys, c, cache, &blocks, err) != 0 ||
        gather_outcomes(&keys, c, cache, &blocks, err) != 0) {
        return -1;
    }
    size_t used = arena->used_bytes;
    int count = 0;
    while (*done < keys.count && *done < max_records &&
           (count == 0 || arena->used_bytes - used < max_bytes)) {
        int result = copy_row(&keys.items[(*done)++], cache, &records[count], arena, err);
        if (result < 0) {
            return -1;
        }
        count += result;
    }
    if (*done > 0) {
        move_on(c, &keys, *done);
    }
    return count;
}

int rh_session_cursor_read(struct rh_session_cursor *c, struct rh_block_cache *cache,
                           struct rh_record *records, int max_records, size_t max_bytes,
                           struct rh_arena *arena, struct rh_error *err)
{
    uint32_t max = (uint32_t) (max_records < BATCH_MAX ? max_records : BATCH_MAX);
    uint32_t done = 0;
    int count = 0;
    if (max_records <= 0) {
        return 0;
    }
    do {
        count = read_batch(c, cache, records, max, max_bytes, arena, &done, err);
    } while (count == 0 && done > 0);
    return count;
}

static void fill_state(struct rh_session_state *state, const struct rh_block_state *st,
                       const struct rh_block_session *s)
{
    rh_session_state_clear(state);
    if (!s || s->list == RH_NO_LIST) {
        return;
    }
    const struct rh_block_list *list = &st->lists[s->list];
    for (uint32_t i = 0; i < list->item_count; i++) {
        const struct rh_block_item *item = &st->items[list->first_item + i];
        rh_session_state_put_typed(state, item->kind, item->name, item->text, item->types);
    }
    state->incomplete |= list->incomplete;
}

/* What a cursor is to move to: the first record that starts then or later, and has that ordinal or
 * a later one. */
struct goal {
    int64_t from_ns;
    uint64_t ordinal;
};

static bool begins_behind(const struct rh_trace_index *index, const struct rh_session_block *at,
                          const struct goal *goal)
{
    if (goal->ordinal > 0) {
        return at->first_ordinal > goal->ordinal;
    }
    return rh_trace_file_block(rh_trace_index_file(index), at->block)->min_ns > goal->from_ns;
}

/* The last ordinary block that begins before the goal and can be read: its first ordinal, and the
 * state before it. */
static int find_base(struct rh_session_cursor *c, struct rh_block_cache *cache,
                     const struct goal *goal, struct rh_session_state *state, struct rh_error *err)
{
    const struct rh_trace_index *index = rh_block_cache_index(cache);
    struct rh_session_blocks blocks = rh_trace_index_blocks(index, c->session_index);
    bool passed_damage = false;
    for (uint32_t i = blocks.ordinary_count; i > 0; i--) {
        const struct rh_session_block *at = &blocks.ordinary[i - 1];
        if (i > 1 && begins_behind(index, at, goal)) {
            continue;
        }
        int result;
        const struct rh_trace_block *b = rh_block_cache_get(cache, at->block, &result, err);
        if (result < 0) {
            return -1;
        }
        if (b) {
            fill_state(state, &b->state, find_session(cache, c, b));
            c->next_ordinal = at->first_ordinal;
            break;
        }
        passed_damage = true;
    }
    state->incomplete |= passed_damage;
    return 0;
}

static int seek(struct rh_session_cursor *c, struct rh_block_cache *cache, const struct goal *goal,
                struct rh_session_state *state, struct rh_error *err)
{
    struct rh_session_state scratch;
    struct rh_record records[SEEK_BATCH];
    struct rh_arena arena;
    int n;
    memset(records, 0, sizeof records);
    rh_session_state_init(&scratch);
    rh_arena_init(&arena, SEEK_BYTES / 4);
    struct rh_session_state *s = state ? state : &scratch;
    rh_session_state_clear(s);
    rh_session_cursor_init(c, c->session_index);
    bool is_start = goal->from_ns == INT64_MIN && goal->ordinal == 0;
    int result = is_start ? 0 : find_base(c, cache, goal, s, err);
    bool found = result != 0 || is_start;
    while (!found) {
        rh_arena_clear(&arena);
        n = rh_session_cursor_read(c, cache, records, SEEK_BATCH, SEEK_BYTES, &arena, err);
        result = n < 0 ? -1 : 0;
        found = n <= 0;
        for (int i = 0; i < n && !found; i++) {
            if (records[i].start_ns >= goal->from_ns && records[i].ordinal >= goal->ordinal &&
                rh_kind_has_ordinal(records[i].kind)) {
                c->next_ordinal = records[i].ordinal;
                c->after_ordinal = UINT64_MAX;
                found = true;
            } else {
                rh_session_state_apply(s, &records[i]);
            }
        }
    }
    rh_session_state_release(&scratch);
    rh_arena_release(&arena);
    return result;
}

int rh_session_cursor_seek(struct rh_session_cursor *c, struct rh_block_cache *cache,
                           int64_t from_ns, struct rh_session_state *state, struct rh_error *err)
{
    return seek(c, cache, &(struct goal){.from_ns = from_ns}, state, err);
}

int rh_session_cursor_seek_ordinal(struct rh_session_cursor *c, struct rh_block_cache *cache,
                                   uint64_t ordinal, struct rh_session_state *state,
                                   struct rh_error *err)
{
    return seek(c, cache, &(struct goal){.from_ns = INT64_MIN, .ordinal = ordinal}, state, err);
}
