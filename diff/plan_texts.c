#include "diff/plan_texts.h"

#include <inttypes.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/alloc.h"
#include "formats/plan_mask.h"
#include "formats/report_file.h"

static bool read_fingerprint(const char *text, uint64_t *fingerprint)
{
    char *end;
    if (!text || strlen(text) != 16 || strspn(text, "0123456789abcdef") != 16) {
        return false;
    }
    *fingerprint = strtoull(text, &end, 16);
    return *end == '\0';
}

static char *copy_cut(const char *prefix, const char *text)
{
    size_t before = strlen(prefix), len = strlen(text);
    len = len > RH_PLAN_TEXT_MAX ? RH_PLAN_TEXT_MAX : len;
    while (len > 0 && ((unsigned char) text[len] & 0xc0) == 0x80) {
        len--; /* within a character */
    }
    char *copy = rh_calloc(before + len + 1, 1);
    memcpy(copy, prefix, before);
    memcpy(copy + before, text, len);
    return copy;
}

/* Takes *text. */
static char *mask(char *text, void (*masks)(struct rh_buf *out, struct rh_span text))
{
    struct rh_buf out;
    rh_buf_init(&out, 2 * (size_t) RH_PLAN_TEXT_MAX);
    masks(&out, rh_span_cstr(text));
    rh_free(text);
    text = copy_cut("", rh_buf_cstr(&out));
    rh_buf_release(&out);
    return text;
}

static char *side_text(const json_t *plans, const char *side, bool masked)
{
    const json_t *object = json_object_get(plans, side);
    const char *text = json_string_value(json_object_get(object, "text"));
    const char *error = json_string_value(json_object_get(object, "error"));
    if (text) {
        char *plan = copy_cut("", text);
        return masked ? mask(plan, rh_plan_text_mask) : plan;
    }
    if (error) {
        char *why = copy_cut("", error);
        why = masked ? mask(why, rh_plan_error_mask) : why;
        char *told = copy_cut("error: ", why);
        rh_free(why);
        return told;
    }
    return copy_cut("", "(not asked)");
}

static struct rh_plan_pair take_pair(const json_t *plans, bool masked)
{
    return (struct rh_plan_pair){
        .differ = json_is_true(json_object_get(plans, "differ")),
        .text = {side_text(plans, "base", masked), side_text(plans, "candidate", masked)},
    };
}

static void take(struct rh_plan_texts *p, size_t *cap, const json_t *query, bool with_values)
{
    const json_t *plans = json_object_get(query, "plans");
    const json_t *call = json_object_get(plans, "call");
    uint64_t fingerprint;
    if (!json_is_object(plans) || p->count == RH_PLAN_TEXTS_MAX ||
        !read_fingerprint(json_string_value(json_object_get(query, "fingerprint")), &fingerprint)) {
        return;
    }
    RH_GROW(p->items, p->count, *cap);
    struct rh_plan_text *plan = &p->items[p->count++];
    *plan = (struct rh_plan_text){.fingerprint = fingerprint, .any = take_pair(plans, false)};
    if (rh_report_file_count(call, "ordinal") > 0) {
        plan->call = take_pair(call, !with_values);
        plan->session = (uint32_t) rh_report_file_count(call, "session");
        plan->copy = (uint32_t) rh_report_file_count(call, "copy");
        plan->ordinal = rh_report_file_count(call, "ordinal");
        plan->values_shown = with_values && json_is_true(json_object_get(call, "values_shown"));
    }
}

int rh_plan_texts_read(struct rh_plan_texts *p, const char *path, bool with_values,
                       struct rh_error *err)
{
    *p = (struct rh_plan_texts){0};
    json_t *root = rh_report_file_read(path, "a report with plans", "", err), *query;
    size_t index, cap = 0;
    if (!root) {
        return -1;
    }
    json_t *queries = json_object_get(root, "queries");
    bool is_report = json_is_array(queries);
    json_array_foreach(queries, index, query)
    {
        take(p, &cap, query, with_values);
    }
    json_decref(root);
    if (!is_report) {
        return rh_error_set(err, RH_ERR_FORMAT, "\"%s\" is no report of pgrehearse explain", path);
    }
    if (p->count == 0) {
        return rh_error_set(err, RH_ERR_USAGE,
                            "\"%s\" has no plans: pgrehearse explain puts them into a report",
                            path);
    }
    return 0;
}

static void release_pair(struct rh_plan_pair *pair)
{
    rh_free(pair->text[RH_BASE]);
    rh_free(pair->text[RH_CANDIDATE]);
}

void rh_plan_texts_release(struct rh_plan_texts *p)
{
    for (uint32_t i = 0; i < p->count; i++) {
        release_pair(&p->items[i].any);
        release_pair(&p->items[i].call);
    }
    rh_free(p->items);
    *p = (struct rh_plan_texts){0};
}

const struct rh_plan_text *rh_plan_texts_find(const struct rh_plan_texts *p, uint64_t fingerprint)
{
    for (uint32_t i = 0; p && i < p->count; i++) {
        if (p->items[i].fingerprint == fingerprint) {
            return &p->items[i];
        }
    }
    return NULL;
}

void rh_plan_text_name_call(const struct rh_plan_text *plan, struct rh_buf *out)
{
    rh_buf_addf(out, "call %" PRIu64 " of session %" PRIu32, plan->ordinal, plan->session);
    if (plan->copy > 0) {
        rh_buf_addf(out, ", copy %" PRIu32, plan->copy);
    }
    rh_buf_addf(out, ", by its own values%s", plan->values_shown ? "" : " (each shown as ?)");
}

static void put_pair(struct rh_json *j, const struct rh_plan_pair *pair)
{
    rh_json_key(j, "differ");
    rh_json_bool(j, pair->differ);
    rh_json_key(j, "base");
    rh_json_cstr(j, pair->text[RH_BASE]);
    rh_json_key(j, "candidate");
    rh_json_cstr(j, pair->text[RH_CANDIDATE]);
}

static void put_call(struct rh_json *j, const struct rh_plan_text *plan)
{
    struct rh_buf name;
    rh_json_key(j, "call");
    if (plan->ordinal == 0) {
        rh_json_null(j);
        return;
    }
    rh_buf_init(&name, 200);
    rh_plan_text_name_call(plan, &name);
    rh_json_open(j, '{');
    rh_json_key(j, "name");
    rh_json_cstr(j, rh_buf_cstr(&name));
    put_pair(j, &plan->call);
    rh_json_close(j);
    rh_buf_release(&name);
}

void rh_json_plan_texts(struct rh_json *j, const struct rh_plan_texts *p)
{
    rh_json_key(j, "plans");
    rh_json_open(j, '{');
    for (uint32_t i = 0; p && i < p->count; i++) {
        char key[17];
        snprintf(key, sizeof key, "%016" PRIx64, p->items[i].fingerprint);
        rh_json_key(j, key);
        rh_json_open(j, '{');
        put_pair(j, &p->items[i].any);
        put_call(j, &p->items[i]);
        rh_json_close(j);
    }
    rh_json_close(j);
}
