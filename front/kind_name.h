/*
 * front/kind_name.h
 *
 * The names by which info and show call things; once published they stay.
 */
#ifndef RH_FRONT_KIND_NAME_H
#define RH_FRONT_KIND_NAME_H

#include "formats/record.h"

/* "query", "execute", ... "copy-data"; "unknown". */
const char *rh_kind_name(enum rh_kind kind);
/* The kind of a name, or -1. */
int rh_kind_by_name(const char *name);
/* "done", "lost", "skipped", "not-sent"; NULL for RH_FATE_NONE. */
const char *rh_fate_name(enum rh_fate fate);

#endif
