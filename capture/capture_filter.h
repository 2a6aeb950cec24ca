/*
 * capture/capture_filter.h
 *
 * Which sessions and statements go into the trace.  What the filters leave out is not counted as
 * missing.
 */
#ifndef RH_CAPTURE_CAPTURE_FILTER_H
#define RH_CAPTURE_CAPTURE_FILTER_H

#include <stdbool.h>
#include <stdint.h>

#include "capture/capture_options.h"
#include "common/opt.h"
#include "common/regex.h"
#include "common/span.h"

struct rh_capture_filter {
    int64_t from_ns;          /* INT64_MIN: from the start */
    int64_t to_ns;            /* INT64_MAX: to the end */
    struct rh_str_list users; /* empty: all */
    struct rh_str_list databases;
    struct rh_str_list applications;
    struct rh_regex **include; /* one must match; empty: all */
    uint32_t include_count;
    struct rh_regex **exclude; /* none may match */
    uint32_t exclude_count;
    uint64_t sample_below; /* sessions are kept whose id hashes below; UINT64_MAX: all */
    /* Texts on which a pattern ran away: both ways they are left out. */
    uint64_t include_runaways;
    uint64_t exclude_runaways;
};

void rh_capture_filter_init(struct rh_capture_filter *f);
/* As the command line says; to be released also when it fails. */
int rh_capture_filter_open(struct rh_capture_filter *f, const struct rh_capture_options *o,
                           struct rh_error *err);
int rh_capture_filter_add_patterns(struct rh_capture_filter *f, const struct rh_str_list *include,
                                   const struct rh_str_list *exclude, struct rh_error *err);
/* Not the lists, whose strings belong to argv. */
void rh_capture_filter_release(struct rh_capture_filter *f);

bool rh_capture_filter_session(const struct rh_capture_filter *f, struct rh_span user,
                               struct rh_span database);
/* Keep this part of the sessions, 0 to 1: always the same ones, by a hash of their ids. */
void rh_capture_filter_sample(struct rh_capture_filter *f, double fraction);
bool rh_capture_filter_sampled(const struct rh_capture_filter *f, uint64_t session_key);
/* Whether transactions that begin then are wanted. */
bool rh_capture_filter_time(const struct rh_capture_filter *f, int64_t begin_ns);
bool rh_capture_filter_application(const struct rh_capture_filter *f, struct rh_span application);
/* By the patterns.  What other statements depend on is not asked (rh_statement_must_stay()). */
bool rh_capture_filter_text(struct rh_capture_filter *f, struct rh_span text);
/* Statements may be left out of a session that is kept. */
bool rh_capture_filter_is_partial(const struct rh_capture_filter *f);

#endif
