/*
 * formats/report_file.h
 *
 * The report of pgrehearse diff --format json (docs/REPORT.md), as a tree of jansson's.  A library
 * of its own (rh_report_file), since capture reads none and links no jansson.
 */
#ifndef RH_FORMATS_REPORT_FILE_H
#define RH_FORMATS_REPORT_FILE_H

#include <stdint.h>

#include "common/error.h"

struct json_t;

/* A larger file is no report of ours. */
enum { RH_REPORT_FILE_MAX_BYTES = 256 * 1024 * 1024 };

/* The caller's, to be given back by json_decref(); NULL: it cannot be read (RH_ERR_IO), is too
 * large (RH_ERR_LIMIT) or no JSON (RH_ERR_FORMAT).  `what` it is to be, and `hint`, behind the
 * reason why it is no JSON, stand in the message. */
struct json_t *rh_report_file_read(const char *path, const char *what, const char *hint,
                                   struct rh_error *err);
/* A member that counts or numbers something; 0: there is none, or it is no such. */
uint64_t rh_report_file_count(const struct json_t *object, const char *key);

#endif
