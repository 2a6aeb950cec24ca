/*
 * capture/redactor.h
 *
 * Takes what users typed out of statements: every literal of a text becomes 0, 'x', B'0' or X'0'
 * after its kind, every comment an empty one, every parameter 0 or x (NULL stays).  The rest, names
 * in double quotes too, stays as it is, so that the text has the template it had.
 *
 * Where it is not certain how far a literal or a name in quotes goes (a backslash before a quote,
 * which depends on standard_conforming_strings; a name that does not end; more literals than a
 * template holds), one placeholder stands for the rest of the text.
 */
#ifndef RH_CAPTURE_REDACTOR_H
#define RH_CAPTURE_REDACTOR_H

#include "common/buf.h"
#include "common/sql_template.h"
#include "formats/record.h"

struct rh_redactor {
    struct rh_buf tmpl;
    struct rh_literals literals;
};

void rh_redactor_init(struct rh_redactor *r);
void rh_redactor_release(struct rh_redactor *r);
/* out is cleared first; text must not lie in it. */
void rh_redactor_text(struct rh_redactor *r, struct rh_span text, struct rh_buf *out);
void rh_redactor_params(struct rh_param *params, uint32_t count);

#endif
