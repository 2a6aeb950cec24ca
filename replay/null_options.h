/*
 * replay/null_options.h
 *
 * What the null server answers, and how: common to all its connections.
 */
#ifndef RH_REPLAY_NULL_OPTIONS_H
#define RH_REPLAY_NULL_OPTIONS_H

#include <stdbool.h>
#include <stdint.h>

#include "common/error.h"

enum {
    RH_NULL_COLUMNS_MAX = 64,
    RH_NULL_WIDTH_MAX = 1024 * 1024,
    RH_NULL_ROW_BYTES_MAX = 16 * 1024 * 1024, /* columns * width */
    RH_NULL_CONNECTIONS_MAX = 1000000,
};

struct rh_null_options {
    const char *server_version; /* "17.2" */
    uint64_t rows;              /* of a SELECT */
    uint32_t columns;
    uint32_t width; /* bytes of a value */
    int64_t delay_ns;
    double error_fraction;    /* of the statements that are not transaction control, 0 to 1 */
    uint32_t error_state;     /* with this SQLSTATE, packed */
    uint32_t max_connections; /* those beyond are refused; 0: as many as files can be open */
    uint64_t seed;            /* of the cancel keys */

    /* By rh_null_options_check(). */
    char max_connections_text[12];
    char version_number_text[12];
};

/* Default values: one row of one column with one byte, no delay, no errors. */
void rh_null_options_init(struct rh_null_options *o);
/* That the version is one and a row is not too long; fills what depends on others. */
int rh_null_options_check(struct rh_null_options *o, struct rh_error *err);
/* server_version_num of a version: 170002 of "17.2", 90624 of "9.6.24"; 0 for what is none. */
uint32_t rh_null_version_number(const char *version);

#endif
