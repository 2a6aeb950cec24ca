#include "replay/finding.h"

#include <assert.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "common/alloc.h"
#include "common/log.h"

enum { TEXT_SIZE = 1000 };

const char *rh_grade_name(enum rh_grade grade)
{
    static const char *const names[RH_GRADE_COUNT] = {"stop", "warning", "note"};
    return names[grade];
}

void rh_findings_init(struct rh_findings *f)
{
    *f = (struct rh_findings){0};
    rh_arena_init(&f->arena, 4096);
}

void rh_findings_release(struct rh_findings *f)
{
    rh_free(f->items);
    rh_arena_release(&f->arena);
}

__attribute__((format(printf, 2, 0))) static struct rh_span
make_text(struct rh_findings *f, const char *format, va_list args)
{
    char text[TEXT_SIZE];
    vsnprintf(text, sizeof text, format, args);
    for (char *c = text; *c; c++) {
        if ((unsigned char) *c < ' ' || *c == 0x7f) {
            *c = '?';
        }
    }
    return rh_arena_copy(&f->arena, rh_span_cstr(text));
}

void rh_findings_add(struct rh_findings *f, enum rh_grade grade, const char *name,
                     const char *format, ...)
{
    va_list args;
    RH_GROW(f->items, f->count, f->cap);
    struct rh_finding *finding = &f->items[f->count++];
    *finding = (struct rh_finding){.grade = grade, .name = name, .sessions = -1, .statements = -1};
    va_start(args, format);
    finding->text = make_text(f, format, args);
    va_end(args);
    f->graded[grade]++;
}

void rh_findings_advise(struct rh_findings *f, const char *format, ...)
{
    va_list args;
    assert(f->count > 0);
    va_start(args, format);
    f->items[f->count - 1].advice = make_text(f, format, args);
    va_end(args);
}

void rh_findings_note_loss(struct rh_findings *f, uint64_t sessions, uint64_t statements)
{
    assert(f->count > 0);
    f->items[f->count - 1].sessions = (int64_t) sessions;
    f->items[f->count - 1].statements = (int64_t) statements;
}

void rh_findings_sort(struct rh_findings *f)
{
    struct rh_finding *sorted = rh_calloc(f->count ? f->count : 1, sizeof *sorted);
    uint32_t n = 0;
    for (int grade = 0; grade < RH_GRADE_COUNT; grade++) {
        for (uint32_t i = 0; i < f->count; i++) {
            if ((int) f->items[i].grade == grade) {
                sorted[n++] = f->items[i];
            }
        }
    }
    rh_free(f->items);
    f->items = sorted;
    f->cap = f->count ? f->count : 1;
}

void rh_findings_log(const struct rh_findings *f)
{
    static const enum rh_log_level levels[RH_GRADE_COUNT] = {RH_LOG_ERROR, RH_LOG_WARNING,
                                                             RH_LOG_INFO};
    for (uint32_t i = 0; i < f->count; i++) {
        const struct rh_finding *finding = &f->items[i];
        rh_log(levels[finding->grade], "%s%s%s", finding->text.data,
               finding->advice.data ? "; " : "", finding->advice.data ? finding->advice.data : "");
    }
}

void rh_findings_print(const struct rh_findings *f, struct rh_buf *out)
{
    for (uint32_t i = 0; i < f->count; i++) {
        const struct rh_finding *finding = &f->items[i];
        rh_buf_addf(out, "%-12s %s%s%s\n", rh_grade_name(finding->grade), finding->text.data,
                    finding->advice.data ? "; " : "",
                    finding->advice.data ? finding->advice.data : "");
    }
}

static void put_loss(struct rh_json *j, const char *key, int64_t n)
{
    rh_json_key(j, key);
    if (n < 0) {
        rh_json_null(j);
    } else {
        rh_json_int(j, n);
    }
}

void rh_findings_print_json(const struct rh_findings *f, struct rh_json *j)
{
    rh_json_open(j, '[');
    for (uint32_t i = 0; i < f->count; i++) {
        const struct rh_finding *finding = &f->items[i];
        rh_json_open(j, '{');
        rh_json_key(j, "grade");
        rh_json_cstr(j, rh_grade_name(finding->grade));
        rh_json_key(j, "name");
        rh_json_cstr(j, finding->name);
        rh_json_key(j, "text");
        rh_json_text(j, finding->text);
        rh_json_key(j, "advice");
        rh_json_text(j, finding->advice);
        put_loss(j, "sessions", finding->sessions);
        put_loss(j, "statements", finding->statements);
        rh_json_close(j);
    }
    rh_json_close(j);
}
