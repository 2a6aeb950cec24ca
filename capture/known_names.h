/*
 * capture/known_names.h
 *
 * Names of prepared statements that one session has used, with the hash of their texts: to tell a
 * statement's name from its portal's ("a/b"), and a new Parse from a known one.  Bounded: past
 * RH_KNOWN_NAMES_MAX all are forgotten, which costs no more than a superfluous Parse.
 */
#ifndef RH_CAPTURE_KNOWN_NAMES_H
#define RH_CAPTURE_KNOWN_NAMES_H

#include <stdbool.h>
#include <stdint.h>

#include "common/span.h"

enum { RH_KNOWN_NAMES_MAX = 4096 };

struct rh_known_name {
    uint64_t name_hash; /* 0: free */
    uint64_t text_hash;
};

struct rh_known_names {
    struct rh_known_name *cells;
    uint32_t cap; /* a power of two, or 0 */
    uint32_t count;
};

void rh_known_names_init(struct rh_known_names *k);
void rh_known_names_release(struct rh_known_names *k);
void rh_known_names_clear(struct rh_known_names *k);
bool rh_known_names_has(const struct rh_known_names *k, struct rh_span name);
/* True when the name is new or had another text. */
bool rh_known_names_put(struct rh_known_names *k, struct rh_span name, struct rh_span text);

/* Cut "NAME/PORTAL" (or "NAME"): at the first slash before which a known name ends; else, unless
 * the whole is a known name, at the first slash. */
void rh_known_names_cut(const struct rh_known_names *k, struct rh_span label, struct rh_span *name,
                        struct rh_span *portal);

#endif
