/*
 * common/outfile.h
 *
 * Output that never replaces a good file by half of one: bytes go to PATH.partial, which finish()
 * syncs and renames to PATH, which keeps its permissions; a new file is its owner's
 * alone (0600), as a server's log is, for it holds what was in it.  A kill leaves PATH.partial. "-"
 * is standard output, written as is, and so is a device or pipe.
 */
#ifndef RH_COMMON_OUTFILE_H
#define RH_COMMON_OUTFILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/error.h"

struct rh_outfile;

int rh_outfile_open(struct rh_outfile **out, const char *path, struct rh_error *err);
/* Writes all or fails; after a failure (a full disk) the file is cut back to the bytes before this
 * call, so that it ends with whole pieces. */
int rh_outfile_write(struct rh_outfile *f, const void *data, size_t n, struct rh_error *err);
uint64_t rh_outfile_written_bytes(const struct rh_outfile *f);
/* Ask the kernel to bring what was written to the disk. */
int rh_outfile_sync(struct rh_outfile *f, struct rh_error *err);
/* Sync, rename to PATH, close and free; also when it fails. */
int rh_outfile_finish(struct rh_outfile *f, struct rh_error *err);
/* Close and free after trouble, keeping what was written: as PATH if there is no such file, else as
 * PATH.partial.  Adds to err, which holds the trouble, where it is.  NULL is allowed for err. */
void rh_outfile_keep(struct rh_outfile *f, struct rh_error *err);
/* Close, free and remove PATH.partial.  NULL is allowed. */
void rh_outfile_discard(struct rh_outfile *f);

/* Both names lead to one existing file. */
bool rh_outfile_is_same(const char *path, const char *other);

#endif
