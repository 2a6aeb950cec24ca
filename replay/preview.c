#include "replay/preview.h"

#include <string.h>

#include "common/alloc.h"
#include "common/json.h"
#include "common/sql_effect.h"
#include "common/stop.h"
#include "formats/trace_reader.h"

/* So often it is looked whether a stop was asked for. */
enum { RECORDS_A_LOOK = 4096 };

static bool is_ascii(struct rh_span s)
{
    for (size_t i = 0; i < s.len; i++) {
        if ((unsigned char) s.data[i] > 127) {
            return false;
        }
    }
    return true;
}

/* A template, its literals and the parameters are whole characters each: a cut lies at ASCII. */
static void look_at(struct rh_span s, bool *beyond_ascii, bool *not_utf8)
{
    if (s.data && !is_ascii(s)) {
        *beyond_ascii = true;
        *not_utf8 = *not_utf8 || !rh_json_is_utf8(s);
    }
}

static void look_at_texts(const struct rh_record *r, struct rh_preview_texts *texts)
{
    bool beyond_ascii = false, not_utf8 = false;
    look_at(r->text, &beyond_ascii, &not_utf8);
    look_at(r->tmpl, &beyond_ascii, &not_utf8);
    for (uint32_t i = 0; i < r->literal_count; i++) {
        look_at(r->literals[i], &beyond_ascii, &not_utf8);
    }
    for (uint32_t i = 0; i < r->param_count; i++) {
        if (r->params[i].format == 0) {
            look_at(rh_span(r->params[i].data, r->params[i].len), &beyond_ascii, &not_utf8);
        }
    }
    texts->beyond_ascii += beyond_ascii;
    texts->not_utf8 += not_utf8;
}

/* What acts beyond its database is counted, and the first few kinds are kept for examples. */
static void look_at_reach(const struct rh_record *r, struct rh_preview *preview)
{
    const char *kind = r->text.data ? rh_sql_reach(r->text, false) : NULL;
    kind = r->tmpl.data ? rh_sql_reach(r->tmpl, true) : kind;
    if (!kind) {
        return;
    }
    uint32_t i = 0;
    while (i < preview->reach_count && strcmp(preview->reaches[i].kind, kind) != 0) {
        i++;
    }
    if (i == RH_PREVIEW_REACHES) {
        preview->reaches_beyond++;
        return;
    }
    if (i == preview->reach_count) {
        preview->reaches[preview->reach_count++] =
            (struct rh_preview_reach){.kind = kind, .session = r->session, .ordinal = r->ordinal};
    }
    preview->reaches[i].count++;
}

static void take_record(struct rh_preview *preview, const struct rh_plan *plan,
                        struct rh_identities *ids, struct rh_record *r)
{
    const struct rh_plan_session *ps = rh_map_get(&plan->by_number, r->session);
    if (!ps || !rh_kind_is_statement(r->kind)) {
        return;
    }
    rh_plan_judge(plan, ps, r); /* of all copies alike */
    if (r->run.reason != RH_REASON_NONE) {
        preview->held[r->run.reason] += plan->scale;
        return;
    }
    preview->statements += plan->scale;
    look_at_reach(r, preview);
    uint32_t number = ids->of_session[ps - plan->sessions];
    if (number != UINT32_MAX) {
        ids->items[number].statements += plan->scale;
        look_at_texts(r, &preview->texts[number]);
    }
}

int rh_preview_read(struct rh_preview *preview, const struct rh_plan *plan,
                    struct rh_trace_file *file, struct rh_identities *ids, struct rh_error *err)
{
    struct rh_trace_reader *reader = NULL;
    struct rh_record r;
    *preview = (struct rh_preview){0};
    preview->texts = rh_calloc(ids->count ? ids->count : 1, sizeof *preview->texts);
    for (uint32_t i = 0; i < ids->count; i++) {
        ids->items[i].statements = 0;
    }
    int got = rh_trace_reader_open(&reader, file, plan->from_ns, plan->to_ns, err);
    if (got != 0) {
        goto out;
    }
    for (uint64_t n = 0; (got = rh_trace_reader_next(reader, &r, err)) == 1; n++) {
        take_record(preview, plan, ids, &r);
        if (n % RECORDS_A_LOOK == 0 && rh_stop_requested()) {
            got = rh_error_set(err, RH_ERR_STOPPED, "stopped");
            break;
        }
    }
    preview->damaged_blocks = rh_trace_reader_damaged(reader, NULL);
    rh_trace_reader_close(reader);

out:
    if (got != 0) {
        rh_preview_release(preview);
    }
    return got;
}

void rh_preview_release(struct rh_preview *preview)
{
    rh_free(preview->texts);
    preview->texts = NULL;
}
