/*
 * capture/log_files.h
 *
 * The files of one capture as one stream: given in any order, read in the order of their first
 * stamps; plain or compressed; "-" for standard input.
 */
#ifndef RH_CAPTURE_LOG_FILES_H
#define RH_CAPTURE_LOG_FILES_H

#include "capture/log_reader.h"

struct rh_log_files;

/*
 * Open the files and look at their beginnings.  -1 when one cannot be read or is no csvlog (the
 * text says what it is and what to do); files that are empty are left out, but not all may be.  So
 * is the server's ".log" or ".json" beside a ".csv" that is given too, with a warning.
 */
int rh_log_files_open(struct rh_log_files **out, const char *const *paths, size_t count,
                      struct rh_error *err);

/* The next entry of all files.  1, 0 at the end.  A file whose reading fails (damaged compression,
 * I/O) is left at that point, and *err says so with -1; the next call goes on with the next file.
 */
int rh_log_files_next(struct rh_log_files *f, struct rh_log_entry *e, struct rh_error *err);

struct rh_log_reader *rh_log_files_reader(struct rh_log_files *f);
uint32_t rh_log_files_count(const struct rh_log_files *f);
uint32_t rh_log_files_empty(const struct rh_log_files *f);
/* Size of all files and how much of it was read, in bytes on disk; 0 unknown. */
uint64_t rh_log_files_size_bytes(const struct rh_log_files *f);
uint64_t rh_log_files_consumed_bytes(const struct rh_log_files *f);
void rh_log_files_close(struct rh_log_files *f);

#endif
