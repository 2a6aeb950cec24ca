#include "replay/explain_report.h"

#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "common/alloc.h"
#include "common/buf.h"
#include "common/outfile.h"
#include "formats/plan_mask.h"
#include "formats/report_file.h"
#include "formats/trace_file.h"

enum {
    SHAPE_MAX_BYTES = 1 << 20,
    MASKED_MAX_BYTES = 4 << 20,
    SHAPE_DEPTH_MAX = 200,
    REAL_DIGITS = 15
};

static bool is_report(const json_t *root)
{
    const char *tool = json_string_value(json_object_get(root, "tool"));
    return tool && strncmp(tool, "pgrehearse ", 11) == 0 &&
           json_is_array(json_object_get(root, "queries"));
}

static bool is_listed(const struct rh_str_list *list, const char *text)
{
    for (size_t i = 0; text && i < list->count; i++) {
        if (strcmp(list->items[i], text) == 0) {
            return true;
        }
    }
    return false;
}

static struct rh_explain_call call_of(const json_t *query, const char *fingerprint)
{
    const json_t *slowed = json_object_get(query, "slowed_most");
    return (struct rh_explain_call){
        .part = (uint32_t) rh_report_file_count(slowed, "part"),
        .session = (uint32_t) rh_report_file_count(slowed, "session"),
        .copy = (uint32_t) rh_report_file_count(slowed, "copy"),
        .ordinal = rh_report_file_count(slowed, "ordinal"),
        .fingerprint = strtoull(fingerprint, NULL, 16),
    };
}

static void choose(struct rh_explain_report *r, uint32_t limit,
                   const struct rh_str_list *fingerprints)
{
    json_t *queries = json_object_get(r->root, "queries"), *query;
    size_t index, cap = 0;
    json_array_foreach(queries, index, query)
    {
        const char *fingerprint = json_string_value(json_object_get(query, "fingerprint"));
        const char *sql = json_string_value(json_object_get(query, "sql"));
        const char *verdict = json_string_value(json_object_get(query, "verdict"));
        bool is_wanted = fingerprints->count > 0
                             ? is_listed(fingerprints, fingerprint)
                             : r->count < limit && verdict && strcmp(verdict, "regressed") == 0;
        if (is_wanted && fingerprint && sql) {
            RH_GROW(r->queries, r->count, cap);
            r->queries[r->count++] = (struct rh_explain_query){
                .object = query,
                .fingerprint = fingerprint,
                .sql = sql,
                .is_cut = json_is_true(json_object_get(query, "sql_cut")),
                .call = call_of(query, fingerprint),
            };
        }
    }
}

int rh_explain_report_read(struct rh_explain_report *r, const char *path, uint32_t limit,
                           const struct rh_str_list *fingerprints, struct rh_error *err)
{
    *r = (struct rh_explain_report){
        .root = rh_report_file_read(path, "a report",
                                    "; make it with pgrehearse diff --format json", err)};
    if (!r->root) {
        return -1;
    }
    if (!is_report(r->root)) {
        return rh_error_set(err, RH_ERR_FORMAT,
                            "\"%s\" is no report of pgrehearse diff --format json", path);
    }
    choose(r, limit, fingerprints);
    if (fingerprints->count > 0 && r->count == 0) {
        return rh_error_set(err, RH_ERR_USAGE, "\"%s\" has no query of fingerprint %s", path,
                            fingerprints->items[0]);
    }
    return 0;
}

static bool is_uuid(const json_t *value, const uint8_t uuid[16])
{
    char text[37];
    const char *wanted = json_string_value(value);
    return wanted && strcmp(wanted, rh_uuid_format(uuid, text)) == 0;
}

int rh_explain_report_check_trace(const struct rh_explain_report *r, const char *path,
                                  struct rh_error *err)
{
    const json_t *base = json_object_get(json_object_get(r->root, "inputs"), "base");
    const json_t *known[] = {json_object_get(base, "uuid"), json_object_get(base, "trace_uuid")};
    struct rh_trace_file *file;
    bool fits = false;
    if (rh_trace_file_open(&file, path, err) != 0) {
        return -1;
    }
    const struct rh_trace_header *h = rh_trace_file_header(file);
    for (int i = 0; i < 2; i++) {
        fits = fits || is_uuid(known[i], h->uuid) ||
               (h->kind == RH_FILE_RUN && is_uuid(known[i], h->trace_uuid));
    }
    rh_trace_file_close(file);
    return fits ? 0
                : rh_error_set(err, RH_ERR_USAGE,
                               "\"%s\" is not the trace of this report's base, and no run of it",
                               path);
}

void rh_explain_report_release(struct rh_explain_report *r)
{
    json_decref(r->root);
    rh_free(r->queries);
    *r = (struct rh_explain_report){0};
}

/* "(Index Scan orders orders_pkey(...))": what a plan does, without its figures. */
static void add_shape(struct rh_buf *out, const json_t *node, int depth)
{
    static const char *const keys[] = {"Node Type", "Join Type", "Relation Name", "Index Name",
                                       "Subplan Name"};
    json_t *children = json_object_get(node, "Plans"), *child;
    size_t index;
    rh_buf_add_byte(out, '(');
    for (size_t i = 0; i < sizeof keys / sizeof keys[0]; i++) {
        const char *value = json_string_value(json_object_get(node, keys[i]));
        rh_buf_addf(out, "%s|", value ? value : "");
    }
    json_array_foreach(children, index, child)
    {
        if (depth < SHAPE_DEPTH_MAX) {
            add_shape(out, child, depth + 1);
        }
    }
    rh_buf_add_byte(out, ')');
}

