#include "formats/trace_index.h"

#include <stdlib.h>

#include "common/alloc.h"
#include "common/map.h"
#include "formats/session_blocks.h"
#include "formats/trace_block_state.h"
#include "formats/trace_file_private.h"

struct index_session {
    struct rh_session s;
    uint64_t cursor_rows;
    int64_t first_ns;
    int64_t last_ns;
    uint64_t last_ordinal; /* of its ordinary blocks so far */
    uint32_t first_block;  /* in `blocks` */
    uint32_t ordinary_count;
    uint32_t late_count;
};

/* One of a session's blocks, while the index is made. */
struct found_block {
    struct rh_session_block block;
    struct index_session *session;
    bool is_late;
};

struct rh_trace_index {
    struct rh_trace_file *file;
    struct rh_arena arena;
    struct rh_intern texts;
    struct rh_map by_key; /* number and copy to session */
    struct index_session **sessions;
    uint32_t count;
    uint32_t cap;
    struct rh_session_block *blocks;
    struct found_block *found;
    size_t found_count;
    size_t found_cap;
    uint32_t damaged;
    uint64_t damaged_records;
};

enum { INDEX_CHUNK_BYTES = 64 * 1024 };

static struct rh_span keep_text(struct rh_trace_index *x, struct rh_span old, struct rh_span text)
{
    if (!text.data || rh_span_equal(old, text)) {
        return old;
    }
    /* The call may move the items: it comes before the look at them. */
    uint32_t id = rh_intern_put(&x->texts, text, NULL);
    return x->texts.items[id];
}

static void keep_startup(struct rh_trace_index *x, struct rh_session *to,
                         const struct rh_session *from)
{
    if (to->startup_count == from->startup_count) {
        return;
    }
    struct rh_setting *startup = rh_arena_alloc(&x->arena, from->startup_count * sizeof *startup);
    for (uint32_t i = 0; i < from->startup_count; i++) {
        startup[i].name = keep_text(x, RH_SPAN_NONE, from->startup[i].name);
        startup[i].value = keep_text(x, RH_SPAN_NONE, from->startup[i].value);
    }
    to->startup = startup;
    to->startup_count = from->startup_count;
}

static struct index_session *find_session(struct rh_trace_index *x, const struct rh_session *s)
{
    uint64_t key = (uint64_t) s->copy << 32 | s->number;
    struct index_session *found = rh_map_get(&x->by_key, key);
    if (!found) {
        found = rh_arena_alloc(&x->arena, sizeof *found);
        *found = (struct index_session){.first_ns = RH_TIME_UNKNOWN, .last_ns = RH_TIME_UNKNOWN};
        found->s.number = s->number;
        found->s.copy = s->copy;
        found->s.opened_ns = RH_TIME_UNKNOWN;
        found->s.closed_ns = RH_TIME_UNKNOWN;
        rh_map_put(&x->by_key, key, found);
        RH_GROW(x->sessions, x->count, x->cap); /* NOLINT(bugprone-sizeof-expression) */
        x->sessions[x->count++] = found;
    }
    return found;
}

/* The last block knows best, and what it does not know stays. */
static void merge_session(struct rh_trace_index *x, struct index_session *to,
                          const struct rh_block_session *from)
{
    struct rh_session *s = &to->s;
    s->user = keep_text(x, s->user, from->s.user);
    s->database = keep_text(x, s->database, from->s.database);
    s->application = keep_text(x, s->application, from->s.application);
    s->client = keep_text(x, s->client, from->s.client);
    s->opened_ns = from->s.opened_ns == RH_TIME_UNKNOWN ? s->opened_ns : from->s.opened_ns;
    s->closed_ns = from->s.closed_ns == RH_TIME_UNKNOWN ? s->closed_ns : from->s.closed_ns;
    s->backend_pid = from->s.backend_pid ? from->s.backend_pid : s->backend_pid;
    s->flags = from->s.flags;
    keep_startup(x, s, &from->s);
    to->cursor_rows += from->cursor_rows;
    if (from->timed_first_ns != RH_TIME_UNKNOWN) {
        if (to->first_ns == RH_TIME_UNKNOWN || from->timed_first_ns < to->first_ns) {
            to->first_ns = from->timed_first_ns;
        }
        to->last_ns = from->timed_last_ns > to->last_ns ? from->timed_last_ns : to->last_ns;
    }
}

static void add_block(struct rh_trace_index *x, uint32_t block, bool is_late,
                      const struct rh_block_state *st)
{
    for (uint32_t i = 0; i < st->session_count; i++) {
        const struct rh_block_session *from = &st->sessions[i];
        if (from->s.number == 0) {
            continue;
        }
        struct index_session *s = find_session(x, &from->s);
        merge_session(x, s, from);
        if (from->row_count == 0) {
            continue;
        }
        /* Ordinary blocks are searched by halves, so what does not ascend counts as late. */
        bool late = is_late || (s->ordinary_count > 0 && from->first_ordinal < s->last_ordinal);
        if (!late) {
            s->last_ordinal = from->last_ordinal;
        }
        s->ordinary_count += !late;
        s->late_count += late;
        RH_GROW(x->found, x->found_count, x->found_cap);
        x->found[x->found_count++] = (struct found_block){
            {block, from->row_count, from->first_ordinal, from->last_ordinal}, s, late};
    }
}

