#include "formats/session_state.h"

#include <string.h>
#include <xxhash.h>

#include "common/alloc.h"
#include "common/buf.h"
#include "common/sql_class.h"

enum { FOLDED_NAME_MAX = 1024 };

void rh_session_state_init(struct rh_session_state *s)
{
    *s = (struct rh_session_state){0};
}

void rh_session_state_clear(struct rh_session_state *s)
{
    for (uint32_t i = 0; i < s->count; i++) {
        rh_free((char *) s->items[i].name.data);
    }
    if (s->slots) {
        memset(s->slots, 0, s->slot_cap * sizeof *s->slots);
    }
    s->count = 0;
    s->bytes = 0;
    s->incomplete = false;
}

void rh_session_state_release(struct rh_session_state *s)
{
    rh_session_state_clear(s);
    rh_free(s->items);
    rh_free(s->slots);
    rh_session_state_init(s);
}

static uint64_t hash_key(enum rh_state_kind kind, struct rh_span name)
{
    return XXH3_64bits_withSeed(name.data, name.len, (XXH64_hash_t) kind);
}

/* The slot of the item, or the empty one where it would be. */
static uint32_t find_slot(const struct rh_session_state *s, enum rh_state_kind kind,
                          struct rh_span name, uint64_t hash)
{
    uint32_t mask = s->slot_cap - 1;
    uint32_t i = (uint32_t) hash & mask;
    while (s->slots[i]) {
        const struct rh_state_item *item = &s->items[s->slots[i] - 1];
        if (item->key_hash == hash && item->kind == kind && rh_span_equal(item->name, name)) {
            return i;
        }
        i = (i + 1) & mask;
    }
    return i;
}

static void fill_slots(struct rh_session_state *s)
{
    memset(s->slots, 0, s->slot_cap * sizeof *s->slots);
    uint32_t mask = s->slot_cap - 1;
    for (uint32_t k = 0; k < s->count; k++) {
        uint32_t i = (uint32_t) s->items[k].key_hash & mask;
        while (s->slots[i]) {
            i = (i + 1) & mask;
        }
        s->slots[i] = k + 1;
    }
}

static int64_t find_item(const struct rh_session_state *s, enum rh_state_kind kind,
                         struct rh_span name)
{
    if (s->count == 0) {
        return -1;
    }
    return (int64_t) s->slots[find_slot(s, kind, name, hash_key(kind, name))] - 1;
}

const struct rh_state_item *rh_session_state_find(const struct rh_session_state *s,
                                                  enum rh_state_kind kind, struct rh_span name)
{
    int64_t i = find_item(s, kind, name);
    return i < 0 ? NULL : &s->items[i];
}

/* Removals are rare (DEALLOCATE, RESET), so the order and the slots are simply made anew. */
static void remove_at(struct rh_session_state *s, uint32_t i)
{
    s->bytes -= s->items[i].name.len + s->items[i].text.len + s->items[i].types.len;
    rh_free((char *) s->items[i].name.data);
    memmove(&s->items[i], &s->items[i + 1], (s->count - i - 1) * sizeof *s->items);
    s->count--;
    fill_slots(s);
}

void rh_session_state_remove(struct rh_session_state *s, enum rh_state_kind kind,
                             struct rh_span name)
{
    int64_t i = find_item(s, kind, name);
    if (i >= 0) {
        remove_at(s, (uint32_t) i);
    }
}

static void make_room(struct rh_session_state *s)
{
    RH_GROW(s->items, s->count, s->cap);
    if ((s->count + 1) * 2 > s->slot_cap) {
        s->slot_cap = s->slot_cap ? s->slot_cap * 2 : 16;
        s->slots = rh_realloc(s->slots, s->slot_cap, sizeof *s->slots);
        fill_slots(s);
    }
}

/* With types both count. */
static uint64_t hash_text(struct rh_span text, struct rh_span types)
{
    uint64_t hash = XXH3_64bits(text.data, text.len);
    return types.len > 0 ? XXH3_64bits_withSeed(types.data, types.len, hash) : hash;
}

void rh_session_state_put(struct rh_session_state *s, enum rh_state_kind kind, struct rh_span name,
                          struct rh_span text)
{
    rh_session_state_put_typed(s, kind, name, text, RH_SPAN_NONE);
}

