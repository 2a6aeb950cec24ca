/* replay/step_message: the bytes of each step, as the capture's reader decodes them */
#include "rh_test.h"

#include <string.h>

#include "formats/pg_frontend.h"
#include "formats/pg_scan.h"
#include "replay/step_message.h"

struct bench {
    struct rh_arena arena;
    struct rh_buf out;
    struct rh_error err;
    struct rh_pg_scan scan;
    struct rh_pg_event ev;
};

static void set_up(struct bench *b)
{
    rh_arena_init(&b->arena, 1024);
    rh_buf_init(&b->out, 1 << 20);
}

static void tear_down(struct bench *b)
{
    rh_arena_release(&b->arena);
    rh_buf_release(&b->out);
}

/* One step: exactly one message, whose type is given back. */
static char write_step(struct bench *b, char letter, const struct rh_record *r, const char *text)
{
    rh_buf_clear(&b->out);
    assert_int_equal(rh_step_write(letter, r, rh_span_cstr(text), &b->arena, &b->out, &b->err), 0);
    rh_pg_scan_init(&b->scan, RH_PG_FRONTEND, RH_PG_BODY_MAX);
    b->scan.copy_events = true;
    ptrdiff_t used = rh_pg_scan_next(&b->scan, b->out.data, b->out.len, &b->ev, &b->err);
    assert_int_equal(used, b->out.len);
    rh_pg_scan_release(&b->scan);
    return b->ev.type;
}

static struct rh_record record(enum rh_kind kind, const char *steps, size_t bytes)
{
    struct rh_record r;
    rh_record_init(&r);
    r.kind = kind;
    r.steps = rh_span(steps, bytes);
    return r;
}

static void test_implied(void **state)
{
    (void) state;
    static const struct {
        enum rh_kind kind;
        const char *letters;
    } cases[] = {{RH_KIND_QUERY, "Q"},  {RH_KIND_EXECUTE, "PBES"}, {RH_KIND_FUNCTION, "F"},
                 {RH_KIND_FETCH, "ES"}, {RH_KIND_PROTOCOL, "PS"},  {RH_KIND_CANCEL, ""}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct rh_record r = record(cases[i].kind, NULL, 0);
        assert_int_equal(rh_step_count(&r), strlen(cases[i].letters));
        for (size_t k = 0; k < rh_step_count(&r); k++) {
            assert_int_equal(rh_step_letter(&r, k), cases[i].letters[k]);
            assert_int_equal(rh_step_awaits(&r, k), k == 0 ? 0 : RH_STEP_AWAITS_MANY);
        }
    }
}

static void test_letters(void **state)
{
    (void) state;
    struct rh_record r = record(RH_KIND_EXECUTE, "R\0A\1E\xff", 6);
    assert_int_equal(rh_step_count(&r), 3);
    assert_int_equal(rh_step_awaits(&r, 1), 1);
    assert_int_equal(rh_step_awaits(&r, 2), 255);
    assert_true(rh_step_has(&r, 'A'));
    assert_false(rh_step_has(&r, 'd'));
    assert_int_equal(rh_step_type('R'), 'P');
    assert_int_equal(rh_step_type('A'), 'B');
    assert_int_equal(rh_step_type('a'), 'F');
    assert_int_equal(rh_step_type('p'), 'p');
    assert_int_equal(rh_step_type('?'), '\0');
    assert_int_equal(rh_step_type('\0'), '\0');
    assert_false(rh_step_is_answered('H'));
    assert_false(rh_step_is_answered('d'));
    assert_false(rh_step_is_answered('?'));
    assert_true(rh_step_is_answered('t'));
    assert_true(rh_step_flushes('H') && rh_step_flushes('S') && rh_step_flushes('o'));
    assert_false(rh_step_flushes('E') || rh_step_flushes('\0'));
}

static void test_parse(void **state)
{
    (void) state;
    struct bench b;
    struct rh_pg_parse parse;
    set_up(&b);
    const struct rh_param params[] = {{.type = 23}, {.type = 0}, {.type = 20}, {.type = 0}};
    struct rh_record r = record(RH_KIND_PROTOCOL, NULL, 0);
    r.statement_name = rh_span_cstr("s");
    r.params = params;
    r.param_count = 4;
    assert_int_equal(write_step(&b, 'P', &r, "SELECT 1"), 'P');
    assert_int_equal(rh_pg_parse_decode(b.ev.body, &parse), 0);
    assert_true(rh_span_is(parse.name, "s") && rh_span_is(parse.text, "SELECT 1"));
    assert_int_equal(parse.type_count, 3);
    assert_int_equal(rh_pg_parse_type(&parse, 2), 20);
    assert_int_equal(write_step(&b, 'R', &r, "SELECT 1"), 'P');
    assert_int_equal(rh_pg_parse_decode(b.ev.body, &parse), 0);
    assert_int_equal(parse.type_count, 4);
    assert_int_equal(rh_pg_parse_type(&parse, 3), 0);
    tear_down(&b);
}

