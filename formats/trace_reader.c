#include "formats/trace_reader.h"

#include <stdlib.h>

#include "common/alloc.h"
#include "formats/trace_block.h"

/*
 * Ordinary blocks follow each other in time.  Before one is given, the rows of late blocks that lie
 * in its time are gathered, copied, and merged with it.  When there are more of them than fit, the
 * round ends earlier in time and the next one gathers again, so memory does not depend on how many
 * there are.
 */

enum {
    LATE_BLOCKS_CACHED = 4,
    LATE_ROWS_MAX = 16384,
    READER_CHUNK_BYTES = 256 * 1024,
};
static const size_t late_bytes_max = (size_t) 64 << 20;

/* A place in the order that records are given in. */
struct place {
    int64_t start_ns;
    uint32_t session;
    uint32_t copy;
    uint64_t ordinal;
    uint32_t rank; /* of the kind: openings, what has an ordinal, outcomes, the rest */
    uint32_t block;
    uint32_t row;
};

struct late_row {
    struct place place;
    uint32_t bytes;
    struct rh_record *record; /* a copy, as the session is */
    const struct rh_session *session;
};

struct cached_block {
    struct rh_trace_block block;
    bool used;
    uint64_t last_use;
};

struct rh_trace_reader {
    struct rh_trace_file *file;
    int64_t from_ns;
    int64_t to_ns;
    struct rh_block_loader loader;

    struct rh_trace_block block; /* the current ordinary one */
    bool has_block;
    uint32_t next_block;
    struct rh_start_order order;
    uint32_t next_row; /* in `order` */

    struct cached_block cache[LATE_BLOCKS_CACHED];
    uint64_t uses;
    uint32_t *late_blocks;
    uint32_t late_block_count;

    struct late_row *late; /* of this round, in order; outcomes are among them */
    uint32_t late_count;
    uint32_t late_cap;
    uint64_t late_bytes;
    uint32_t next_late;
    uint32_t next_outcome; /* no outcome before it is still wanted */
    struct rh_arena late_arena;
    struct place taken; /* late rows up to here were given */
    struct place until; /* this round ends here */
    bool round_is_last; /* of the current block */

    enum rh_trace_want want;
    uint32_t row; /* of `block`, that was given last; UINT32_MAX: it was a late one */
    const struct rh_session *session;
    uint64_t serial;
    uint8_t *bad; /* by block: it could not be decoded, and was counted */
    uint32_t damaged;
    uint64_t damaged_records;
};

static const struct place place_first = {.start_ns = INT64_MIN};
static const struct place place_last = {INT64_MAX,  UINT32_MAX, UINT32_MAX, UINT64_MAX,
                                        UINT32_MAX, UINT32_MAX, UINT32_MAX};

enum { RANK_OPEN, RANK_ORDINAL, RANK_OUTCOME, RANK_REST };

static uint32_t rank_of(enum rh_kind kind)
{
    if (kind == RH_KIND_OPEN) {
        return RANK_OPEN;
    }
    if (rh_kind_has_ordinal(kind)) {
        return RANK_ORDINAL;
    }
    return kind == RH_KIND_OUTCOME ? RANK_OUTCOME : RANK_REST;
}

static int compare_places(const struct place *a, const struct place *b)
{
    if (a->start_ns != b->start_ns) {
        return a->start_ns < b->start_ns ? -1 : 1;
    }
    if (a->session != b->session) {
        return a->session < b->session ? -1 : 1;
    }
    if (a->copy != b->copy) {
        return a->copy < b->copy ? -1 : 1;
    }
    if (a->ordinal != b->ordinal) {
        return a->ordinal < b->ordinal ? -1 : 1;
    }
    if (a->rank != b->rank) {
        return a->rank < b->rank ? -1 : 1;
    }
    if (a->block != b->block) {
        return a->block < b->block ? -1 : 1;
    }
    return a->row < b->row ? -1 : a->row > b->row;
}

