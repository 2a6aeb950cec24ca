#include "diff/plan_texts.h"

#include <inttypes.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/alloc.h"
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

static char *side_text(const json_t *plans, const char *side)
{
    const json_t *object = json_object_get(plans, side);
    const char *text = json_string_value(json_object_get(object, "text"));
    const char *error = json_string_value(json_object_get(object, "error"));
    return text    ? copy_cut("", text)
           : error ? copy_cut("error: ", error)
                   : copy_cut("", "(not asked)");
}

static void take(struct rh_plan_texts *p, size_t *cap, const json_t *query)
{
    const json_t *plans = json_object_get(query, "plans");
    uint64_t fingerprint;
    if (!json_is_object(plans) || p->count == RH_PLAN_TEXTS_MAX ||
        !read_fingerprint(json_string_value(json_object_get(query, "fingerprint")), &fingerprint)) {
        return;
    }
    RH_GROW(p->items, p->count, *cap);
    p->items[p->count++] = (struct rh_plan_text){
        .fingerprint = fingerprint,
        .differ = json_is_true(json_object_get(plans, "differ")),
        .text = {side_text(plans, "base"), side_text(plans, "candidate")},
    };
}

int rh_plan_texts_read(struct rh_plan_texts *p, const char *path, struct rh_error *err)
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
        take(p, &cap, query);
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

void rh_plan_texts_release(struct rh_plan_texts *p)
{
    for (uint32_t i = 0; i < p->count; i++) {
        rh_free(p->items[i].text[RH_BASE]);
        rh_free(p->items[i].text[RH_CANDIDATE]);
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

void rh_json_plan_texts(struct rh_json *j, const struct rh_plan_texts *p)
{
    rh_json_key(j, "plans");
    rh_json_open(j, '{');
    for (uint32_t i = 0; p && i < p->count; i++) {
        char key[17];
        snprintf(key, sizeof key, "%016" PRIx64, p->items[i].fingerprint);
        rh_json_key(j, key);
        rh_json_open(j, '{');
        rh_json_key(j, "differ");
        rh_json_bool(j, p->items[i].differ);
        rh_json_key(j, "base");
        rh_json_cstr(j, p->items[i].text[RH_BASE]);
        rh_json_key(j, "candidate");
        rh_json_cstr(j, p->items[i].text[RH_CANDIDATE]);
        rh_json_close(j);
    }
    rh_json_close(j);
}
