#include "replay/prepared.h"

#include <string.h>

#include "common/buf.h"
#include "common/hash.h"
#include "common/sql_class.h"
#include "common/sql_scan.h"

enum { NAME_MAX_BYTES = 64 * 1024 };

void rh_prepared_init(struct rh_prepared *p)
{
    rh_map_init(&p->names);
}

void rh_prepared_release(struct rh_prepared *p)
{
    rh_map_release(&p->names);
}

uint64_t rh_prepared_text_hash(struct rh_span text)
{
    return rh_hash(text) | 1; /* a map's value is not NULL */
}

bool rh_prepared_is(const struct rh_prepared *p, struct rh_span name, uint64_t text_hash)
{
    return (uint64_t) (uintptr_t) rh_map_get(&p->names, rh_hash(name)) == text_hash;
}

bool rh_prepared_has(const struct rh_prepared *p, struct rh_span name)
{
    return rh_map_get(&p->names, rh_hash(name)) != NULL;
}

void rh_prepared_put(struct rh_prepared *p, struct rh_span name, uint64_t text_hash)
{
    if (p->names.count >= RH_PREPARED_MAX) {
        rh_prepared_forget_all(p);
    }
    /* NOLINTNEXTLINE(performance-no-int-to-ptr): nothing is ever read through it */
    rh_map_put(&p->names, rh_hash(name), (void *) (uintptr_t) text_hash);
}

void rh_prepared_forget(struct rh_prepared *p, struct rh_span name)
{
    if (p->names.count > 0) {
        rh_map_remove(&p->names, rh_hash(name));
    }
}

void rh_prepared_forget_all(struct rh_prepared *p)
{
    rh_map_release(&p->names);
    rh_map_init(&p->names);
}

static bool word_is(struct rh_span text, struct rh_sql_token t, const char *word)
{
    return rh_span_is_nocase(rh_span(text.data + t.start, t.len), word);
}

/* The first word is one of them, or there is more than one command. */
bool rh_prepared_concerns(struct rh_span text)
{
    if (!text.data) {
        return false;
    }
    struct rh_sql_scan scan;
    struct rh_sql_token t;
    rh_sql_scan_init(&scan, text, false);
    do {
        t = rh_sql_scan_next(&scan);
    } while (t.kind == RH_SQL_SPACE || t.kind == RH_SQL_COMMENT);
    if (t.kind == RH_SQL_WORD && (word_is(text, t, "prepare") || word_is(text, t, "deallocate") ||
                                  word_is(text, t, "discard"))) {
        return true;
    }
    const char *semicolon = memchr(text.data, ';', text.len);
    return semicolon && semicolon + 1 < text.data + text.len;
}

static void apply_command(struct rh_prepared *p, const struct rh_sql_command *command,
                          struct rh_buf *name)
{
    switch (command->klass) {
    case RH_SQL_CLASS_PREPARE:
    case RH_SQL_CLASS_DEALLOCATE:
        rh_buf_clear(name);
        rh_sql_name_fold(command->name, name);
        if (command->klass == RH_SQL_CLASS_PREPARE) {
            rh_prepared_put(p, rh_buf_span(name), rh_prepared_text_hash(command->text));
        } else {
            rh_prepared_forget(p, rh_buf_span(name));
        }
        break;
    case RH_SQL_CLASS_DEALLOCATE_ALL:
    case RH_SQL_CLASS_DISCARD_ALL:
        rh_prepared_forget_all(p);
        break;
    default:
        break;
    }
}

void rh_prepared_apply(struct rh_prepared *p, struct rh_span text)
{
    struct rh_sql_commands commands;
    struct rh_sql_command command;
    struct rh_buf name;
    rh_buf_init(&name, NAME_MAX_BYTES);
    rh_sql_commands_init(&commands, text, false);
    while (rh_sql_commands_next(&commands, &command) == 1) {
        apply_command(p, &command, &name);
    }
    rh_buf_release(&name);
}

bool rh_prepared_name(struct rh_span prepare_text, struct rh_buf *name)
{
    struct rh_sql_commands commands;
    struct rh_sql_command command;
    if (!prepare_text.data) {
        return false;
    }
    rh_sql_commands_init(&commands, prepare_text, false);
    if (rh_sql_commands_next(&commands, &command) != 1 || command.klass != RH_SQL_CLASS_PREPARE) {
        return false;
    }
    rh_sql_name_fold(command.name, name);
    return !name->over;
}