static struct place place_of(const struct rh_trace_block *b, uint32_t row)
{
    const struct rh_session *s = &b->state.sessions[b->session_of[row]].s;
    return (struct place){
        .start_ns = b->start_ns[row],
        .session = s->number,
        .copy = s->copy,
        .ordinal = b->ordinals[row],
        .rank = rank_of(rh_trace_block_kind(b, row)),
        .block = b->index,
        .row = row,
    };
}

static bool is_late(const struct rh_block_info *info)
{
    return (info->flags & RH_BLOCK_LATE) != 0;
}

static bool overlaps(const struct rh_block_info *info, int64_t from_ns, int64_t to_ns)
{
    return info->record_count > 0 && info->max_ns >= from_ns && info->min_ns <= to_ns;
}

int rh_trace_reader_open(struct rh_trace_reader **out, struct rh_trace_file *file, int64_t from_ns,
                         int64_t to_ns, struct rh_error *err)
{
    (void) err;
    struct rh_trace_reader *r = rh_calloc(1, sizeof *r);
    uint32_t n = rh_trace_file_block_count(file);
    r->file = file;
    r->from_ns = from_ns;
    r->to_ns = to_ns;
    r->want = RH_WANT_EVERYTHING;
    r->taken = place_first;
    r->until = place_first;
    r->round_is_last = true;
    rh_block_loader_init(&r->loader);
    rh_trace_block_init(&r->block);
    rh_start_order_init(&r->order);
    rh_arena_init(&r->late_arena, READER_CHUNK_BYTES);
    for (unsigned i = 0; i < LATE_BLOCKS_CACHED; i++) {
        rh_trace_block_init(&r->cache[i].block);
    }
    r->bad = rh_calloc(n, 1);
    r->late_blocks = rh_calloc(n, sizeof *r->late_blocks);
    for (uint32_t i = 0; i < n; i++) {
        const struct rh_block_info *info = rh_trace_file_block(file, i);
        if (is_late(info) && overlaps(info, from_ns, to_ns)) {
            r->late_blocks[r->late_block_count++] = i;
        }
    }
    *out = r;
    return 0;
}

void rh_trace_reader_close(struct rh_trace_reader *r)
{
    if (!r) {
        return;
    }
    rh_block_loader_release(&r->loader);
    rh_trace_block_release(&r->block);
    rh_start_order_release(&r->order);
    rh_arena_release(&r->late_arena);
    for (unsigned i = 0; i < LATE_BLOCKS_CACHED; i++) {
        rh_trace_block_release(&r->cache[i].block);
    }
    rh_free(r->bad);
    rh_free(r->late_blocks);
    rh_free(r->late);
    rh_free(r);
}

static void count_damage(struct rh_trace_reader *r, uint32_t index)
{
    if (!r->bad[index]) {
        r->bad[index] = 1;
        r->damaged++;
        r->damaged_records += rh_trace_file_block(r->file, index)->record_count;
    }
}

/* A late block from the cache, or decoded into the place that was used least recently; NULL and
 * *result 0 (damaged) or -1. */
static const struct rh_trace_block *get_late_block(struct rh_trace_reader *r, uint32_t index,
                                                   int *result, struct rh_error *err)
{
    struct cached_block *place = &r->cache[0];
    *result = 0;
    if (r->bad[index]) {
        return NULL;
    }
    for (unsigned i = 0; i < LATE_BLOCKS_CACHED; i++) {
        struct cached_block *c = &r->cache[i];
        if (c->used && c->block.index == index) {
            c->last_use = ++r->uses;
            return &c->block;
        }
        if (place->used && (!c->used || c->last_use < place->last_use)) {
            place = c;
        }
    }
    place->used = false;
    *result = rh_trace_block_load(&place->block, &r->loader, r->file, index, true, err);
    if (*result != 1) {
        if (*result == 0) {
            count_damage(r, index);
        }
        return NULL;
    }
    place->used = true;
    place->last_use = ++r->uses;
    return &place->block;
}