void rh_session_state_put_typed(struct rh_session_state *s, enum rh_state_kind kind,
                                struct rh_span name, struct rh_span text, struct rh_span types)
{
    uint64_t text_hash = hash_text(text, types);
    int64_t old = find_item(s, kind, name);
    if (old >= 0) {
        struct rh_state_item *item = &s->items[old];
        bool same = item->text_hash == text_hash && rh_span_equal(item->text, text) &&
                    rh_span_equal(item->types, types);
        if (same && (kind != RH_STATE_SETTING || (uint32_t) old == s->count - 1)) {
            return;
        }
        remove_at(s, (uint32_t) old);
    }
    if (s->count >= RH_STATE_ITEMS_MAX || name.len > RH_STATE_BYTES_MAX - s->bytes ||
        text.len > RH_STATE_BYTES_MAX - s->bytes - name.len ||
        types.len > RH_STATE_BYTES_MAX - s->bytes - name.len - text.len) {
        s->incomplete = true;
        return;
    }
    make_room(s);
    char *copy = rh_malloc(name.len + text.len + types.len + 2);
    memcpy(copy, name.data, name.len);
    copy[name.len] = '\0';
    char *text_copy = copy + name.len + 1;
    memcpy(text_copy, text.data, text.len);
    text_copy[text.len] = '\0';
    char *types_copy = text_copy + text.len + 1;
    if (types.len > 0) {
        memcpy(types_copy, types.data, types.len);
    }
    uint64_t hash = hash_key(kind, name);
    s->slots[find_slot(s, kind, name, hash)] = s->count + 1;
    s->items[s->count++] = (struct rh_state_item){
        .kind = kind,
        .name = rh_span(copy, name.len),
        .text = rh_span(text_copy, text.len),
        .types = types.len > 0 ? rh_span(types_copy, types.len) : RH_SPAN_NONE,
        .key_hash = hash,
        .text_hash = text_hash,
    };
    s->bytes += name.len + text.len + types.len;
}

static void remove_kind(struct rh_session_state *s, bool settings)
{
    for (uint32_t i = s->count; i > 0; i--) {
        const struct rh_state_item *item = &s->items[i - 1];
        bool is_setting = item->kind == RH_STATE_SETTING;
        /* RESET ALL leaves the role and the session's user (guc.c, GUC_NO_RESET_ALL). */
        bool stays = settings && (rh_span_is(item->name, "role") ||
                                  rh_span_is(item->name, "session_authorization"));
        if (is_setting == settings && !stays) {
            remove_at(s, i - 1);
        }
    }
}

static void lower(struct rh_span name, struct rh_buf *out)
{
    rh_buf_clear(out);
    for (size_t i = 0; i < name.len; i++) {
        char c = name.data[i];
        rh_buf_add_byte(out, (uint8_t) (c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c));
    }
}

/* "SET LOCAL ROLE x" ends with its transaction. */
static void apply_session_auth(struct rh_session_state *s, struct rh_span command)
{
    struct rh_sql_scan scan;
    struct rh_sql_token token;
    const char *name = "role";
    rh_sql_scan_init(&scan, command, false);
    while ((token = rh_sql_scan_next(&scan)).kind != RH_SQL_END) {
        struct rh_span word = rh_span(command.data + token.start, token.len);
        if (token.kind == RH_SQL_WORD && rh_span_is_nocase(word, "local")) {
            return;
        }
        if (token.kind == RH_SQL_WORD && rh_span_is_nocase(word, "authorization")) {
            name = "session_authorization";
        }
        if (token.kind == RH_SQL_STRING || token.kind == RH_SQL_QUOTED_WORD) {
            break;
        }
    }
    rh_session_state_put(s, RH_STATE_SETTING, rh_span_cstr(name), command);
}

static void apply_deallocate(struct rh_session_state *s, struct rh_span name)
{
    rh_session_state_remove(s, RH_STATE_PREPARE, name);
    rh_session_state_remove(s, RH_STATE_STATEMENT, name);
}

static void apply_command(struct rh_session_state *s, const struct rh_sql_command *command,
                          struct rh_buf *name)
{
    switch (command->klass) {
    case RH_SQL_CLASS_SET:
        lower(command->name, name);
        rh_session_state_put(s, RH_STATE_SETTING, rh_buf_span(name), command->text);
        break;
    case RH_SQL_CLASS_SET_ENCODING:
        rh_session_state_put(s, RH_STATE_SETTING, rh_span_cstr("client_encoding"), command->text);
        break;
    case RH_SQL_CLASS_SESSION_AUTH:
        apply_session_auth(s, command->text);
        break;
    case RH_SQL_CLASS_RESET:
        lower(command->name, name);
        rh_session_state_remove(s, RH_STATE_SETTING, rh_buf_span(name));
        break;
    case RH_SQL_CLASS_RESET_ALL:
        remove_kind(s, true);
        break;
    case RH_SQL_CLASS_DISCARD_ALL:
        rh_session_state_clear(s);
        break;
    case RH_SQL_CLASS_PREPARE:
        rh_buf_clear(name);
        rh_sql_name_fold(command->name, name);
        apply_deallocate(s, rh_buf_span(name));
        rh_session_state_put(s, RH_STATE_PREPARE, rh_buf_span(name), command->text);
        break;
    case RH_SQL_CLASS_DEALLOCATE:
        rh_buf_clear(name);
        rh_sql_name_fold(command->name, name);
        apply_deallocate(s, rh_buf_span(name));
        break;
    case RH_SQL_CLASS_DEALLOCATE_ALL:
        remove_kind(s, false);
        break;
    default:
        break;
    }
}

