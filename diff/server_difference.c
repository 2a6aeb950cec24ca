#include "diff/server_difference.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/alloc.h"
#include "diff/json_put.h"

/* A step of PostgreSQL's units, as guc.c has them (memory_unit_conversion_table, time_...). */
struct unit {
    const char *name;
    int64_t size;
};

static const struct unit memory_units[] = {
    {"TB", INT64_C(1) << 40}, {"GB", 1 << 30}, {"MB", 1 << 20}, {"kB", 1 << 10}, {"B", 1}};
static const struct unit time_units[] = {{"d", INT64_C(86400000000)},
                                         {"h", INT64_C(3600000000)},
                                         {"min", 60000000},
                                         {"s", 1000000},
                                         {"ms", 1000},
                                         {"us", 1}};

static bool find_unit(const struct unit *units, size_t count, const char *text, int64_t *size)
{
    char *name;
    long times = strtol(text, &name, 10);
    times = name == text ? 1 : times;
    for (size_t i = 0; i < count && times > 0 && times <= 1 << 20; i++) {
        if (strcmp(units[i].name, name) == 0) {
            *size = times * units[i].size;
            return true;
        }
    }
    return false;
}

/* In the largest unit that leaves no rest. */
static bool scale(const struct unit *units, size_t count, long long value, const char *unit,
                  char text[RH_SERVER_VALUE_SIZE])
{
    int64_t size, whole;
    if (!find_unit(units, count, unit, &size) || __builtin_mul_overflow(value, size, &whole)) {
        return false;
    }
    for (size_t i = 0; i < count; i++) {
        if (whole % units[i].size == 0) {
            snprintf(text, RH_SERVER_VALUE_SIZE, "%" PRId64 "%s", whole / units[i].size,
                     units[i].name);
            return true;
        }
    }
    return false;
}

static void value_text(const struct rh_server_fact *fact, char text[RH_SERVER_VALUE_SIZE])
{
    char unit[16], *end;
    snprintf(text, RH_SERVER_VALUE_SIZE, "%.*s", (int) fact->value.len,
             fact->value.len ? fact->value.data : "");
    if (fact->value.len == 0) {
        snprintf(text, RH_SERVER_VALUE_SIZE, "''");
    }
    long long value = strtoll(text, &end, 10);
    if (fact->unit.len == 0 || fact->unit.len >= sizeof unit || *end != '\0' || value <= 0) {
        return;
    }
    snprintf(unit, sizeof unit, "%.*s", (int) fact->unit.len, fact->unit.data);
    if (!scale(memory_units, sizeof memory_units / sizeof memory_units[0], value, unit, text)) {
        scale(time_units, sizeof time_units / sizeof time_units[0], value, unit, text);
    }
}

static bool is_override(const struct rh_server_fact *f)
{
    return rh_span_is(f->kind, "override");
}

static const struct rh_server_fact *find(const struct rh_trace_header *h,
                                         const struct rh_server_fact *wanted)
{
    for (uint32_t i = 0; i < h->server_fact_count; i++) {
        const struct rh_server_fact *f = &h->server_facts[i];
        if (rh_span_equal(f->kind, wanted->kind) && rh_span_equal(f->name, wanted->name) &&
            rh_span_equal(f->database, wanted->database) &&
            (!is_override(f) || rh_span_equal(f->source, wanted->source))) {
            return f;
        }
    }
    return NULL;
}

/* Whether it is known of a server that it has no such fact. */
static bool lacks(const struct rh_trace_header *h, const struct rh_server_fact *fact)
{
    if (rh_span_is(fact->kind, "extension")) {
        return rh_server_facts_cover(h->server_facts, h->server_fact_count, fact->database);
    }
    return rh_span_is(fact->kind, "setting") || is_override(fact);
}

/* The time differs always. */
static bool is_compared(const struct rh_server_fact *fact)
{
    return !rh_span_is(fact->name, "last_analyzed") || !rh_span_is(fact->kind, "statistics");
}

/* The settings that matter are stored by their defaults too: where one side alone has such a
 * default, the other side's version has no such setting. */
static bool is_of_one_version(const struct rh_server_fact *fact)
{
    return rh_span_is(fact->kind, "setting") && rh_span_is(fact->source, "default");
}

static void absent_text(const struct rh_server_fact *fact, char text[RH_SERVER_VALUE_SIZE])
{
    snprintf(text, RH_SERVER_VALUE_SIZE, "%s",
             !rh_span_is(fact->kind, "setting") ? "(none)"
             : is_of_one_version(fact)          ? "(not there)"
                                                : "(default)");
}

static void add(struct rh_server_differences *d, size_t *cap, const struct rh_server_fact *base,
                const struct rh_server_fact *candidate)
{
    const struct rh_server_fact *any = base ? base : candidate;
    RH_GROW(d->items, d->count, *cap);
    struct rh_server_difference *item = &d->items[d->count++];
    *item = (struct rh_server_difference){
        .kind = any->kind,
        .database = any->database,
        .name = any->name,
        .role = is_override(any) ? any->source : RH_SPAN_NONE,
        .sides = {base, candidate},
    };
    for (int side = 0; side < RH_SIDES; side++) {
        if (item->sides[side]) {
            value_text(item->sides[side], item->text[side]);
        } else {
            absent_text(any, item->text[side]);
        }
    }
}

