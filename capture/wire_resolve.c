/*
 * capture/wire_resolve.c
 *
 * What Bind and Execute mean is known when their answers come: at that moment the names are as the
 * server had them.
 */
#include <string.h>
#include <strings.h>

#include "capture/wire_session.h"
#include "common/sql_class.h"

static struct rh_span span_of(const struct rh_wire_group *g, struct rh_wire_part part)
{
    return rh_wire_group_span(g, part);
}

/* A Parse of that name that was sent before g and not long ago. */
static const struct rh_wire_group *pending_parse(const struct rh_wire_session *s,
                                                 const struct rh_wire_group *g)
{
    const struct rh_wire_group *found = NULL;
    struct rh_span name = span_of(g, g->statement);
    for (const struct rh_wire_group *at = s->first; at && at != g; at = at->next) {
        struct rh_span own = span_of(at, at->statement);
        if (at->parse_step != SIZE_MAX && own.len == name.len &&
            (own.len == 0 || memcmp(own.data, name.data, own.len) == 0)) {
            found = at;
        }
    }
    return found;
}

static void resolve_bind(struct rh_wire_session *s, struct rh_wire_group *g, bool answered)
{
    const struct rh_wire_group *before = answered ? NULL : pending_parse(s, g);
    const struct rh_wire_prepared *p = rh_wire_names_get(&s->names, span_of(g, g->statement));
    if (before) {
        g->text = rh_wire_group_put(g, span_of(before, before->text));
        g->types = rh_wire_group_put(g, span_of(before, before->types));
    } else if (p) {
        g->text = rh_wire_group_put(g, p->text);
        g->types = rh_wire_group_put(g, p->types);
    } else {
        g->unknown = true;
    }
}

static const struct rh_wire_group *pending_bind(const struct rh_wire_session *s,
                                                const struct rh_wire_group *g)
{
    const struct rh_wire_group *found = NULL;
    struct rh_span name = span_of(g, g->portal);
    for (const struct rh_wire_group *at = s->first; at && at != g; at = at->next) {
        struct rh_span own = span_of(at, at->portal);
        if (at->has_bind && own.len == name.len &&
            (own.len == 0 || memcmp(own.data, name.data, own.len) == 0)) {
            found = at;
        }
    }
    return found;
}

/* Execute of a portal that another group has bound. */
static void resolve_execute(struct rh_wire_session *s, struct rh_wire_group *g, bool answered)
{
    const struct rh_wire_portal *p = rh_wire_portal_get(&s->names, span_of(g, g->portal));
    const struct rh_wire_group *before = answered ? NULL : pending_bind(s, g);
    if (before && !before->cut && !before->released) {
        g->statement = rh_wire_group_put(g, span_of(before, before->statement));
        g->text = rh_wire_group_put(g, span_of(before, before->text));
        g->kind = before->kind == RH_KIND_EXECUTE ? RH_KIND_FETCH : RH_KIND_EXECUTE;
    } else if (!before && p) {
        g->kind = p->executed ? RH_KIND_FETCH : RH_KIND_EXECUTE;
        g->text = rh_wire_group_put(g, rh_wire_portal_text(p));
        g->statement = rh_wire_group_put(g, rh_wire_portal_statement(p));
    } else {
        g->unknown = true;
    }
}

static void resolve(struct rh_wire_session *s, struct rh_wire_group *g, bool answered)
{
    if (g->resolved) {
        return;
    }
    g->resolved = true;
    if (g->has_bind && g->parse_step == SIZE_MAX && g->statement.set) {
        resolve_bind(s, g, answered);
    } else if (g->kind == RH_KIND_EXECUTE && !g->has_bind && g->parse_step == SIZE_MAX) {
        resolve_execute(s, g, answered);
    }
}

void rh_wire_resolve(struct rh_wire_session *s, struct rh_wire_group *g)
{
    resolve(s, g, false);
}

