#include "diff/example_texts.h"

#include <math.h>
#include <stdlib.h>

#include "common/alloc.h"
#include "common/stop.h"
#include "diff/error_table.h"
#include "formats/trace_reader.h"

enum { CHECK_EVERY = 4096 };

static int order_identity(const void *a, const void *b)
{
    const struct rh_example_text *x = a;
    const struct rh_example_text *y = b;
    if (x->part != y->part) {
        return x->part < y->part ? -1 : 1;
    }
    if (x->session != y->session) {
        return x->session < y->session ? -1 : 1;
    }
    if (x->copy != y->copy) {
        return x->copy < y->copy ? -1 : 1;
    }
    return (x->ordinal > y->ordinal) - (x->ordinal < y->ordinal);
}

/* From both ends of the ranking, as those between changed least. */
static void choose(struct rh_example_texts *t, const struct rh_result *r)
{
    uint32_t each = RH_EXAMPLE_TEXTS_MAX / 2;
    t->items = rh_calloc(RH_EXAMPLE_TEXTS_MAX, sizeof *t->items);
    for (uint32_t i = 0; i < r->query_count; i++) {
        const struct rh_slowed_pair *slowed = &r->queries[i].query->slowed;
        bool taken = i < each || r->query_count - i <= each;
        if (taken && slowed->ordinal > 0) {
            t->items[t->count++] = (struct rh_example_text){.part = slowed->part,
                                                            .session = slowed->session,
                                                            .copy = slowed->copy,
                                                            .ordinal = slowed->ordinal};
        }
    }
    qsort(t->items, t->count, sizeof *t->items, order_identity);
}

static struct rh_example_text *find(const struct rh_example_texts *t, uint32_t part,
                                    uint32_t session, uint32_t copy, uint64_t ordinal)
{
    struct rh_example_text key = {
        .part = part, .session = session, .copy = copy, .ordinal = ordinal};
    return t->count ? bsearch(&key, t->items, t->count, sizeof key, order_identity) : NULL;
}

static void take_text(struct rh_trace_reader *reader, struct rh_record *r,
                      struct rh_example_text *e)
{
    char text[RH_EXAMPLE_TEXT_MAX];
    if (e->text || !rh_trace_reader_complete(reader, r)) {
        return;
    }
    e->text_len = rh_record_text_head(r, text, sizeof text, &e->text_cut);
    e->text = rh_memdup(text, e->text_len);
}

static int read_part(struct rh_example_texts *t, struct rh_trace_file *file, uint32_t part,
                     struct rh_error *err)
{
    struct rh_trace_reader *reader;
    struct rh_record record;
    uint32_t since_check = 0;
    int rc;
    if (rh_trace_reader_open(&reader, file, INT64_MIN, INT64_MAX, err) != 0) {
        return -1;
    }
    rh_trace_reader_want(reader, RH_WANT_OUTCOMES);
    while ((rc = rh_trace_reader_next(reader, &record, err)) > 0) {
        struct rh_example_text *e = find(t, part, record.session, record.copy, record.ordinal);
        if (e) {
            take_text(reader, &record, e);
        }
        if (++since_check == CHECK_EVERY) {
            since_check = 0;
            if (rh_stop_requested()) {
                rc = rh_error_set(err, RH_ERR_STOPPED, "stopped while examples were read");
                break;
            }
        }
    }
    rh_trace_reader_close(reader);
    return rc;
}

int rh_example_texts_read(struct rh_example_texts *t, const struct rh_result *r,
                          struct rh_error *err)
{
    const struct rh_comparison *c = r->comparison;
    int rc = 0;
    *t = (struct rh_example_texts){0};
    choose(t, r);
    for (uint32_t i = 0; i < c->part_count && rc == 0; i++) {
        rc = read_part(t, c->parts[i].file[RH_BASE], i, err);
    }
    return rc;
}

void rh_example_texts_release(struct rh_example_texts *t)
{
    for (uint32_t i = 0; i < t->count; i++) {
        rh_free(t->items[i].text);
    }
    rh_free(t->items);
    *t = (struct rh_example_texts){0};
}

const struct rh_example_text *rh_example_texts_find(const struct rh_example_texts *t,
                                                    const struct rh_slowed_pair *pair)
{
    const struct rh_example_text *e = find(t, pair->part, pair->session, pair->copy, pair->ordinal);
    return e && e->text ? e : NULL;
}
