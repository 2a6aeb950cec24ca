/*
 * diff/example_texts.h
 *
 * The texts of some statements as they were sent, with their literals: only for who asks for them.
 * They are read from the base's file after the comparison, which does not keep texts.
 */
#ifndef RH_DIFF_EXAMPLE_TEXTS_H
#define RH_DIFF_EXAMPLE_TEXTS_H

#include "diff/result.h"

enum {
    RH_EXAMPLE_TEXTS_MAX = 1000, /* queries, those that matter most */
    RH_EXAMPLE_TEXT_MAX = 1024,  /* bytes of each */
};

struct rh_example_text {
    uint32_t part;
    uint32_t session;
    uint32_t copy;
    uint64_t ordinal;
    char *text; /* NULL: not found */
    uint32_t text_len;
    bool text_cut;
};

struct rh_example_texts {
    struct rh_example_text *items; /* by identity */
    uint32_t count;
};

/* Those of the queries' slowest changes, with another pass over the base's file.  Makes *t whatever
 * it returns; release it. */
int rh_example_texts_read(struct rh_example_texts *t, const struct rh_result *r,
                          struct rh_error *err);
void rh_example_texts_release(struct rh_example_texts *t);
/* NULL if it is not there. */
const struct rh_example_text *rh_example_texts_find(const struct rh_example_texts *t,
                                                    const struct rh_slowed_pair *pair);

#endif