/* By the server: then the names are as it had them; else the client's intention is what is left. */
static bool was_looked_at(enum rh_pg_wire_end end)
{
    return end != RH_PG_WIRE_SKIPPED && end != RH_PG_WIRE_UNKNOWN;
}

static void apply_parse(struct rh_wire_session *s, struct rh_wire_group *g, enum rh_pg_wire_end end)
{
    struct rh_wire_prepared p = {.name = span_of(g, g->statement),
                                 .text = span_of(g, g->text),
                                 .types = span_of(g, g->types)};
    const struct rh_wire_prepared *old = rh_wire_names_get(&s->names, p.name);
    if (g->cut || !g->statement.set) {
        /* Of which name is not known: none is sure any more. */
        if (end != RH_PG_WIRE_SKIPPED && !g->statement.set) {
            rh_wire_names_remove_all(&s->names);
        } else if (end != RH_PG_WIRE_SKIPPED) {
            rh_wire_names_remove(&s->names, p.name);
        }
        return;
    }
    switch (end) {
    case RH_PG_WIRE_DONE:
    case RH_PG_WIRE_SUSPENDED:
        rh_wire_names_put(&s->names, &p);
        break;
    case RH_PG_WIRE_FAILED: /* a name that is taken stays; the unnamed statement does not */
        if (p.name.len == 0) {
            rh_wire_names_remove(&s->names, p.name);
        }
        break;
    case RH_PG_WIRE_SKIPPED:
        break;
    case RH_PG_WIRE_UNKNOWN:
        if (!old && p.name.len > 0) {
            rh_wire_names_put(&s->names, &p);
        } else if (!old || !rh_span_equal(old->text, p.text)) {
            rh_wire_names_remove(&s->names, p.name);
        }
        break;
    }
}

static void apply_bind(struct rh_wire_session *s, struct rh_wire_group *g, enum rh_pg_wire_end end)
{
    resolve(s, g, was_looked_at(end));
    if (!g->portal.set) {
        return;
    }
    if (end == RH_PG_WIRE_DONE && !g->cut) {
        rh_wire_portal_put(&s->names, span_of(g, g->portal), span_of(g, g->statement),
                           span_of(g, g->text));
    } else if (end != RH_PG_WIRE_SKIPPED) {
        rh_wire_portal_remove(&s->names, span_of(g, g->portal));
    }
}

static void apply_execute(struct rh_wire_session *s, struct rh_wire_group *g,
                          enum rh_pg_wire_end end)
{
    resolve(s, g, was_looked_at(end));
    struct rh_wire_portal *p = rh_wire_portal_get(&s->names, span_of(g, g->portal));
    if (p && end != RH_PG_WIRE_SKIPPED) {
        p->executed = true;
    }
}

/* Commands that make or drop statements. */
static void apply_sql(struct rh_wire_session *s, struct rh_span text)
{
    struct rh_sql_commands commands;
    struct rh_sql_command command;
    struct rh_buf name;
    rh_buf_init(&name, 1024);
    rh_sql_commands_init(&commands, text, false);
    while (rh_sql_commands_next(&commands, &command) == 1) {
        rh_buf_clear(&name);
        switch (command.klass) {
        case RH_SQL_CLASS_PREPARE: {
            rh_sql_name_fold(command.name, &name);
            struct rh_wire_prepared p = {.name = rh_buf_span(&name)};
            if (name.len > 0 && !name.over) {
                rh_wire_names_put(&s->names, &p);
            }
            break;
        }
        case RH_SQL_CLASS_DEALLOCATE:
            rh_sql_name_fold(command.name, &name);
            if (name.len > 0) {
                rh_wire_names_remove(&s->names, rh_buf_span(&name));
            }
            break;
        case RH_SQL_CLASS_DEALLOCATE_ALL:
        case RH_SQL_CLASS_DISCARD_ALL:
            rh_wire_names_remove_all(&s->names);
            break;
        default:
            break;
        }
    }
    rh_buf_release(&name);
}

