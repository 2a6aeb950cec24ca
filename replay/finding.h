/*
 * replay/finding.h
 *
 * What is found out before a replay: one line each, with a grade and what to do about it.
 */
#ifndef RH_REPLAY_FINDING_H
#define RH_REPLAY_FINDING_H

#include <stdbool.h>
#include <stdint.h>

#include "common/arena.h"
#include "common/buf.h"
#include "common/json.h"
#include "common/span.h"

enum rh_grade {
    RH_GRADE_STOP,    /* nothing is replayed */
    RH_GRADE_WARNING, /* the rehearsal may be less than it seems */
    RH_GRADE_NOTE,    /* good to know */
    RH_GRADE_COUNT,
};

/* "stop", "warning", "note". */
const char *rh_grade_name(enum rh_grade grade);

struct rh_finding {
    enum rh_grade grade;
    const char *name;      /* for programs and for docs/PREFLIGHT.md: "login-failed"; static */
    struct rh_span text;   /* one line, without a full stop */
    struct rh_span advice; /* what to do; none: nothing */
    int64_t sessions;      /* that would be lost; -1: the finding is not of that sort */
    int64_t statements;
};

struct rh_findings {
    struct rh_finding *items;
    uint32_t count;
    size_t cap;
    uint32_t graded[RH_GRADE_COUNT];
    struct rh_arena arena;
};

void rh_findings_init(struct rh_findings *f);
void rh_findings_release(struct rh_findings *f);

/* Texts are cut at 1000 bytes; control characters (a name may hold any) become '?'. */
void rh_findings_add(struct rh_findings *f, enum rh_grade grade, const char *name,
                     const char *format, ...) __attribute__((format(printf, 4, 5)));
/* Of the finding that was added last. */
void rh_findings_advise(struct rh_findings *f, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
void rh_findings_note_loss(struct rh_findings *f, uint64_t sessions, uint64_t statements);

/* Stops first, then warnings; as they were added within a grade. */
void rh_findings_sort(struct rh_findings *f);

/* To standard error: stops as errors, which no option hides, warnings, and notes as information. */
void rh_findings_log(const struct rh_findings *f);
/* A line each: grade, text, advice. */
void rh_findings_print(const struct rh_findings *f, struct rh_buf *out);
/* An array. */
void rh_findings_print_json(const struct rh_findings *f, struct rh_json *j);

#endif
