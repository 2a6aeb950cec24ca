/*
 * diff/escape.h
 *
 * Foreign text (SQL, names of files, reasons) inside the formats of reports.  Whatever its bytes,
 * it stays text there.  Bytes that are not UTF-8, and characters that a format cannot hold, become
 * U+FFFD.
 */
#ifndef RH_DIFF_ESCAPE_H
#define RH_DIFF_ESCAPE_H

#include <stddef.h>
#include <stdint.h>

#include "common/buf.h"
#include "common/span.h"

/* The character that s (not empty) begins with, and its length; -1 and 1 for what is no UTF-8
 * (RFC 3629). */
int32_t rh_utf8_next(struct rh_span s, size_t *len);

/* A quoted field (RFC 4180).  Before a text that a spreadsheet would take for a formula (it begins
 * with = + - @, a tab or a carriage return) stands an apostrophe. */
void rh_escape_csv(struct rh_buf *out, struct rh_span s);

/* For the text of an element and for an attribute in double quotes (XML 1.0). */
void rh_escape_xml(struct rh_buf *out, struct rh_span s);

/* One line of text as code in Markdown, also in a cell of a table: between backticks where that
 * holds it as it is, else as <code> with references.  At most max_columns of it, "..." where it was
 * cut. */
void rh_escape_markdown(struct rh_buf *out, struct rh_span s, unsigned max_columns);

#endif
