#include "capture/wire_names.h"

#include <string.h>

#include "common/alloc.h"
#include "common/hash.h"

enum { BYTES_MAX = 1 << 30, BYTES_KEEP = 4096 };

void rh_wire_names_init(struct rh_wire_names *n, struct rh_wire_names_room *room)
{
    *n = (struct rh_wire_names){.room = room};
    rh_map_init(&n->named);
    rh_buf_init(&n->unnamed_bytes, BYTES_MAX);
}

void rh_wire_names_release(struct rh_wire_names *n)
{
    rh_wire_names_remove_all(n);
    rh_map_release(&n->named);
    rh_buf_release(&n->unnamed_bytes);
    for (uint32_t i = 0; i < n->portal_cap; i++) {
        rh_buf_release(&n->portals[i].bytes);
    }
    rh_free(n->portals);
}

size_t rh_wire_names_bytes(const struct rh_wire_names *n)
{
    size_t bytes = n->named_bytes + n->unnamed_bytes.cap;
    for (uint32_t i = 0; i < n->portal_cap; i++) {
        bytes += n->portals[i].bytes.cap;
    }
    return bytes;
}

static struct rh_wire_prepared *find_named(const struct rh_wire_names *n, struct rh_span name)
{
    struct rh_wire_prepared *p = rh_map_get(&n->named, rh_hash(name));
    return p && rh_span_equal(p->name, name) ? p : NULL;
}

const struct rh_wire_prepared *rh_wire_names_get(const struct rh_wire_names *n, struct rh_span name)
{
    if (name.len == 0) {
        return n->has_unnamed ? &n->unnamed : NULL;
    }
    return find_named(n, name);
}

void rh_wire_names_mark(struct rh_wire_names *n, struct rh_span name, bool unwritten)
{
    struct rh_wire_prepared *p = name.len > 0 ? find_named(n, name) : &n->unnamed;
    if (p) {
        p->unwritten = unwritten;
    }
}

static size_t bytes_of(const struct rh_wire_prepared *p)
{
    return sizeof *p + p->name.len + p->text.len + p->types.len;
}

static size_t room_left(const struct rh_wire_names_room *room)
{
    return room->bytes < room->max_bytes ? room->max_bytes - room->bytes : 0;
}

static struct rh_span lay(char **at, struct rh_span s)
{
    if (!s.data) {
        return s;
    }
    struct rh_span copy = rh_span(*at, s.len);
    if (s.len > 0) {
        memcpy(*at, s.data, s.len);
    }
    *at += s.len;
    return copy;
}

static void put_unnamed(struct rh_wire_names *n, const struct rh_wire_prepared *p)
{
    if (n->unnamed_bytes.cap > BYTES_KEEP) {
        rh_buf_release(&n->unnamed_bytes);
    }
    rh_buf_clear(&n->unnamed_bytes);
    char *at = rh_buf_reserve(&n->unnamed_bytes, p->text.len + p->types.len + 1);
    n->has_unnamed = at != NULL;
    if (at) {
        n->unnamed =
            (struct rh_wire_prepared){.text = lay(&at, p->text), .types = lay(&at, p->types)};
    }
}

void rh_wire_names_put(struct rh_wire_names *n, const struct rh_wire_prepared *p)
{
    if (p->name.len == 0) {
        put_unnamed(n, p);
        return;
    }
    rh_wire_names_remove(n, p->name);
    if (p->text.len > RH_WIRE_STATEMENT_BYTES_MAX) {
        return;
    }
    if (n->named.count >= RH_WIRE_NAMES_MAX || bytes_of(p) > room_left(n->room)) {
        n->room->forgotten += n->named.count;
        rh_wire_names_remove_all(n);
    }
    if (bytes_of(p) > room_left(n->room)) {
        n->room->forgotten++;
        return;
    }
    struct rh_wire_prepared *copy = rh_malloc(bytes_of(p));
    char *at = (char *) (copy + 1);
    *copy = (struct rh_wire_prepared){
        .name = lay(&at, p->name), .text = lay(&at, p->text), .types = lay(&at, p->types)};
    n->named_bytes += bytes_of(copy);
    n->room->bytes += bytes_of(copy);
    rh_map_put(&n->named, rh_hash(p->name), copy);
}

