/*
 * replay/explain_report.h
 *
 * The JSON report of pgrehearse diff (docs/report.schema.json), read, given plans, and written
 * again with all else as it was.
 */
#ifndef RH_REPLAY_EXPLAIN_REPORT_H
#define RH_REPLAY_EXPLAIN_REPORT_H

#include <stdbool.h>
#include <stdint.h>

#include "common/error.h"
#include "common/opt.h"
#include "replay/explain_call.h"
#include "replay/explain_server.h"

struct json_t;

struct rh_explain_query {
    struct json_t *object; /* the report's */
    const char *fingerprint;
    const char *sql; /* normalised */
    bool is_cut;     /* its end is missing */
    /* The call that the candidate slowed most; ordinal 0: the report tells none. */
    struct rh_explain_call call;
};

struct rh_explain_report {
    struct json_t *root;
    struct rh_explain_query *queries; /* those to be explained */
    uint32_t count;
};

/*
 * Read the report and choose queries: of these fingerprints, or, where none is given, the first
 * `limit` that regressed, in the report's order.  -1: it cannot be read (RH_ERR_IO), is none
 * (RH_ERR_FORMAT), or has no such query (RH_ERR_USAGE).  Makes *r whatever it returns; release it.
 */
int rh_explain_report_read(struct rh_explain_report *r, const char *path, uint32_t limit,
                           const struct rh_str_list *fingerprints, struct rh_error *err);
void rh_explain_report_release(struct rh_explain_report *r);

/* Whether this file is the trace of the report's base, or a run of it.  -1: it is not
 * (RH_ERR_USAGE), or cannot be read. */
int rh_explain_report_check_trace(const struct rh_explain_report *r, const char *path,
                                  struct rh_error *err);

/* Give a query its plans, of the base and of the candidate; NULL: that side was not asked.  True:
 * both have a plan, and its nodes, tables or indexes are not the same. */
bool rh_explain_report_add(struct rh_explain_query *q,
                           const struct rh_explain_plan *const plans[2]);
/* Behind rh_explain_report_add(): likewise those of its call, by that call's values, which stand in
 * the report only where shows_values. */
bool rh_explain_report_add_call(struct rh_explain_query *q,
                                const struct rh_explain_plan *const plans[2], bool shows_values);
int rh_explain_report_write(const struct rh_explain_report *r, const char *path,
                            struct rh_error *err);

#endif
