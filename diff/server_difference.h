/*
 * diff/server_difference.h
 *
 * What differs between the servers of the two sides, as far as both runs tell it
 * (formats/server_fact.h): reasons that a query may have changed for.
 */
#ifndef RH_DIFF_SERVER_DIFFERENCE_H
#define RH_DIFF_SERVER_DIFFERENCE_H

#include <stdbool.h>
#include <stdint.h>

#include "common/json.h"
#include "diff/observation.h"
#include "formats/trace_header.h"

enum { RH_SERVER_VALUE_SIZE = 200 };

/* Texts point into the headers. */
struct rh_server_difference {
    struct rh_span kind;
    struct rh_span database; /* none: it holds for all, or is not of a database */
    struct rh_span name;
    struct rh_span role;                          /* of an override; none: of all */
    const struct rh_server_fact *sides[RH_SIDES]; /* NULL: that side has none of it */
    char text[RH_SIDES][RH_SERVER_VALUE_SIZE];    /* "64kB", "(default)", "(none)" */
};

struct rh_server_differences {
    bool known;                         /* both sides tell of their servers */
    struct rh_server_difference *items; /* by kind (version, setting, override, ...), then name */
    uint32_t count;
};

void rh_server_differences_make(struct rh_server_differences *d, const struct rh_trace_header *base,
                                const struct rh_trace_header *candidate);
void rh_server_differences_release(struct rh_server_differences *d);

/* "work_mem", "work_mem of role app in shop", "pg_trgm in shop". */
void rh_server_difference_name(const struct rh_server_difference *d, struct rh_buf *out);
/* The member "server_differences": null where they are not known. */
void rh_json_server_differences(struct rh_json *j, const struct rh_server_differences *d);

#endif
