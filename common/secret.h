/*
 * common/secret.h
 *
 * Password literals that a statement's text holds: CREATE/ALTER ROLE, USER, GROUP ... PASSWORD '..';
 * CREATE/ALTER USER MAPPING ... OPTIONS (password '..'); CREATE/ALTER SERVER OPTIONS likewise;
 * CREATE/ALTER SUBSCRIPTION ... CONNECTION '..'; dblink('..password=..'), dblink_connect etc.
 */
#ifndef RH_COMMON_SECRET_H
#define RH_COMMON_SECRET_H

#include <stdbool.h>

#include "common/buf.h"
#include "common/span.h"

/* What replaces each password literal. */
#define RH_SECRET_MARKER "'<password removed by pgrehearse>'"

/* True if text holds such a literal; then *masked (cleared first) is the text with the marker in its
 * place.  False, and *masked untouched, otherwise.  Cheap for texts without the words. */
bool rh_secret_mask(struct rh_span text, struct rh_buf *masked);

#endif
