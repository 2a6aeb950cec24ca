/*
 * common/secret.h
 *
 * Password literals that a statement's text holds:
 *
 * - CREATE or ALTER ROLE, USER, GROUP ... PASSWORD: what stands behind PASSWORD unless it is NULL
 * or another clause; also the quoted name or bare word of a statement that failed;
 * - CREATE or ALTER USER MAPPING, SERVER, FOREIGN ... OPTIONS: values of options that end in
 *   "password" or "passwd", and values that are connection strings with a password;
 * - CREATE or ALTER SUBSCRIPTION, ALTER SYSTEM SET, and arguments of functions whose name starts
 *   with "dblink": strings with `password =` or a URI with user:password@;
 * - anywhere: a string that is plainly a connection string with a password (`password=` beside
 * host, dbname or user; postgresql://user:password@), or that itself holds `PASSWORD ''...`;
 * - all of these inside a dollar-quoted string (DO, function bodies).
 *
 * Names and strings that hide the word behind escapes are not seen through.
 */
#ifndef RH_COMMON_SECRET_H
#define RH_COMMON_SECRET_H

#include <stdbool.h>

#include "common/buf.h"
#include "common/span.h"

/* What replaces each password literal. */
#define RH_SECRET_MARKER "'<password removed by pgrehearse>'"

/* True if text holds such a literal; then *masked (cleared first) is the text with the marker in
 * its place.  False, and *masked untouched, otherwise.  Cheap for texts without the words.  Where a
 * backslash before the closing quote leaves open how far the literal goes
 * (standard_conforming_strings = off) the marker stands for the rest of the text. */
bool rh_secret_mask(struct rh_span text, struct rh_buf *masked);

#endif