static int compare_late(const void *a, const void *b)
{
    return compare_places(&((const struct late_row *) a)->place,
                          &((const struct late_row *) b)->place);
}

static void sort_late(struct rh_trace_reader *r)
{
    if (r->late_count > 1) {
        qsort(r->late, r->late_count, sizeof *r->late, compare_late);
    }
}

/* The same statement's record and outcome. */
static bool same_statement(const struct place *a, const struct place *b)
{
    return a->start_ns == b->start_ns && a->session == b->session && a->copy == b->copy &&
           a->ordinal == b->ordinal && a->rank <= RANK_OUTCOME && b->rank <= RANK_OUTCOME;
}

/* Behind this row and, if it is a statement, behind its outcome. */
static struct place place_behind(struct place p)
{
    if (p.rank <= RANK_OUTCOME) {
        p.rank = RANK_OUTCOME;
        p.block = UINT32_MAX;
        p.row = UINT32_MAX;
    }
    return p;
}

/* Too many: keep the earlier half, and end the round with it. */
static void shorten_round(struct rh_trace_reader *r)
{
    sort_late(r);
    uint32_t kept = (r->late_count + 1) / 2;
    while (kept < r->late_count && same_statement(&r->late[kept].place, &r->late[kept - 1].place)) {
        kept++;
    }
    if (kept == r->late_count) {
        return;
    }
    r->late_count = kept;
    r->late_bytes = 0;
    for (uint32_t i = 0; i < kept; i++) {
        r->late_bytes += r->late[i].bytes;
    }
    r->until = place_behind(r->late[kept - 1].place);
    r->round_is_last = false;
}

static bool round_is_full(const struct rh_trace_reader *r)
{
    return r->late_count >= LATE_ROWS_MAX || (r->late_bytes > late_bytes_max && r->late_count > 1);
}

/* About what a copy of the row takes. */
static uint32_t row_bytes(const struct rh_trace_block *b, uint32_t row)
{
    struct rh_record record;
    uint64_t bytes = sizeof record;
    rh_trace_block_record(b, row, &record);
    bytes += record.tmpl.len + record.detail.len + record.prepare_text.len + record.steps.len;
    for (uint32_t i = 0; i < record.literal_count; i++) {
        bytes += sizeof(struct rh_span) + record.literals[i].len;
    }
    for (uint32_t i = 0; i < record.param_count; i++) {
        bytes += sizeof(struct rh_param) + record.params[i].len;
    }
    return bytes > UINT32_MAX ? UINT32_MAX : (uint32_t) bytes;
}

/* The places of one late block's rows in this round. */
static void gather_block(struct rh_trace_reader *r, const struct rh_trace_block *b)
{
    for (uint32_t row = 0; row < b->row_count; row++) {
        int64_t start_ns = b->start_ns[row];
        if (start_ns < r->from_ns || start_ns >= r->to_ns || start_ns > r->until.start_ns ||
            start_ns < r->taken.start_ns) {
            continue;
        }
        struct place place = place_of(b, row);
        if (compare_places(&place, &r->taken) <= 0 || compare_places(&place, &r->until) > 0) {
            continue;
        }
        RH_GROW(r->late, r->late_count, r->late_cap);
        r->late[r->late_count++] = (struct late_row){place, row_bytes(b, row), NULL, NULL};
        r->late_bytes += r->late[r->late_count - 1].bytes;
        if (round_is_full(r)) {
            shorten_round(r);
        }
    }
}

/* The records of the places that stayed. */
static void copy_block(struct rh_trace_reader *r, const struct rh_trace_block *b)
{
    uint32_t last_session = UINT32_MAX;
    struct rh_session *session = NULL;
    for (uint32_t i = 0; i < r->late_count; i++) {
        struct late_row *late = &r->late[i];
        if (late->place.block != b->index) {
            continue;
        }
        struct rh_record record;
        rh_trace_block_record(b, late->place.row, &record);
        late->record = rh_arena_alloc(&r->late_arena, sizeof *late->record);
        rh_record_copy(late->record, &record, &r->late_arena);
        uint32_t k = b->session_of[late->place.row];
        if (k != last_session) {
            session = rh_arena_alloc(&r->late_arena, sizeof *session);
            rh_session_copy(session, &b->state.sessions[k].s, &r->late_arena);
            last_session = k;
        }
        late->session = session;
    }
}

