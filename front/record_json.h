/*
 * front/record_json.h
 *
 * One record of a trace or run as a JSON object: the form that `pgrehearse show` publishes.
 */
#ifndef RH_FRONT_RECORD_JSON_H
#define RH_FRONT_RECORD_JSON_H

#include <stdbool.h>

#include "common/buf.h"
#include "common/json.h"
#include "formats/record.h"

/*
 * Appends the object.  Fields that every record has are null where they are unknown; others are
 * left out.  A text under KEY that is not UTF-8 has U+FFFD for its bad bytes, KEY_is_not_utf8:
 * true, and all of its bytes as KEY_hex.  scratch is cleared and used for texts.
 */
void rh_record_json(struct rh_json *j, const struct rh_record *r, const struct rh_session *session,
                    bool is_run, struct rh_buf *scratch);

#endif