static int rank(struct rh_span kind)
{
    static const char *const kinds[] = {"setting", "override", "extension", "database",
                                        "statistics"};
    int count = (int) (sizeof kinds / sizeof kinds[0]), i = 0;
    while (i < count && !rh_span_is(kind, kinds[i])) {
        i++;
    }
    return i;
}

/* Of settings: both sides have their own, one has the default, one cannot know it. */
static int rank_setting(const struct rh_server_difference *d)
{
    const struct rh_server_fact *one =
        d->sides[RH_BASE] ? d->sides[RH_BASE] : d->sides[RH_CANDIDATE];
    bool both = d->sides[RH_BASE] && d->sides[RH_CANDIDATE];
    return both || !rh_span_is(d->kind, "setting") ? 0 : is_of_one_version(one) ? 2 : 1;
}

static int compare_spans(struct rh_span a, struct rh_span b)
{
    size_t len = a.len < b.len ? a.len : b.len;
    int order = len ? memcmp(a.data, b.data, len) : 0;
    return order ? order : (a.len > b.len) - (a.len < b.len);
}

static int order(const void *a, const void *b)
{
    const struct rh_server_difference *x = a, *y = b;
    int by = rank(x->kind) - rank(y->kind);
    by = by ? by : compare_spans(x->kind, y->kind);
    by = by ? by : rank_setting(x) - rank_setting(y);
    by = by ? by : compare_spans(x->name, y->name);
    by = by ? by : compare_spans(x->database, y->database);
    return by ? by : compare_spans(x->role, y->role);
}

void rh_server_differences_make(struct rh_server_differences *d, const struct rh_trace_header *base,
                                const struct rh_trace_header *candidate)
{
    size_t cap = 0;
    *d = (struct rh_server_differences){.known = base->server_fact_count > 0 &&
                                                 candidate->server_fact_count > 0};
    for (uint32_t i = 0; d->known && i < base->server_fact_count; i++) {
        const struct rh_server_fact *fact = &base->server_facts[i];
        const struct rh_server_fact *twin = find(candidate, fact);
        if (is_compared(fact) && (twin ? !rh_span_equal(fact->value, twin->value) ||
                                             !rh_span_equal(fact->unit, twin->unit)
                                       : lacks(candidate, fact))) {
            add(d, &cap, fact, twin);
        }
    }
    for (uint32_t i = 0; d->known && i < candidate->server_fact_count; i++) {
        const struct rh_server_fact *fact = &candidate->server_facts[i];
        if (is_compared(fact) && !find(base, fact) && lacks(base, fact)) {
            add(d, &cap, NULL, fact);
        }
    }
    if (d->count > 1) {
        qsort(d->items, d->count, sizeof *d->items, order);
    }
}

void rh_server_differences_release(struct rh_server_differences *d)
{
    rh_free(d->items);
    *d = (struct rh_server_differences){0};
}

void rh_server_difference_name(const struct rh_server_difference *d, struct rh_buf *out)
{
    rh_buf_add_span(out, d->name);
    if (d->role.data) {
        rh_buf_add_cstr(out, " of role ");
        rh_buf_add_span(out, d->role);
    }
    if (d->database.data) {
        rh_buf_add_cstr(out, " in ");
        rh_buf_add_span(out, d->database);
    }
}

static void put_side(struct rh_json *j, const char *key, const struct rh_server_fact *fact)
{
    rh_json_key(j, key);
    if (!fact) {
        rh_json_null(j);
        return;
    }
    rh_json_open(j, '{');
    rh_json_put_text(j, "value", fact->value);
    rh_json_put_text(j, "unit", fact->unit);
    rh_json_put_text(j, "source", is_override(fact) ? RH_SPAN_NONE : fact->source);
    rh_json_close(j);
}

void rh_json_server_differences(struct rh_json *j, const struct rh_server_differences *d)
{
    rh_json_key(j, "server_differences");
    if (!d || !d->known) {
        rh_json_null(j);
        return;
    }
    rh_json_open(j, '[');
    for (uint32_t i = 0; i < d->count; i++) {
        const struct rh_server_difference *item = &d->items[i];
        rh_json_open(j, '{');
        rh_json_put_text(j, "kind", item->kind);
        rh_json_put_text(j, "name", item->name);
        rh_json_put_text(j, "database", item->database);
        rh_json_put_text(j, "role", item->role);
        put_side(j, "base", item->sides[RH_BASE]);
        put_side(j, "candidate", item->sides[RH_CANDIDATE]);
        rh_json_put_text(j, "base_text", rh_span_cstr(item->text[RH_BASE]));
        rh_json_put_text(j, "candidate_text", rh_span_cstr(item->text[RH_CANDIDATE]));
        rh_json_close(j);
    }
    rh_json_close(j);
}
