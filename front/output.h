/*
 * front/output.h
 *
 * Text for standard output, in large pieces.  A reader that went away (head, a pager) is no error:
 * `gone` is set and the rest of the work can be left out.
 */
#ifndef RH_FRONT_OUTPUT_H
#define RH_FRONT_OUTPUT_H

#include <stdbool.h>

#include "common/buf.h"
#include "common/error.h"

struct rh_output {
    struct rh_buf buf; /* add to it, then flush */
    bool gone;
};

/* Also ignores SIGPIPE. */
void rh_output_init(struct rh_output *o);
void rh_output_release(struct rh_output *o);
/* Write out what has gathered, if it is much. */
int rh_output_flush_if_large(struct rh_output *o, struct rh_error *err);
int rh_output_flush(struct rh_output *o, struct rh_error *err);

#endif
