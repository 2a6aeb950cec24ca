/*
 * diff/gate_list.h
 *
 * The gates of one comparison: from the command line, and from a file that a project keeps beside
 * its code.
 *
 * The file has one gate a line, NAME = LIMIT, below a line [gates], which may be left out.  Empty
 * lines, and what follows a # or ; at the start of a line or after a blank, tell nothing.
 */
#ifndef RH_DIFF_GATE_LIST_H
#define RH_DIFF_GATE_LIST_H

#include <stddef.h>

#include "common/error.h"
#include "diff/gates.h"

struct rh_gate_list {
    struct rh_gate items[RH_GATE_COUNT]; /* no kind twice */
    size_t count;
};

enum { RH_GATE_FILE_BYTES_MAX = 64 * 1024 };

/* "new-errors=0".  A kind that is there is an error. */
int rh_gate_list_add(struct rh_gate_list *list, const char *text, struct rh_error *err);
/* The gates of a file, "-" for standard input.  Kinds that the list had before keep their limit;
 * one that the file names twice is an error, as is a file that names none.  Errors name the file
 * and the line. */
int rh_gate_list_read(struct rh_gate_list *list, const char *path, struct rh_error *err);

#endif
