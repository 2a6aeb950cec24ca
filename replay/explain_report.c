#include "replay/explain_report.h"

#include <jansson.h>
#include <string.h>

#include "common/alloc.h"
#include "common/buf.h"
#include "common/outfile.h"
#include "formats/report_file.h"

enum { SHAPE_MAX_BYTES = 1 << 20, SHAPE_DEPTH_MAX = 200, REAL_DIGITS = 15 };

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

static json_t *side_of(const struct rh_explain_plan *plan)
{
    if (!plan) {
        return json_null();
    }
    json_t *side = json_object();
    json_t *tree = plan->json ? json_loads(plan->json, 0, NULL) : NULL;
    json_object_set_new(side, "method", text_of(plan->method));
    json_object_set_new(side, "error", text_of(plan->error));
    json_object_set_new(side, "text", text_of(plan->text));
    json_object_set_new(side, "json", tree ? tree : json_null());
    return side;
}

void rh_explain_report_add(struct rh_explain_query *q, const struct rh_explain_plan *base,
                           const struct rh_explain_plan *candidate, bool *differ)
{
    json_t *plans = json_object(), *a = side_of(base), *b = side_of(candidate);
    const json_t *a_tree = json_object_get(a, "json"), *b_tree = json_object_get(b, "json");
    bool known = json_is_array(a_tree) && json_is_array(b_tree);
    *differ = known && shapes_differ(a_tree, b_tree);
    json_object_set_new(plans, "differ", known ? json_boolean(*differ) : json_null());
    json_object_set_new(plans, "base", a);
    json_object_set_new(plans, "candidate", b);
    json_object_set_new(q->object, "plans", plans);
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