static int load_state(struct rh_block_loader *l, const struct rh_trace_file *file, uint32_t block,
                      unsigned want, struct rh_arena *arena, struct rh_block_state *st,
                      struct rh_error *err)
{
    struct rh_block_bytes bytes;
    int result = rh_block_loader_load(l, file, block, want, arena, &bytes, err);
    if (result == 1) {
        result = rh_block_state_decode_sessions(st, bytes.state, bytes.blobs, bytes.frame.min,
                                                rh_trace_file_unit_ns(file), arena) == 0;
    }
    return result;
}

static int read_blocks(struct rh_trace_index *x, struct rh_error *err)
{
    struct rh_block_loader loader;
    struct rh_arena arena;
    int result = 1;
    rh_block_loader_init(&loader);
    rh_arena_init(&arena, INDEX_CHUNK_BYTES);
    for (uint32_t i = 0; result >= 0 && i < rh_trace_file_block_count(x->file); i++) {
        const struct rh_block_info *info = rh_trace_file_block(x->file, i);
        struct rh_block_state st;
        rh_arena_clear(&arena);
        result = load_state(&loader, x->file, i, RH_WANT_STATE, &arena, &st, err);
        if (result == 0 && info->blob_bytes > 0) {
            /* Very long strings may be among the blobs. */
            rh_arena_clear(&arena);
            result = load_state(&loader, x->file, i, RH_WANT_BLOBS, &arena, &st, err);
        }
        if (result == 1) {
            add_block(x, i, info->flags & RH_BLOCK_LATE, &st);
        } else if (result == 0) {
            x->damaged++;
            x->damaged_records += info->record_count;
        }
    }
    rh_block_loader_release(&loader);
    rh_arena_release(&arena);
    return result < 0 ? -1 : 0;
}

static int compare_sessions(const void *a, const void *b)
{
    const struct rh_session *x = &(*(struct index_session *const *) a)->s;
    const struct rh_session *y = &(*(struct index_session *const *) b)->s;
    if (x->number != y->number) {
        return x->number < y->number ? -1 : 1;
    }
    return x->copy < y->copy ? -1 : x->copy > y->copy;
}

/* From the order of the file to that of the sessions, ordinary blocks before late ones. */
static void place_blocks(struct rh_trace_index *x)
{
    x->blocks = rh_calloc(x->found_count, sizeof *x->blocks);
    uint32_t place = 0;
    for (uint32_t i = 0; i < x->count; i++) {
        struct index_session *s = x->sessions[i];
        s->first_block = place;
        place += s->ordinary_count + s->late_count;
        s->ordinary_count = 0;
    }
    /* Late ones after the ordinary ones, which are counted anew in a first round. */
    for (int round = 0; round < 2; round++) {
        for (size_t k = 0; k < x->found_count; k++) {
            struct found_block *f = &x->found[k];
            if (f->is_late != (round == 1)) {
                continue;
            }
            uint32_t *count = round == 0 ? &f->session->ordinary_count : &f->session->late_count;
            if (round == 1 && f->session->last_ordinal != UINT64_MAX) {
                f->session->last_ordinal = UINT64_MAX;
                *count = 0;
            }
            uint32_t first = f->session->first_block + (round ? f->session->ordinary_count : 0);
            x->blocks[first + (*count)++] = f->block;
        }
    }
    rh_free(x->found);
    x->found = NULL;
}

int rh_trace_index_new(struct rh_trace_index **out, struct rh_trace_file *file,
                       struct rh_error *err)
{
    struct rh_trace_index *x = rh_calloc(1, sizeof *x);
    x->file = file;
    rh_arena_init(&x->arena, INDEX_CHUNK_BYTES);
    rh_intern_init(&x->texts);
    rh_map_init(&x->by_key);
    if (read_blocks(x, err) != 0) {
        rh_trace_index_free(x);
        return -1;
    }
    if (x->count > 1) {
        qsort(x->sessions, x->count, sizeof(void *), compare_sessions);
    }
    place_blocks(x);
    *out = x;
    return 0;
}

void rh_trace_index_free(struct rh_trace_index *x)
{
    if (!x) {
        return;
    }
    rh_arena_release(&x->arena);
    rh_intern_release(&x->texts);
    rh_map_release(&x->by_key);
    rh_free(x->sessions);
    rh_free(x->blocks);
    rh_free(x->found);
    rh_free(x);
}

uint32_t rh_trace_index_session_count(const struct rh_trace_index *x)
{
    return x->count;
}

const struct rh_session *rh_trace_index_session(const struct rh_trace_index *x, uint32_t i)
{
    return &x->sessions[i]->s;
}

uint64_t rh_trace_index_record_count(const struct rh_trace_index *x, uint32_t i)
{
    return x->sessions[i]->cursor_rows;
}

int64_t rh_trace_index_first_ns(const struct rh_trace_index *x, uint32_t i)
{
    return x->sessions[i]->first_ns;
}

int64_t rh_trace_index_last_ns(const struct rh_trace_index *x, uint32_t i)
{
    return x->sessions[i]->last_ns;
}

uint32_t rh_trace_index_damaged(const struct rh_trace_index *x, uint64_t *records)
{
    if (records) {
        *records = x->damaged_records;
    }
    return x->damaged;
}

const struct rh_trace_file *rh_trace_index_file(const struct rh_trace_index *x)
{
    return x->file;
}

struct rh_session_blocks rh_trace_index_blocks(const struct rh_trace_index *x, uint32_t i)
{
    const struct index_session *s = x->sessions[i];
    const struct rh_session_block *first = x->blocks + s->first_block;
    return (struct rh_session_blocks){first, s->ordinary_count, first + s->ordinary_count,
                                      s->late_count};
}
