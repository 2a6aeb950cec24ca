/*
 * diff/plan_texts.h
 *
 * The plans that pgrehearse explain put into a report (docs/REPORT.md, "plans"), by query.
 */
#ifndef RH_DIFF_PLAN_TEXTS_H
#define RH_DIFF_PLAN_TEXTS_H

#include <stdbool.h>
#include <stdint.h>

#include "common/buf.h"
#include "common/error.h"
#include "common/json.h"
#include "diff/observation.h"

enum {
    RH_PLAN_TEXTS_MAX = 1000,     /* queries; more are left out */
    RH_PLAN_TEXT_MAX = 16 * 1024, /* bytes of a plan; the rest is left out */
};

struct rh_plan_pair {
    bool differ;          /* the two plans do other things */
    char *text[RH_SIDES]; /* the plan, or "error: ..." */
};

struct rh_plan_text {
    uint64_t fingerprint;
    struct rh_plan_pair any; /* for any values */
    /* For the values of one call; ordinal 0: not asked. */
    struct rh_plan_pair call;
    uint32_t session;
    uint32_t copy;
    uint64_t ordinal;
    bool values_shown;
};

struct rh_plan_texts {
    struct rh_plan_text *items; /* in the report's order */
    uint32_t count;
};

/* Values of calls are masked (formats/plan_mask.h), whatever the file has, unless with_values.
 * -1: it cannot be read (RH_ERR_IO), is no such report (RH_ERR_FORMAT), or has no plans
 * (RH_ERR_USAGE).  Makes *p whatever it returns; release it. */
int rh_plan_texts_read(struct rh_plan_texts *p, const char *path, bool with_values,
                       struct rh_error *err);
void rh_plan_texts_release(struct rh_plan_texts *p);
/* Append "call 3 of session 7, by its own values (each shown as ?)". */
void rh_plan_text_name_call(const struct rh_plan_text *plan, struct rh_buf *out);
/* NULL if there is none; p may be NULL. */
const struct rh_plan_text *rh_plan_texts_find(const struct rh_plan_texts *p, uint64_t fingerprint);
/* The member "plans" of the page: by fingerprint {differ, base, candidate, call: null or {name,
 * differ, base, candidate}}. */
void rh_json_plan_texts(struct rh_json *j, const struct rh_plan_texts *p);

#endif
