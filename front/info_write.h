/*
 * front/info_write.h
 *
 * What `pgrehearse info` prints: a page of text a file, or one JSON array for all.
 */
#ifndef RH_FRONT_INFO_WRITE_H
#define RH_FRONT_INFO_WRITE_H

#include <stdbool.h>

#include "common/buf.h"
#include "common/json.h"
#include "formats/trace_file.h"
#include "front/trace_summary.h"

struct rh_info_writer {
    struct rh_buf *out;
    bool as_json;
    struct rh_json json;
};

void rh_info_write_begin(struct rh_info_writer *w, struct rh_buf *out, bool as_json);
void rh_info_write_file(struct rh_info_writer *w, const struct rh_trace_file *file,
                        const struct rh_trace_summary *summary);
void rh_info_write_end(struct rh_info_writer *w);

/* The two forms of one file. */
void rh_info_json(struct rh_json *j, const struct rh_trace_file *file,
                  const struct rh_trace_summary *summary);
void rh_info_text(struct rh_buf *out, const struct rh_trace_file *file,
                  const struct rh_trace_summary *summary);

#endif
