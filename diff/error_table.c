#include "diff/error_table.h"

#include <string.h>

#include "common/alloc.h"
#include "common/sql_template.h"

enum {
    TEXT_BYTES_MAX = 32 * 1024 * 1024,
    FAILED_SESSIONS_MAX = 65536,
};

static void add_item(struct rh_error_table *t, uint32_t query, uint32_t sqlstate)
{
    RH_GROW(t->items, t->count, t->cap);
    t->items[t->count++] = (struct rh_error_group){.query = query, .sqlstate = sqlstate};
}

void rh_error_table_init(struct rh_error_table *t, uint32_t count_max)
{
    *t = (struct rh_error_table){.count_max = count_max ? count_max : RH_ERROR_COUNT_DEFAULT};
    rh_index_map_init(&t->by_key);
    rh_index_map_init(&t->failed[RH_BASE]);
    rh_index_map_init(&t->failed[RH_CANDIDATE]);
    add_item(t, 0, RH_SQLSTATE_UNKNOWN); /* RH_ERROR_OTHER */
}

void rh_error_table_release(struct rh_error_table *t)
{
    for (uint32_t i = 0; i < t->count; i++) {
        rh_free(t->items[i].example[RH_BASE].text);
        rh_free(t->items[i].example[RH_CANDIDATE].text);
    }
    rh_free(t->items);
    rh_index_map_release(&t->by_key);
    rh_index_map_release(&t->failed[RH_BASE]);
    rh_index_map_release(&t->failed[RH_CANDIDATE]);
    *t = (struct rh_error_table){0};
}

uint32_t rh_error_table_put(struct rh_error_table *t, uint32_t query, uint32_t sqlstate)
{
    uint64_t key = (uint64_t) query << 32 | sqlstate;
    uint32_t known = rh_index_map_get(&t->by_key, key);
    if (known) {
        return known;
    }
    if (t->count > t->count_max) {
        return RH_ERROR_OTHER;
    }
    add_item(t, query, sqlstate);
    uint32_t index = t->count - 1;
    rh_index_map_put(&t->by_key, key, index);
    return index;
}

static void append(char *text, uint32_t *len, uint32_t max, struct rh_span s, bool *cut)
{
    size_t n = s.len;
    if (n > max - *len) {
        n = max - *len;
        *cut = true;
    }
    if (n) {
        memcpy(text + *len, s.data, n);
    }
    *len += (uint32_t) n;
}

/* Unlike rh_record_text() it never handles more than max bytes of a text of any length. */
uint32_t rh_record_text_head(const struct rh_record *r, char *text, uint32_t max, bool *cut)
{
    uint32_t len = 0;
    uint32_t used = 0;

    *cut = false;
    if (!r->tmpl.data) {
        append(text, &len, max, r->text, cut);
    }
    for (size_t i = 0; r->tmpl.data && i < r->tmpl.len && !*cut; i++) {
        char c = r->tmpl.data[i];
        if (c != RH_TEMPLATE_CONSTANT && c != RH_TEMPLATE_COMMENT) {
            append(text, &len, max, rh_span(&c, 1), cut);
        } else if (used < r->literal_count && r->literals) {
            append(text, &len, max, r->literals[used++], cut);
        }
    }
    while (*cut && len > 0 && ((unsigned char) text[len - 1] & 0xc0) == 0x80) {
        len--; /* a torn UTF-8 character */
    }
    if (*cut && len > 0 && (unsigned char) text[len - 1] >= 0xc0) {
        len--;
    }
    return len;
}

static void note_example(struct rh_error_table *t, struct rh_error_example *e,
                         const struct rh_observation *o, const struct rh_record *r)
{
    char text[RH_ERROR_TEXT_MAX];

    if (e->known && !rh_statement_ref_before(&o->ref, &e->ref)) {
        return;
    }
    t->text_bytes -= e->text_len;
    rh_free(e->text);
    *e = (struct rh_error_example){.known = true, .ref = o->ref};
    uint32_t len = rh_record_text_head(r, text, sizeof text, &e->text_cut);
    if (t->text_bytes + len <= TEXT_BYTES_MAX) {
        e->text = rh_memdup(text, len);
        e->text_len = len;
        t->text_bytes += len;
    }
}

/* In a failed transaction only the first failure is a cause: until its end all that the server
 * answers is 25P02, and the first success is that end (or the way back to a savepoint). */
static uint32_t follow_failure(struct rh_error_table *t, enum rh_side side,
                               const struct rh_observation *o, uint32_t group)
{
    struct rh_index_map *failed = &t->failed[side];
    uint64_t session = (uint64_t) o->ref.copy << 32 | o->ref.session;

    if (o->status == RH_OBSERVED_OK) {
        if (rh_index_map_get(failed, session)) {
            rh_index_map_put(failed, session, 0);
        }
        return 0;
    }
    if (o->status != RH_OBSERVED_ERROR) {
        return 0;
    }
    if (o->sqlstate == rh_sqlstate_pack(RH_SPAN_LITERAL("25P02"))) {
        return rh_index_map_get(failed, session);
    }
    if (failed->count >= FAILED_SESSIONS_MAX) {
        /* Most of these sessions have ended without another word. */
        rh_index_map_clear(failed);
    }
    if (group != RH_ERROR_OTHER) {
        rh_index_map_put(failed, session, group);
    }
    return 0;
}

bool rh_error_table_needs_text(struct rh_error_table *t, enum rh_side side, uint32_t query,
                               const struct rh_observation *o)
{
    if (o->status != RH_OBSERVED_ERROR) {
        return false;
    }
    uint32_t index = rh_error_table_put(t, query, o->sqlstate);
    const struct rh_error_example *e = &t->items[index].example[side];
    return !e->known || rh_statement_ref_before(&o->ref, &e->ref);
}

void rh_error_table_observe(struct rh_error_table *t, enum rh_side side, uint32_t query,
                            const struct rh_observation *o, const struct rh_record *r)
{
    uint32_t index = RH_ERROR_OTHER;
    if (o->status == RH_OBSERVED_ERROR) {
        index = rh_error_table_put(t, query, o->sqlstate);
    }
    uint32_t cause = follow_failure(t, side, o, index);
    if (o->status != RH_OBSERVED_ERROR) {
        return;
    }
    struct rh_error_group *g = &t->items[index];
    g->counts[side]++;
    g->untyped[side] += o->untyped;
    if (cause) {
        g->follows[side]++;
        if (!g->cause) {
            g->cause = cause;
        }
    }
    note_example(t, &g->example[side], o, r);
}

void rh_error_table_clear_pairs(struct rh_error_table *t)
{
    for (uint32_t i = 0; i < t->count; i++) {
        t->items[i].broke = 0;
        t->items[i].fixed = 0;
    }
}