/* EXECUTE name: the name as it is written; none of another command. */
static struct rh_span executed_name(struct rh_span command)
{
    static const char word[] = "execute";
    static const char behind[] = " \t\n\r\f\v(;";
    size_t at = sizeof word - 1;
    if (command.len <= at || strncasecmp(command.data, word, at) != 0 ||
        !strchr(" \t\n\r\f\v\"", command.data[at])) {
        return RH_SPAN_NONE;
    }
    while (at < command.len && strchr(" \t\n\r\f\v", command.data[at])) {
        at++;
    }
    size_t end = at;
    bool quoted = false;
    while (end < command.len && (quoted || !strchr(behind, command.data[end]))) {
        quoted ^= command.data[end++] == '"';
    }
    return rh_span(command.data + at, end - at);
}

bool rh_wire_executes_unknown(const struct rh_wire_session *s, const struct rh_wire_group *g)
{
    struct rh_sql_commands commands;
    struct rh_sql_command command;
    struct rh_buf name;
    bool unknown = false;
    bool changes_names = false;
    struct rh_span text = span_of(g, g->text);
    if (!text.data) {
        return false;
    }
    rh_buf_init(&name, 1024);
    rh_sql_commands_init(&commands, text, false);
    while (rh_sql_commands_next(&commands, &command) == 1) {
        struct rh_span written = executed_name(command.text);
        changes_names = changes_names || command.klass == RH_SQL_CLASS_PREPARE ||
                        command.klass == RH_SQL_CLASS_DEALLOCATE ||
                        command.klass == RH_SQL_CLASS_DEALLOCATE_ALL ||
                        command.klass == RH_SQL_CLASS_DISCARD_ALL;
        if (written.len > 0) {
            rh_buf_clear(&name);
            rh_sql_name_fold(written, &name);
            unknown = unknown || !rh_wire_names_get(&s->names, rh_buf_span(&name));
        }
    }
    rh_buf_release(&name);
    return unknown && !changes_names;
}

static bool concerns_names(const struct rh_pg_wire_answer *a)
{
    return a->results > 1 || rh_span_starts(a->tag, "PREPARE") ||
           rh_span_starts(a->tag, "DEALLOCATE") || rh_span_starts(a->tag, "DISCARD");
}

void rh_wire_apply(struct rh_wire_session *s, struct rh_wire_group *g,
                   const struct rh_pg_wire_event *ev)
{
    enum rh_pg_wire_end end = ev->answer->end;
    if (g->released) {
        if (ev->message == 'P' || ev->message == 'Q') {
            rh_wire_names_remove_all(&s->names); /* which one it was is not known any more */
            s->names_unsure = true;
        }
        return;
    }
    switch (ev->message) {
    case 'P':
        apply_parse(s, g, end);
        break;
    case 'B':
        apply_bind(s, g, end);
        break;
    case 'E':
        apply_execute(s, g, end);
        break;
    case 'C':
        if (end == RH_PG_WIRE_DONE || end == RH_PG_WIRE_UNKNOWN) {
            rh_wire_names_remove(&s->names, span_of(g, g->statement));
        }
        break;
    case 'p':
        if (end == RH_PG_WIRE_DONE || end == RH_PG_WIRE_UNKNOWN) {
            rh_wire_portal_remove(&s->names, span_of(g, g->portal));
        }
        break;
    case 'Q':
        if (end != RH_PG_WIRE_SKIPPED) {
            rh_wire_names_remove(&s->names, RH_SPAN_NONE);
            rh_wire_portal_remove(&s->names, RH_SPAN_NONE);
        }
        break;
    default:
        break;
    }
    if ((ev->message == 'Q' || ev->message == 'E') && end == RH_PG_WIRE_DONE && !g->cut &&
        concerns_names(ev->answer)) {
        apply_sql(s, span_of(g, g->text));
    }
}