/* The formats in all their forms; binary values with NULs and NULL. */
static void test_bind(void **state)
{
    (void) state;
    static const struct {
        char letter;
        uint8_t formats[2];
        int count;
    } cases[] = {{'B', {0, 0}, 0}, {'B', {1, 1}, 1}, {'B', {0, 1}, 2}, {'O', {0, 0}, 1},
                 {'O', {1, 1}, 1}, {'A', {0, 0}, 2}, {'A', {1, 1}, 2}};
    struct bench b;
    set_up(&b);
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        const struct rh_param params[] = {
            {.data = "\0\0\1", .len = 3, .format = cases[i].formats[0]},
            {.data = NULL, .format = cases[i].formats[1]}};
        const uint16_t results[] = {0, 1, 1};
        struct rh_pg_bound bound;
        struct rh_param read[2];
        struct rh_record r = record(RH_KIND_EXECUTE, NULL, 0);
        r.statement_name = rh_span_cstr("s");
        r.portal_name = rh_span_cstr("p");
        r.params = params;
        r.param_count = 2;
        r.result_formats = results;
        r.result_format_count = 3;
        assert_int_equal(write_step(&b, cases[i].letter, &r, ""), 'B');
        assert_int_equal(rh_pg_bind_decode(b.ev.body, &bound), 0);
        assert_true(rh_span_is(bound.portal, "p") && rh_span_is(bound.statement, "s"));
        assert_int_equal(bound.values.format_count, cases[i].count);
        assert_int_equal(bound.result_format_count, 3);
        rh_pg_values_read(&bound.values, read);
        assert_int_equal(read[0].len, 3);
        assert_memory_equal(read[0].data, "\0\0\1", 3);
        assert_null(read[1].data);
        assert_int_equal(read[0].format, cases[i].formats[0]);
        assert_int_equal(read[1].format, cases[i].formats[1]);
    }
    tear_down(&b);
}

static void test_one_format_of_none(void **state)
{
    (void) state;
    struct bench b;
    struct rh_pg_bound bound;
    set_up(&b);
    struct rh_record r = record(RH_KIND_EXECUTE, NULL, 0);
    assert_int_equal(write_step(&b, 'O', &r, ""), 'B');
    assert_int_equal(rh_pg_bind_decode(b.ev.body, &bound), 0);
    assert_int_equal(bound.values.format_count, 1);
    assert_int_equal(bound.values.count, 0);
    tear_down(&b);
}

static void test_call(void **state)
{
    (void) state;
    struct bench b;
    struct rh_pg_call call;
    set_up(&b);
    const struct rh_param param = {.data = "x", .len = 1, .format = 1};
    const uint16_t result = 1;
    struct rh_record r = record(RH_KIND_FUNCTION, NULL, 0);
    r.function_oid = 952;
    r.params = &param;
    r.param_count = 1;
    r.result_formats = &result;
    r.result_format_count = 1;
    for (const char *letter = "Foa"; *letter; letter++) {
        assert_int_equal(write_step(&b, *letter, &r, ""), 'F');
        assert_int_equal(rh_pg_call_decode(b.ev.body, &call), 0);
        assert_int_equal(call.function_oid, 952);
        assert_int_equal(call.values.format_count, 1);
        assert_int_equal(call.result_format, 1);
    }
    tear_down(&b);
}

static void test_others(void **state)
{
    (void) state;
    struct bench b;
    char object;
    struct rh_span name;
    int32_t limit;
    set_up(&b);
    struct rh_record r = record(RH_KIND_FETCH, NULL, 0);
    r.statement_name = rh_span_cstr("s");
    r.portal_name = rh_span_cstr("p");
    r.row_limit = 50;
    static const struct {
        char letter, type, object;
    } targets[] = {{'D', 'D', 'P'}, {'t', 'D', 'S'}, {'p', 'C', 'P'}, {'C', 'C', 'S'}};
    for (size_t i = 0; i < 4; i++) {
        assert_int_equal(write_step(&b, targets[i].letter, &r, ""), targets[i].type);
        assert_int_equal(rh_pg_target_decode(b.ev.body, &object, &name), 0);
        assert_int_equal(object, targets[i].object);
        assert_true(rh_span_is(name, object == 'P' ? "p" : "s"));
    }
    assert_int_equal(write_step(&b, 'E', &r, ""), 'E');
    assert_int_equal(rh_pg_execute_decode(b.ev.body, &name, &limit), 0);
    assert_int_equal(limit, 50);
    assert_int_equal(write_step(&b, 'H', &r, ""), 'H');
    assert_int_equal(write_step(&b, 'S', &r, ""), 'S');
    assert_int_equal(write_step(&b, 'Q', &r, "SELECT 1"), 'Q');
    assert_memory_equal(b.out.data, "Q\0\0\0\x0dSELECT 1\0", 14);
    tear_down(&b);
}

static void test_refused(void **state)
{
    (void) state;
    struct bench b;
    set_up(&b);
    struct rh_record r = record(RH_KIND_QUERY, NULL, 0);
    rh_buf_add(&b.out, "x", 1);
    assert_int_equal(rh_step_write('Q', &r, rh_span("a\0b", 3), &b.arena, &b.out, &b.err), -1);
    assert_int_equal(rh_step_write('?', &r, RH_SPAN_NONE, &b.arena, &b.out, &b.err), -1);
    assert_int_equal(rh_step_write('d', &r, RH_SPAN_NONE, &b.arena, &b.out, &b.err), -1);
    assert_int_equal(b.out.len, 1);
    tear_down(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_implied), cmocka_unit_test(test_letters),
        cmocka_unit_test(test_parse),   cmocka_unit_test(test_bind),
        cmocka_unit_test(test_call),    cmocka_unit_test(test_one_format_of_none),
        cmocka_unit_test(test_others),  cmocka_unit_test(test_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
