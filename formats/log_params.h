/*
 * formats/log_params.h
 *
 * The list of parameter values that PostgreSQL logs: "$1 = '42', $2 = NULL, $3 = 'it''s'".  A value
 * is the type's output text in quotes with quotes doubled and everything else raw, so it is cut by
 * quotes alone: commas and "$4 = " within a value mean nothing.
 */
#ifndef RH_FORMATS_LOG_PARAMS_H
#define RH_FORMATS_LOG_PARAMS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "formats/record.h"

/* The protocol counts parameters in 16 bits. */
enum { RH_LOG_PARAMS_MAX = 65535 };

struct rh_log_params {
    struct rh_param *items; /* data points into the parsed text */
    uint32_t count;
    uint32_t cap;
};

void rh_log_params_init(struct rh_log_params *p);
void rh_log_params_release(struct rh_log_params *p);

/*
 * Parse a list, from its "$1" on; doubled quotes are folded in place.  0, or -1 when it is not such
 * a list up to its end (a damaged record): then count is the number of whole values before.
 */
int rh_log_params_parse(struct rh_log_params *p, char *text, size_t len);

/* Values the server cut end in three dots.  Length of the longest value that does not, and of the
 * longest one that does, without its dots; -1 where there is none. */
void rh_log_params_lengths(const struct rh_log_params *p, int64_t *whole, int64_t *dotted);

#endif
