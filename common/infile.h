/*
 * common/infile.h
 *
 * Sequential input: a file, "-" for standard input, plain or compressed with gzip or zstd (told by
 * content, not by name).  Concatenated gzip members and zstd frames are one stream.
 */
#ifndef RH_COMMON_INFILE_H
#define RH_COMMON_INFILE_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "common/error.h"

struct rh_infile;

int rh_infile_open(struct rh_infile **out, const char *path, struct rh_error *err);
/* Up to n bytes: how many, 0 at the end, -1 on error.  A compressed stream that is damaged or ends
 * early gives what it held and then an error that says so, again at each further call.  Input that
 * may wait (a pipe, a terminal) ends with RH_ERR_STOPPED when a stop is asked for (common/stop.h).
 */
ssize_t rh_infile_read(struct rh_infile *f, void *data, size_t n, struct rh_error *err);
/* Size of the file on disk (0: unknown) and how much of it was consumed, for progress. */
uint64_t rh_infile_size_bytes(const struct rh_infile *f);
uint64_t rh_infile_consumed_bytes(const struct rh_infile *f);
/* NULL is allowed. */
void rh_infile_close(struct rh_infile *f);

#endif
