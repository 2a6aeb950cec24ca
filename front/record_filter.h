/*
 * front/record_filter.h
 *
 * Which records `pgrehearse show` prints.
 */
#ifndef RH_FRONT_RECORD_FILTER_H
#define RH_FRONT_RECORD_FILTER_H

#include <stdbool.h>
#include <stdint.h>

#include "common/buf.h"
#include "common/error.h"
#include "formats/record.h"

struct rh_record_filter {
    uint32_t *sessions; /* none: all */
    uint32_t session_count;
    uint32_t session_cap;
    uint64_t first_ordinal; /* 0: all records, those without ordinal too */
    uint64_t last_ordinal;
    uint32_t kinds; /* bits (1 << kind); 0: all */
    bool only_errors;
    bool by_fingerprint;
    uint64_t fingerprint;
    uint32_t sqlstate; /* 0: any outcome */
    int64_t from_ns;   /* INT64_MIN, INT64_MAX: all; the reader applies them */
    int64_t to_ns;
    uint32_t limit;      /* 0: none; the caller counts */
    struct rh_buf whole; /* both are scratch of the fingerprint */
    struct rh_buf scratch;
};

void rh_record_filter_init(struct rh_record_filter *f);
void rh_record_filter_release(struct rh_record_filter *f);
bool rh_record_filter_takes(struct rh_record_filter *f, const struct rh_record *r);

/* Readers for the option table (common/opt.h); the target is the filter itself. */
int rh_record_filter_read_session(const char *arg, void *target, struct rh_error *err);
int rh_record_filter_read_ordinal(const char *arg, void *target, struct rh_error *err);
int rh_record_filter_read_kind(const char *arg, void *target, struct rh_error *err);
int rh_record_filter_read_fingerprint(const char *arg, void *target, struct rh_error *err);
int rh_record_filter_read_sqlstate(const char *arg, void *target, struct rh_error *err);

#endif
