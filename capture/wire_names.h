/*
 * capture/wire_names.h
 *
 * What one session has prepared (by Parse) and bound: names to texts, as the server's answers
 * confirm them.
 */
#ifndef RH_CAPTURE_WIRE_NAMES_H
#define RH_CAPTURE_WIRE_NAMES_H

#include <stdbool.h>
#include <stdint.h>

#include "common/buf.h"
#include "common/map.h"
#include "common/span.h"

enum {
    RH_WIRE_NAMES_MAX = 65536, /* statements of a session */
    RH_WIRE_PORTALS_MAX = 256,
    RH_WIRE_STATEMENT_BYTES_MAX = 1024 * 1024, /* a longer text is kept while it is unnamed only */
};

struct rh_wire_prepared {
    struct rh_span name;
    struct rh_span text;  /* none: prepared by SQL */
    struct rh_span types; /* as in Parse */
    bool unwritten;       /* its Parse was left out of what is kept */
};

/* What the prepared statements of all sessions may take together. */
struct rh_wire_names_room {
    size_t bytes;
    size_t max_bytes;
    uint64_t forgotten; /* statements, for want of it or of RH_WIRE_NAMES_MAX */
};

struct rh_wire_portal {
    struct rh_buf bytes; /* portal name, statement name, text */
    size_t name_len;
    size_t statement_len;
    bool has_text;
    bool executed;
};

struct rh_wire_names {
    struct rh_wire_names_room *room;
    struct rh_map named; /* hash of the name -> struct rh_wire_prepared */
    size_t named_bytes;
    struct rh_buf unnamed_bytes;
    struct rh_wire_prepared unnamed;
    bool has_unnamed;
    struct rh_wire_portal *portals;
    uint32_t portal_count;
    uint32_t portal_cap;
};

/* The room must live longer. */
void rh_wire_names_init(struct rh_wire_names *n, struct rh_wire_names_room *room);
void rh_wire_names_release(struct rh_wire_names *n);
size_t rh_wire_names_bytes(const struct rh_wire_names *n);

/* Valid until the names change; NULL: not known. */
const struct rh_wire_prepared *rh_wire_names_get(const struct rh_wire_names *n,
                                                 struct rh_span name);
/* Everything is copied.  Where there is no room, what the session has named before is forgotten:
 * executions by such a name are captured and replayed, without their text. */
void rh_wire_names_put(struct rh_wire_names *n, const struct rh_wire_prepared *p);
/* Nothing where the name is not known. */
void rh_wire_names_mark(struct rh_wire_names *n, struct rh_span name, bool unwritten);
void rh_wire_names_remove(struct rh_wire_names *n, struct rh_span name);
void rh_wire_names_remove_all(struct rh_wire_names *n);

struct rh_wire_portal *rh_wire_portal_get(const struct rh_wire_names *n, struct rh_span name);
void rh_wire_portal_put(struct rh_wire_names *n, struct rh_span name, struct rh_span statement,
                        struct rh_span text);
void rh_wire_portal_remove(struct rh_wire_names *n, struct rh_span name);
void rh_wire_portals_clear(struct rh_wire_names *n);
struct rh_span rh_wire_portal_statement(const struct rh_wire_portal *p);
/* None: not known. */
struct rh_span rh_wire_portal_text(const struct rh_wire_portal *p);

#endif