typedef void block_visitor(struct rh_trace_reader *r, const struct rh_trace_block *b);

static int visit_late_blocks(struct rh_trace_reader *r, block_visitor *visit, struct rh_error *err)
{
    for (uint32_t i = 0; i < r->late_block_count; i++) {
        uint32_t index = r->late_blocks[i];
        if (!overlaps(rh_trace_file_block(r->file, index), r->taken.start_ns, r->until.start_ns)) {
            continue;
        }
        int result;
        const struct rh_trace_block *b = get_late_block(r, index, &result, err);
        if (result < 0) {
            return -1;
        }
        if (b) {
            visit(r, b);
        }
    }
    return 0;
}

/* A new round, up to `until`: the late rows after `taken`. */
static int gather_late(struct rh_trace_reader *r, struct place until, struct rh_error *err)
{
    r->until = until;
    r->round_is_last = true;
    r->late_count = 0;
    r->late_bytes = 0;
    r->next_late = 0;
    r->next_outcome = 0;
    rh_arena_clear(&r->late_arena);
    if (visit_late_blocks(r, gather_block, err) != 0) {
        return -1;
    }
    sort_late(r);
    if (r->late_count > 0 && visit_late_blocks(r, copy_block, err) != 0) {
        return -1;
    }
    /* A block that could be read a moment ago and cannot now: its rows are damaged. */
    uint32_t kept = 0;
    for (uint32_t i = 0; i < r->late_count; i++) {
        if (r->late[i].record) {
            r->late[kept++] = r->late[i];
        }
    }
    r->late_count = kept;
    return 0;
}

/* The next ordinary block that has something to give: 1, 0 none, -1. */
static int load_next_block(struct rh_trace_reader *r, struct rh_error *err)
{
    r->has_block = false;
    while (r->next_block < rh_trace_file_block_count(r->file)) {
        uint32_t index = r->next_block++;
        const struct rh_block_info *info = rh_trace_file_block(r->file, index);
        if (is_late(info) || !overlaps(info, r->from_ns, r->to_ns)) {
            continue;
        }
        int result = rh_trace_block_load(&r->block, &r->loader, r->file, index,
                                         r->want == RH_WANT_EVERYTHING, err);
        if (result < 0) {
            return -1;
        }
        if (result == 0) {
            count_damage(r, index);
            continue;
        }
        rh_start_order_make(&r->order, r->block.start_ns, r->block.row_count);
        r->next_row = 0;
        r->has_block = true;
        return 1;
    }
    return 0;
}

/* 1: there may be more to give; 0: the end; -1. */
static int next_round(struct rh_trace_reader *r, struct rh_error *err)
{
    bool at_end = r->round_is_last && compare_places(&r->until, &place_last) == 0;
    if (at_end) {
        return 0;
    }
    r->taken = r->until;
    if (r->round_is_last && load_next_block(r, err) < 0) {
        return -1;
    }
    struct place until = place_last;
    if (r->has_block && r->block.row_count > 0) {
        until = place_behind(place_of(&r->block, r->order.order[r->block.row_count - 1]));
        /* A file put together from pieces may go back in time; late rows then come a little late.
         */
        if (compare_places(&until, &r->taken) < 0) {
            until = r->taken;
        }
    }
    return gather_late(r, until, err) == 0 ? 1 : -1;
}

static bool row_in_window(const struct rh_trace_reader *r, int64_t start_ns)
{
    return start_ns >= r->from_ns && start_ns < r->to_ns;
}

