/*
 * diff/plan_texts.h
 *
 * The plans that pgrehearse explain put into a report (docs/REPORT.md, "plans"), by query.
 */
#ifndef RH_DIFF_PLAN_TEXTS_H
#define RH_DIFF_PLAN_TEXTS_H

#include <stdbool.h>
#include <stdint.h>

#include "common/error.h"
#include "common/json.h"
#include "diff/observation.h"

enum {
    RH_PLAN_TEXTS_MAX = 1000,     /* queries; more are left out */
    RH_PLAN_TEXT_MAX = 16 * 1024, /* bytes of a plan; the rest is left out */
};

struct rh_plan_text {
    uint64_t fingerprint;
    bool differ;          /* the two plans do other things */
    char *text[RH_SIDES]; /* the plan, or "error: ..." */
};

struct rh_plan_texts {
    struct rh_plan_text *items; /* in the report's order */
    uint32_t count;
};

/* -1: it cannot be read (RH_ERR_IO), is no such report (RH_ERR_FORMAT), or has no plans
 * (RH_ERR_USAGE).  Makes *p whatever it returns; release it. */
int rh_plan_texts_read(struct rh_plan_texts *p, const char *path, struct rh_error *err);
void rh_plan_texts_release(struct rh_plan_texts *p);
/* NULL if there is none; p may be NULL. */
const struct rh_plan_text *rh_plan_texts_find(const struct rh_plan_texts *p, uint64_t fingerprint);
/* The member "plans" of the page: by fingerprint {differ, base, candidate}. */
void rh_json_plan_texts(struct rh_json *j, const struct rh_plan_texts *p);

#endif
