#include "replay/write_filter.h"

#include "common/alloc.h"
#include "common/sql_effect.h"
#include "formats/pg_write.h"

/* A larger text is not kept. */
enum { KEEP_BYTES = 1024 * 1024 };

struct rh_write_filter {
    struct rh_buf text;
};

struct rh_write_filter *rh_write_filter_new(void)
{
    struct rh_write_filter *filter = rh_calloc(1, sizeof *filter);
    rh_buf_init(&filter->text, RH_PG_LARGE_MAX);
    return filter;
}

void rh_write_filter_free(struct rh_write_filter *filter)
{
    if (filter) {
        rh_buf_release(&filter->text);
        rh_free(filter);
    }
}

bool rh_write_filter_holds(struct rh_write_filter *filter, const struct rh_record *r)
{
    if (r->kind == RH_KIND_FUNCTION) {
        return true;
    }
    if (r->kind == RH_KIND_PROTOCOL || r->kind == RH_KIND_CANCEL) {
        return false; /* nothing is executed */
    }
    if (r->prepare_text.data && rh_sql_may_write(r->prepare_text)) {
        return true;
    }
    rh_buf_clear(&filter->text);
    bool holds =
        rh_record_text(r, &filter->text) != 0 || rh_sql_may_write(rh_buf_span(&filter->text));
    if (filter->text.cap > KEEP_BYTES) {
        rh_buf_release(&filter->text);
        rh_buf_init(&filter->text, RH_PG_LARGE_MAX);
    }
    return holds;
}
