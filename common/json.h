/*
 * common/json.h
 *
 * Streaming JSON writer into a buffer.  Commas, colons and, when asked for, line breaks are its
 * business; a value out of place is a bug and asserts.  Text that is not valid UTF-8 is written
 * with each bad byte as U+FFFD by rh_json_text(), which then returns true.
 */
#ifndef RH_COMMON_JSON_H
#define RH_COMMON_JSON_H

#include <stdbool.h>
#include <stdint.h>

#include "common/buf.h"
#include "common/span.h"

enum { RH_JSON_DEPTH_MAX = 16 };

struct rh_json {
    struct rh_buf *out;
    bool pretty; /* line breaks and two blanks a level */
    bool after_key;
    int depth;
    bool has_items[RH_JSON_DEPTH_MAX];
    char closers[RH_JSON_DEPTH_MAX];
};

void rh_json_init(struct rh_json *j, struct rh_buf *out, bool pretty);
void rh_json_open(struct rh_json *j, char bracket); /* '{' or '[' */
void rh_json_close(struct rh_json *j);
void rh_json_key(struct rh_json *j, const char *key);
void rh_json_null(struct rh_json *j);
void rh_json_bool(struct rh_json *j, bool v);
void rh_json_int(struct rh_json *j, int64_t v);
/* Not finite: null. */
void rh_json_double(struct rh_json *j, double v, int decimals);
/* With so many digits, as 1.5e-12 where it is small. */
void rh_json_digits(struct rh_json *j, double v, int digits);
void rh_json_cstr(struct rh_json *j, const char *text); /* NULL: null */
/* No value: null.  True when bytes had to be replaced because they are not UTF-8. */
bool rh_json_text(struct rh_json *j, struct rh_span s);
/* A text value made in pieces: between the two, append to `out` what needs no escapes. */
void rh_json_open_text(struct rh_json *j);
void rh_json_close_text(struct rh_json *j);
/* Whether rh_json_text() would have nothing to replace. */
bool rh_json_is_utf8(struct rh_span s);
/* ISO 8601; INT64_MIN: null. */
void rh_json_time(struct rh_json *j, int64_t wall_ns);

#endif