bool rh_session_state_concerns(struct rh_span text, bool is_template)
{
    const uint32_t changing = 1u << RH_SQL_CLASS_SET | 1u << RH_SQL_CLASS_SET_ENCODING |
                              1u << RH_SQL_CLASS_RESET | 1u << RH_SQL_CLASS_RESET_ALL |
                              1u << RH_SQL_CLASS_DISCARD_ALL | 1u << RH_SQL_CLASS_PREPARE |
                              1u << RH_SQL_CLASS_DEALLOCATE | 1u << RH_SQL_CLASS_DEALLOCATE_ALL |
                              1u << RH_SQL_CLASS_SESSION_AUTH;
    uint32_t all = 0;
    rh_sql_classify(text, is_template, &all);
    return (all & changing) != 0;
}

static void apply_text(struct rh_session_state *s, struct rh_span text)
{
    struct rh_sql_commands commands;
    struct rh_sql_command command;
    struct rh_buf name;
    rh_buf_init(&name, FOLDED_NAME_MAX);
    rh_sql_commands_init(&commands, text, false);
    while (rh_sql_commands_next(&commands, &command)) {
        apply_command(s, &command, &name);
    }
    rh_buf_release(&name);
}

/* What a replay does not send makes no state there. */
static bool is_sent(const struct rh_record *r)
{
    return r->hold != RH_REASON_CUT_TEXT && r->hold != RH_REASON_SECRET &&
           r->hold != RH_REASON_ENCODING && r->hold != RH_REASON_REDACTED;
}

/* What a record does to the name of its statement. */
enum effect { LEAVES, PREPARES, CLOSES };

static enum effect effect_on_name(const struct rh_record *r)
{
    if (r->kind == RH_KIND_QUERY || r->statement_name.len == 0) {
        return LEAVES;
    }
    if (r->steps.len == 0) {
        return PREPARES; /* a log names what it executes */
    }
    enum effect effect = LEAVES;
    for (size_t i = 0; i + 1 < r->steps.len; i += 2) {
        char letter = r->steps.data[i];
        effect = letter == 'C' ? CLOSES : strchr("PRBOA", letter) ? PREPARES : effect;
    }
    return effect;
}

/* As in Parse, up to the last that is known. */
static void collect_types(const struct rh_record *r, struct rh_buf *types)
{
    uint32_t count = r->param_count;
    while (count > 0 && r->params[count - 1].type == 0) {
        count--;
    }
    for (uint32_t i = 0; i < count; i++) {
        rh_buf_add_be32(types, r->params[i].type);
    }
}

static void prepare(struct rh_session_state *s, const struct rh_record *r, struct rh_span text)
{
    struct rh_buf types;
    rh_buf_init(&types, RH_STATE_BYTES_MAX);
    collect_types(r, &types);
    rh_session_state_remove(s, RH_STATE_PREPARE, r->statement_name);
    rh_session_state_put_typed(s, RH_STATE_STATEMENT, r->statement_name, text, rh_buf_span(&types));
    rh_buf_release(&types);
}

void rh_session_state_apply(struct rh_session_state *s, const struct rh_record *r)
{
    bool failed = r->outcome.sqlstate != 0 && r->outcome.sqlstate != RH_SQLSTATE_UNKNOWN;
    bool has_text = r->text.data || r->tmpl.data;
    enum effect effect = effect_on_name(r);
    if (effect == CLOSES && !failed && is_sent(r)) {
        apply_deallocate(s, r->statement_name);
    }
    if (failed || !has_text || !is_sent(r) || !rh_kind_has_ordinal(r->kind)) {
        return;
    }
    if ((r->flags & RH_FLAG_SQL_EXECUTE) && r->prepare_text.data) {
        apply_text(s, r->prepare_text);
    }
    bool named = effect == PREPARES;
    bool changes = rh_kind_is_statement(r->kind) &&
                   rh_session_state_concerns(r->tmpl.data ? r->tmpl : r->text, r->tmpl.data);
    if (!named && !changes) {
        return;
    }
    struct rh_buf whole;
    rh_buf_init(&whole, RH_STATE_BYTES_MAX);
    if (rh_record_text(r, &whole) != 0) {
        s->incomplete = true;
        goto out;
    }
    if (named) {
        prepare(s, r, rh_buf_span(&whole));
    }
    if (changes) {
        apply_text(s, rh_buf_span(&whole));
    }
out:
    rh_buf_release(&whole);
}

uint64_t rh_session_state_digest(const struct rh_session_state *s)
{
    uint64_t digest = s->incomplete;
    for (uint32_t i = 0; i < s->count; i++) {
        uint64_t pieces[3] = {digest, s->items[i].key_hash, s->items[i].text_hash};
        digest = XXH3_64bits(pieces, sizeof pieces);
    }
    return digest;
}

bool rh_session_state_equal(const struct rh_session_state *a, const struct rh_session_state *b)
{
    if (a->count != b->count || a->incomplete != b->incomplete) {
        return false;
    }
    for (uint32_t i = 0; i < a->count; i++) {
        const struct rh_state_item *x = &a->items[i];
        const struct rh_state_item *y = &b->items[i];
        if (x->key_hash != y->key_hash || x->text_hash != y->text_hash || x->kind != y->kind ||
            !rh_span_equal(x->name, y->name) || !rh_span_equal(x->text, y->text) ||
            !rh_span_equal(x->types, y->types)) {
            return false;
        }
    }
    return true;
}