static bool shapes_differ(const json_t *a, const json_t *b)
{
    struct rh_buf shapes[2];
    const json_t *plans[] = {a, b};
    for (int i = 0; i < 2; i++) {
        rh_buf_init(&shapes[i], SHAPE_MAX_BYTES);
        add_shape(&shapes[i], json_object_get(json_array_get(plans[i], 0), "Plan"), 0);
    }
    bool differ = !rh_span_equal(rh_buf_span(&shapes[0]), rh_buf_span(&shapes[1]));
    rh_buf_release(&shapes[0]);
    rh_buf_release(&shapes[1]);
    return differ;
}

/* A text of the server is UTF-8 by client_encoding, unless the database is SQL_ASCII. */
static json_t *text_of(const char *text)
{
    json_t *value = text ? json_string(text) : json_null();
    return value ? value : json_string("(not UTF-8)");
}

static json_t *masked(const char *text, void (*mask)(struct rh_buf *out, struct rh_span text))
{
    struct rh_buf out;
    rh_buf_init(&out, MASKED_MAX_BYTES);
    if (text) {
        mask(&out, rh_span_cstr(text));
    }
    json_t *value = text_of(text ? rh_buf_cstr(&out) : NULL);
    rh_buf_release(&out);
    return value;
}

/* The tree without values, in place: what is no name is taken for an expression. */
static void mask_tree(json_t *node, int depth)
{
    const char *key;
    json_t *value;
    size_t index;
    void *next;
    if (depth > 2 * SHAPE_DEPTH_MAX) {
        json_object_clear(node);
        json_array_clear(node);
    }
    json_object_foreach_safe(node, next, key, value)
    {
        if (rh_plan_member_is_name(rh_span_cstr(key))) {
            continue;
        }
        if (json_is_string(value)) {
            json_object_set_new(node, key,
                                masked(json_string_value(value), rh_plan_expression_mask));
        }
        mask_tree(json_object_get(node, key), depth + 1);
    }
    json_array_foreach(node, index, value)
    {
        if (json_is_string(value)) {
            json_array_set_new(node, index,
                               masked(json_string_value(value), rh_plan_expression_mask));
        }
        mask_tree(json_array_get(node, index), depth + 1);
    }
}

static json_t *side_of(const struct rh_explain_plan *plan, bool shows_values)
{
    if (!plan) {
        return json_null();
    }
    json_t *side = json_object();
    json_t *tree = plan->json ? json_loads(plan->json, 0, NULL) : NULL;
    json_object_set_new(side, "method", text_of(plan->method));
    if (shows_values) {
        json_object_set_new(side, "error", text_of(plan->error));
        json_object_set_new(side, "text", text_of(plan->text));
    } else {
        mask_tree(tree, 0);
        json_object_set_new(side, "error", masked(plan->error, rh_plan_error_mask));
        json_object_set_new(side, "text", masked(plan->text, rh_plan_text_mask));
    }
    json_object_set_new(side, "json", tree ? tree : json_null());
    return side;
}

static bool add_sides(json_t *plans, const struct rh_explain_plan *const of[2], bool shows_values)
{
    json_t *a = side_of(of[0], shows_values), *b = side_of(of[1], shows_values);
    const json_t *a_tree = json_object_get(a, "json"), *b_tree = json_object_get(b, "json");
    bool known = json_is_array(a_tree) && json_is_array(b_tree);
    bool differ = known && shapes_differ(a_tree, b_tree);
    json_object_set_new(plans, "differ", known ? json_boolean(differ) : json_null());
    json_object_set_new(plans, "base", a);
    json_object_set_new(plans, "candidate", b);
    return differ;
}

bool rh_explain_report_add(struct rh_explain_query *q, const struct rh_explain_plan *const plans[2])
{
    json_t *object = json_object();
    bool differ = add_sides(object, plans, true);
    json_object_set_new(q->object, "plans", object);
    return differ;
}

bool rh_explain_report_add_call(struct rh_explain_query *q,
                                const struct rh_explain_plan *const plans[2], bool shows_values)
{
    json_t *object = json_object();
    json_object_set_new(object, "part", json_integer(q->call.part));
    json_object_set_new(object, "session", json_integer(q->call.session));
    json_object_set_new(object, "copy", json_integer(q->call.copy));
    json_object_set_new(object, "ordinal", json_integer((json_int_t) q->call.ordinal));
    json_object_set_new(object, "values_shown", json_boolean(shows_values));
    bool differ = add_sides(object, plans, shows_values);
    json_object_set_new(json_object_get(q->object, "plans"), "call", object);
    return differ;
}

/* Bytes for jansson's callback. */
struct sink {
    struct rh_outfile *file;
    struct rh_error *err;
};

static int put(const char *data, size_t n, void *ctx)
{
    struct sink *sink = ctx;
    return rh_outfile_write(sink->file, data, n, sink->err);
}

int rh_explain_report_write(const struct rh_explain_report *r, const char *path,
                            struct rh_error *err)
{
    struct sink sink = {.err = err};
    if (rh_outfile_open(&sink.file, path, err) != 0) {
        return -1;
    }
    size_t flags = JSON_INDENT(2) | JSON_PRESERVE_ORDER | JSON_REAL_PRECISION(REAL_DIGITS);
    if (json_dump_callback(r->root, put, &sink, flags) != 0 || put("\n", 1, &sink) != 0) {
        rh_outfile_discard(sink.file);
        return -1;
    }
    return rh_outfile_finish(sink.file, err);
}