void rh_wire_names_remove(struct rh_wire_names *n, struct rh_span name)
{
    if (name.len == 0) {
        n->has_unnamed = false;
        return;
    }
    struct rh_wire_prepared *p = rh_map_remove(&n->named, rh_hash(name));
    if (p) {
        n->named_bytes -= bytes_of(p);
        n->room->bytes -= bytes_of(p);
        rh_free(p);
    }
}

void rh_wire_names_remove_all(struct rh_wire_names *n)
{
    size_t pos = 0;
    void *p;
    while ((p = rh_map_next(&n->named, &pos, NULL)) != NULL) {
        rh_free(p);
    }
    rh_map_release(&n->named);
    rh_map_init(&n->named);
    n->room->bytes -= n->named_bytes;
    n->named_bytes = 0;
    n->has_unnamed = false;
}

static struct rh_span portal_name(const struct rh_wire_portal *p)
{
    return rh_span(rh_buf_span(&p->bytes).data, p->name_len);
}

struct rh_span rh_wire_portal_statement(const struct rh_wire_portal *p)
{
    return rh_span(rh_buf_span(&p->bytes).data + p->name_len, p->statement_len);
}

struct rh_span rh_wire_portal_text(const struct rh_wire_portal *p)
{
    size_t at = p->name_len + p->statement_len;
    return p->has_text ? rh_span(rh_buf_span(&p->bytes).data + at, p->bytes.len - at)
                       : RH_SPAN_NONE;
}

struct rh_wire_portal *rh_wire_portal_get(const struct rh_wire_names *n, struct rh_span name)
{
    for (uint32_t i = 0; i < n->portal_count; i++) {
        struct rh_span own = portal_name(&n->portals[i]);
        if (own.len == name.len && (own.len == 0 || memcmp(own.data, name.data, own.len) == 0)) {
            return &n->portals[i];
        }
    }
    return NULL;
}

void rh_wire_portal_put(struct rh_wire_names *n, struct rh_span name, struct rh_span statement,
                        struct rh_span text)
{
    struct rh_wire_portal *p = rh_wire_portal_get(n, name);
    if (!p) {
        if (n->portal_count >= RH_WIRE_PORTALS_MAX) {
            rh_wire_portals_clear(n);
        }
        if (n->portal_count >= n->portal_cap) {
            uint32_t cap = n->portal_cap ? n->portal_cap * 2 : 2;
            n->portals = rh_realloc(n->portals, cap, sizeof *n->portals);
            for (uint32_t i = n->portal_cap; i < cap; i++) {
                n->portals[i] = (struct rh_wire_portal){0};
                rh_buf_init(&n->portals[i].bytes, BYTES_MAX);
            }
            n->portal_cap = cap;
        }
        p = &n->portals[n->portal_count++];
    }
    if (p->bytes.cap > BYTES_KEEP) {
        rh_buf_release(&p->bytes);
    }
    rh_buf_clear(&p->bytes);
    rh_buf_add_span(&p->bytes, name);
    rh_buf_add_span(&p->bytes, statement);
    p->has_text = text.data && rh_buf_add_span(&p->bytes, text) == 0;
    p->name_len = name.len;
    p->statement_len = statement.len;
    p->executed = false;
}

void rh_wire_portal_remove(struct rh_wire_names *n, struct rh_span name)
{
    struct rh_wire_portal *p = rh_wire_portal_get(n, name);
    if (p) {
        struct rh_wire_portal last = n->portals[--n->portal_count];
        n->portals[n->portal_count] = *p; /* its memory serves the next one */
        *p = last;
    }
}

void rh_wire_portals_clear(struct rh_wire_names *n)
{
    n->portal_count = 0;
}
