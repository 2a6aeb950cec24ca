#include "diff/gate_list.h"

#include <string.h>

#include "common/alloc.h"
#include "common/infile.h"
#include "common/span.h"

static const struct rh_gate *find(const struct rh_gate_list *list, enum rh_gate_kind kind)
{
    for (size_t i = 0; i < list->count; i++) {
        if (list->items[i].kind == kind) {
            return &list->items[i];
        }
    }
    return NULL;
}

int rh_gate_list_add(struct rh_gate_list *list, const char *text, struct rh_error *err)
{
    struct rh_gate gate;
    if (rh_gate_parse(&gate, text, err) < 0) {
        return -1;
    }
    if (find(list, gate.kind)) {
        return rh_error_set(err, RH_ERR_USAGE, "gate %s is given twice", rh_gate_name(gate.kind));
    }
    list->items[list->count++] = gate;
    return 0;
}

static bool is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\r';
}

static struct rh_span trim(struct rh_span s)
{
    while (s.len > 0 && is_blank(s.data[0])) {
        s.data++;
        s.len--;
    }
    while (s.len > 0 && is_blank(s.data[s.len - 1])) {
        s.len--;
    }
    return s;
}

static struct rh_span without_comment(struct rh_span line)
{
    for (size_t i = 0; i < line.len; i++) {
        bool begins = line.data[i] == '#' || line.data[i] == ';';
        if (begins && (i == 0 || is_blank(line.data[i - 1]))) {
            line.len = i;
        }
    }
    return trim(line);
}

/* A file while it is read. */
struct reading {
    const char *path;
    uint32_t line;
    struct rh_gate_list found;
    uint32_t lines[RH_GATE_COUNT]; /* by kind: where it was found */
};

static int bad_line(const struct reading *r, struct rh_error *err, const char *what)
{
    return rh_error_set(err, RH_ERR_USAGE, "\"%s\", line %u: %s", r->path, r->line, what);
}

static int read_gate(struct reading *r, struct rh_span line, struct rh_error *err)
{
    char text[128];
    const char *equals = memchr(line.data, '=', line.len);
    struct rh_span name =
        trim(rh_span(line.data, equals ? (size_t) (equals - line.data) : line.len));
    struct rh_span limit = {NULL, 0};
    if (equals) {
        limit = trim(rh_span(equals + 1, (size_t) (line.data + line.len - equals - 1)));
    }
    if (name.len + limit.len > sizeof text - 2 || memchr(line.data, '\0', line.len)) {
        return bad_line(r, err, "this is no gate: a line is NAME = LIMIT");
    }
    size_t len = name.len;
    memcpy(text, name.data, name.len);
    if (equals) {
        text[len++] = '=';
        memcpy(text + len, limit.data ? limit.data : "", limit.len);
        len += limit.len;
    }
    text[len] = '\0';

    struct rh_gate gate;
    struct rh_error why = {0};
    if (rh_gate_parse(&gate, text, &why) < 0) {
        return bad_line(r, err, why.text);
    }
    if (find(&r->found, gate.kind)) {
        return rh_error_set(err, RH_ERR_USAGE, "\"%s\", line %u: gate %s is in line %u too",
                            r->path, r->line, rh_gate_name(gate.kind), r->lines[gate.kind]);
    }
    r->lines[gate.kind] = r->line;
    r->found.items[r->found.count++] = gate;
    return 0;
}

static int read_line(struct reading *r, struct rh_span line, struct rh_error *err)
{
    line = without_comment(line);
    if (line.len == 0) {
        return 0;
    }
    if (line.data[0] != '[') {
        return read_gate(r, line, err);
    }
    if (!rh_span_equal(line, RH_SPAN_LITERAL("[gates]"))) {
        return bad_line(r, err, "the only section is [gates]");
    }
    return 0;
}

static int read_lines(struct reading *r, struct rh_span text, struct rh_error *err)
{
    while (text.len > 0) {
        const char *end = memchr(text.data, '\n', text.len);
        size_t len = end ? (size_t) (end - text.data) : text.len;
        size_t used = end ? len + 1 : len;
        r->line++;
        if (read_line(r, rh_span(text.data, len), err) < 0) {
            return -1;
        }
        text = rh_span(text.data + used, text.len - used);
    }
    if (r->found.count == 0) {
        return rh_error_set(err, RH_ERR_USAGE,
                            "\"%s\" names no gate: a line of it is NAME = LIMIT, as "
                            "\"regressed = 0\"",
                            r->path);
    }
    return 0;
}

/* All of it, into a buffer of RH_GATE_FILE_BYTES_MAX. */
static int read_file(const char *path, char *text, size_t *len, struct rh_error *err)
{
    struct rh_infile *file;
    ssize_t n;
    if (rh_infile_open(&file, path, err) < 0) {
        return -1;
    }
    *len = 0;
    do {
        n = rh_infile_read(file, text + *len, RH_GATE_FILE_BYTES_MAX - *len, err);
        *len += n > 0 ? (size_t) n : 0;
    } while (n > 0 && *len < RH_GATE_FILE_BYTES_MAX);
    rh_infile_close(file);
    if (n > 0) {
        return rh_error_set(err, RH_ERR_USAGE, "\"%s\" is too long for a file of gates", path);
    }
    return n < 0 ? -1 : 0;
}

int rh_gate_list_read(struct rh_gate_list *list, const char *path, struct rh_error *err)
{
    struct reading r = {.path = path};
    char *text = rh_malloc(RH_GATE_FILE_BYTES_MAX);
    size_t len = 0;
    int rc = read_file(path, text, &len, err);
    if (rc == 0) {
        rc = read_lines(&r, rh_span(text, len), err);
    }
    rh_free(text);
    for (size_t i = 0; rc == 0 && i < r.found.count; i++) {
        if (!find(list, r.found.items[i].kind)) {
            list->items[list->count++] = r.found.items[i];
        }
    }
    return rc;
}
