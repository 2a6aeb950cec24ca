#include "formats/record_query.h"

#include <inttypes.h>

#include "common/fingerprint.h"
#include "common/hash.h"
#include "common/sql_template.h"

static enum rh_query_text name_it(const struct rh_record *r, struct rh_buf *whole,
                                  struct rh_span *text)
{
    rh_buf_clear(whole);
    if (r->kind == RH_KIND_FUNCTION) {
        rh_buf_addf(whole, "(function call %" PRIu32 ")", r->function_oid);
    } else {
        rh_buf_add_cstr(whole, "(text unknown)");
    }
    *text = rh_buf_span(whole);
    return RH_QUERY_NAMED;
}

enum rh_query_text rh_record_query(const struct rh_record *r, struct rh_buf *whole,
                                   struct rh_span *text)
{
    if (r->kind == RH_KIND_FUNCTION) {
        return name_it(r, whole, text);
    }
    if (!r->tmpl.data) {
        if (!r->text.data) {
            return name_it(r, whole, text);
        }
        *text = r->text;
        return RH_QUERY_WHOLE;
    }
    if (r->literal_count >= RH_TEMPLATE_SLOTS_MAX) {
        /* The last literal is the rest of the text, so the template does not tell the query. */
        rh_buf_clear(whole);
        if (rh_record_text(r, whole) == 0) {
            *text = rh_buf_span(whole);
            return RH_QUERY_WHOLE;
        }
    }
    *text = r->tmpl;
    return RH_QUERY_TEMPLATE;
}

uint64_t rh_query_fingerprint(enum rh_query_text kind, struct rh_span text, struct rh_buf *scratch)
{
    return kind == RH_QUERY_NAMED ? rh_hash_stable(text)
                                  : rh_fingerprint(text, kind == RH_QUERY_TEMPLATE, scratch);
}