/* An outcome that came late is given with its statement, never alone. */
static void join_outcome(struct rh_trace_reader *r, struct rh_record *record)
{
    if (!rh_kind_has_ordinal(record->kind)) {
        return;
    }
    struct place here = {.start_ns = record->start_ns,
                         .session = record->session,
                         .copy = record->copy,
                         .ordinal = record->ordinal,
                         .rank = RANK_OUTCOME};
    for (; r->next_outcome < r->late_count; r->next_outcome++) {
        const struct late_row *late = &r->late[r->next_outcome];
        if (late->place.rank == RANK_OUTCOME && same_statement(&late->place, &here)) {
            record->outcome = late->record->outcome;
            return;
        }
        if (compare_places(&late->place, &here) > 0) {
            return;
        }
    }
}

static bool take_late(struct rh_trace_reader *r, struct rh_record *record)
{
    const struct late_row *late = &r->late[r->next_late++];
    if (late->record->kind == RH_KIND_OUTCOME) {
        return false;
    }
    *record = *late->record;
    r->row = UINT32_MAX;
    r->session = record->session ? late->session : NULL;
    r->serial = late->place.block;
    return true;
}

static bool take_row(struct rh_trace_reader *r, struct rh_record *record)
{
    uint32_t row = r->order.order[r->next_row++];
    if (!row_in_window(r, r->block.start_ns[row]) ||
        rh_trace_block_kind(&r->block, row) == RH_KIND_OUTCOME) {
        return false;
    }
    rh_trace_block_record(&r->block, row, record);
    r->row = row;
    r->session = record->session ? &r->block.state.sessions[r->block.session_of[row]].s : NULL;
    r->serial = r->block.index;
    return true;
}

/* The next record of this round, if there is one. */
static bool next_in_round(struct rh_trace_reader *r, struct rh_record *record)
{
    for (;;) {
        bool has_late = r->next_late < r->late_count;
        bool has_row = r->has_block && r->next_row < r->block.row_count;
        if (has_row && (has_late || !r->round_is_last)) {
            struct place row = place_of(&r->block, r->order.order[r->next_row]);
            const struct place *limit = has_late ? &r->late[r->next_late].place : &r->until;
            int order = compare_places(&row, limit);
            has_row = has_late ? order < 0 : order <= 0;
        }
        if (!has_row && !has_late) {
            return false;
        }
        if (has_row ? take_row(r, record) : take_late(r, record)) {
            if (r->late_count > 0) {
                join_outcome(r, record);
            }
            return true;
        }
    }
}

int rh_trace_reader_next(struct rh_trace_reader *r, struct rh_record *record, struct rh_error *err)
{
    for (;;) {
        if (next_in_round(r, record)) {
            return 1;
        }
        int result = next_round(r, err);
        if (result != 1) {
            return result;
        }
    }
}

void rh_trace_reader_want(struct rh_trace_reader *r, enum rh_trace_want want)
{
    r->want = want;
}

bool rh_trace_reader_complete(struct rh_trace_reader *r, struct rh_record *record)
{
    if (r->row == UINT32_MAX || r->block.with_values) {
        return true;
    }
    if (rh_trace_block_decode_values(&r->block) != 0) {
        return false;
    }
    /* The outcome may have come from a late record. */
    struct rh_outcome outcome = record->outcome;
    rh_trace_block_record(&r->block, r->row, record);
    record->outcome = outcome;
    return true;
}

const struct rh_session *rh_trace_reader_session(struct rh_trace_reader *r)
{
    return r->session;
}

uint64_t rh_trace_reader_block_serial(const struct rh_trace_reader *r)
{
    return r->serial;
}

bool rh_trace_reader_block_is_damaged(const struct rh_trace_reader *r, uint32_t index)
{
    return r->bad[index] != 0;
}

uint32_t rh_trace_reader_damaged(const struct rh_trace_reader *r, uint64_t *records)
{
    if (records) {
        *records = r->damaged_records;
    }
    return r->damaged;
}
