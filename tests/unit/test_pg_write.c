/* formats/pg_write */
#include "rh_test.h"

#include <stdlib.h>

#include "common/alloc.h"
#include "formats/pg_scan.h"
#include "formats/pg_write.h"

static struct rh_buf buf;

static int setup(void **state)
{
    (void) state;
    rh_buf_init(&buf, 1 << 20);
    return 0;
}

static int teardown(void **state)
{
    (void) state;
    rh_buf_release(&buf);
    return 0;
}

/* The buffer holds exactly these bytes; it is empty afterwards. */
static void assert_written(const char *bytes, size_t n)
{
    assert_int_equal(buf.len, n);
    assert_memory_equal(buf.data, bytes, n);
    rh_buf_clear(&buf);
}
#define ASSERT_WRITTEN(literal) assert_written(literal, sizeof(literal) - 1)

static struct rh_span text(const char *s)
{
    return rh_span_cstr(s);
}

static void test_messages_of_the_simple_protocol(void **state)
{
    (void) state;
    struct rh_error err;
    assert_int_equal(rh_pg_write_query(&buf, text("select 1"), &err), 0);
    ASSERT_WRITTEN("Q\0\0\0\x0dselect 1\0");
    assert_int_equal(rh_pg_write_query(&buf, RH_SPAN_NONE, &err), 0);
    ASSERT_WRITTEN("Q\0\0\0\x05\0");
    assert_int_equal(rh_pg_write_terminate(&buf, &err), 0);
    ASSERT_WRITTEN("X\0\0\0\x04");
    assert_int_equal(rh_pg_write_cancel(&buf, 0x01020304, rh_span("\xff\0\x07k", 4), &err), 0);
    ASSERT_WRITTEN("\0\0\0\x10\x04\xd2\x16\x2e\x01\x02\x03\x04\xff\0\x07k");
}

static void test_messages_of_the_extended_protocol(void **state)
{
    (void) state;
    struct rh_error err;
    const uint32_t types[] = {23, 0, 0xfffffffe};
    assert_int_equal(rh_pg_write_parse(&buf, text("s1"), text("select $1"), types, 3, &err), 0);
    ASSERT_WRITTEN("P\0\0\0\x1fs1\0select $1\0\0\x03\0\0\0\x17\0\0\0\0\xff\xff\xff\xfe");
    assert_int_equal(rh_pg_write_parse(&buf, RH_SPAN_NONE, text("x"), NULL, 0, &err), 0);
    ASSERT_WRITTEN("P\0\0\0\x09\0x\0\0\0");
    assert_int_equal(rh_pg_write_describe(&buf, RH_PG_PORTAL, text("p"), &err), 0);
    ASSERT_WRITTEN("D\0\0\0\x07Pp\0");
    assert_int_equal(rh_pg_write_execute(&buf, text("p"), 500, &err), 0);
    ASSERT_WRITTEN("E\0\0\0\x0ap\0\0\0\x01\xf4");
    assert_int_equal(rh_pg_write_close(&buf, RH_PG_STATEMENT, text("s1"), &err), 0);
    ASSERT_WRITTEN("C\0\0\0\x08Ss1\0");
    assert_int_equal(rh_pg_write_flush(&buf, &err), 0);
    ASSERT_WRITTEN("H\0\0\0\x04");
    assert_int_equal(rh_pg_write_sync(&buf, &err), 0);
    ASSERT_WRITTEN("S\0\0\0\x04");
}

static void test_bind_writes_formats_in_their_shortest_form(void **state)
{
    (void) state;
    struct rh_error err;
    const struct rh_param params[] = {{.data = "7", .len = 1},
                                      {.data = NULL},
                                      {.data = "", .len = 0},
                                      {.data = "\0\x01", .len = 2}};
    struct rh_pg_bind bind = {
        .portal = text("p"), .statement = text("s"), .params = params, .param_count = 4};
    assert_int_equal(rh_pg_write_bind(&buf, &bind, &err), 0);
    ASSERT_WRITTEN("B\0\0\0\x21p\0s\0\0\0\0\x04\0\0\0\x01"
                   "7\xff\xff\xff\xff\0\0\0\0\0\0\0\x02\0\x01\0\0");

    const uint16_t formats[] = {1, 0, 1};
    const struct rh_param binary[] = {{.data = "ab", .len = 2, .format = 1}, {.format = 1}};
    bind = (struct rh_pg_bind){
        .params = binary, .param_count = 2, .result_formats = formats, .result_format_count = 3};
    assert_int_equal(rh_pg_write_bind(&buf, &bind, &err), 0);
    ASSERT_WRITTEN("B\0\0\0\x1e\0\0\0\x01\0\x01\0\x02\0\0\0\x02"
                   "ab\xff\xff\xff\xff\0\x03\0\x01\0\0\0\x01");

    const struct rh_param mixed[] = {{.data = "x", .len = 1, .format = 0},
                                     {.data = "y", .len = 1, .format = 1}};
    bind = (struct rh_pg_bind){.params = mixed, .param_count = 2};
    assert_int_equal(rh_pg_write_bind(&buf, &bind, &err), 0);
    ASSERT_WRITTEN("B\0\0\0\x1a\0\0\0\x02\0\0\0\x01\0\x02\0\0\0\x01x\0\0\0\x01y\0\0");
}

static void test_copy_and_function_call(void **state)
{
    (void) state;
    struct rh_error err;
    assert_int_equal(rh_pg_write_copy_data(&buf, rh_span("1\t\0\n", 4), &err), 0);
    ASSERT_WRITTEN("d\0\0\0\x08"
                   "1\t\0\n");
    assert_int_equal(rh_pg_write_copy_done(&buf, &err), 0);
    ASSERT_WRITTEN("c\0\0\0\x04");
    assert_int_equal(rh_pg_write_copy_fail(&buf, text("no data"), &err), 0);
    ASSERT_WRITTEN("f\0\0\0\x0cno data\0");
    const struct rh_param arg = {.data = "\x01", .len = 1, .format = 1};
    assert_int_equal(rh_pg_write_function_call(&buf,
                                               &(struct rh_pg_function_call){.function_oid = 1598,
                                                                             .params = &arg,
                                                                             .param_count = 1,
                                                                             .result_format = 1},
                                               &err),
                     0);
    ASSERT_WRITTEN("F\0\0\0\x15\0\0\x06\x3e\0\x01\0\x01\0\x01\0\0\0\x01\x01\0\x01");
}

static void test_what_cannot_be_is_refused_and_leaves_nothing(void **state)
{
    (void) state;
    struct rh_error err;
    rh_buf_add_cstr(&buf, "before");
    assert_int_equal(rh_pg_write_query(&buf, rh_span("a\0b", 3), &err), -1);
    assert_int_equal(err.code, RH_ERR_LIMIT);
    assert_non_null(strstr(err.text, "NUL"));
    assert_int_equal(rh_pg_write_parse(&buf, rh_span("\0", 1), text("x"), NULL, 0, &err), -1);
    assert_int_equal(rh_pg_write_cancel(&buf, 1, text("abc"), &err), -1);
    char key[257] = {1};
    assert_int_equal(rh_pg_write_cancel(&buf, 1, rh_span(key, 257), &err), -1);

    /* Small messages: the server takes 10,000 bytes with the length word. */
    char *name = malloc(10000);
    memset(name, 'n', 10000);
    assert_int_equal(rh_pg_write_describe(&buf, RH_PG_PORTAL, rh_span(name, 9995), &err), -1);
    assert_non_null(strstr(err.text, "'D'"));
    rh_assert_span(rh_buf_span(&buf), "before");
    assert_int_equal(rh_pg_write_describe(&buf, RH_PG_PORTAL, rh_span(name, 9994), &err), 0);
    assert_int_equal(buf.len, 6 + 1 + 10000);
    rh_buf_clear(&buf);
    free(name);

    struct rh_param *many = rh_calloc(65536, sizeof *many);
    struct rh_pg_bind bind = {.params = many, .param_count = 65536};
    assert_int_equal(rh_pg_write_bind(&buf, &bind, &err), -1);
    assert_non_null(strstr(err.text, "65,535"));
    assert_int_equal(buf.len, 0);
    bind.param_count = 65535;
    assert_int_equal(rh_pg_write_bind(&buf, &bind, &err), 0);
    assert_int_equal(buf.len, 1 + 4 + 2 + 2 + 2 + 65535 * 4 + 2);
    rh_buf_clear(&buf);
    many[1] = (struct rh_param){.data = "", .len = UINT32_MAX};
    assert_int_equal(rh_pg_write_bind(&buf, &bind, &err), -1);
    assert_int_equal(buf.len, 0);
    rh_free(many);
}

static void test_a_full_buffer_keeps_what_it_had(void **state)
{
    (void) state;
    struct rh_error err;
    struct rh_buf small;
    rh_buf_init(&small, 20);
    assert_int_equal(rh_pg_write_query(&small, text("select 1"), &err), 0);
    assert_int_equal(rh_pg_write_query(&small, text("x"), &err), -1);
    assert_non_null(strstr(err.text, "full"));
    assert_int_equal(small.len, 14);
    assert_false(small.over);
    assert_int_equal(rh_pg_write_sync(&small, &err), 0);
    assert_int_equal(small.len, 19);
    assert_int_equal(rh_pg_write_sync(&small, NULL), -1);
    assert_memory_equal(small.data, "Q\0\0\0\x0dselect 1\0S\0\0\0\x04", 19);
    rh_buf_release(&small);
}

/* What is written is what the scanner of the other side reads. */
static void test_the_scanner_reads_it_back(void **state)
{
    (void) state;
    struct rh_pg_scan scan;
    struct rh_pg_event ev;
    rh_pg_scan_init(&scan, RH_PG_FRONTEND, RH_PG_BODY_MAX);
    scan.untyped = true;
    assert_int_equal(rh_pg_write_cancel(&buf, 9, text("key!"), NULL), 0);
    rh_pg_write_query(&buf, text("select 1"), NULL);
    rh_pg_write_copy_data(&buf, text("abc"), NULL);
    rh_pg_write_sync(&buf, NULL);
    size_t at = 0;
    const char types[] = {RH_PG_UNTYPED, 'Q', 'S', 0};
    for (int i = 0; i < 4; i++) {
        ptrdiff_t used = rh_pg_scan_next(&scan, buf.data + at, buf.len - at, &ev, NULL);
        assert_true(used >= 0);
        assert_int_equal(ev.type, types[i]);
        assert_int_equal(ev.copies, i == 2);
        at += (size_t) used;
    }
    assert_int_equal(at, buf.len);
    rh_pg_scan_release(&scan);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_messages_of_the_simple_protocol, setup, teardown),
        cmocka_unit_test_setup_teardown(test_messages_of_the_extended_protocol, setup, teardown),
        cmocka_unit_test_setup_teardown(test_bind_writes_formats_in_their_shortest_form, setup,
                                        teardown),
        cmocka_unit_test_setup_teardown(test_copy_and_function_call, setup, teardown),
        cmocka_unit_test_setup_teardown(test_what_cannot_be_is_refused_and_leaves_nothing, setup,
                                        teardown),
        cmocka_unit_test_setup_teardown(test_a_full_buffer_keeps_what_it_had, setup, teardown),
        cmocka_unit_test_setup_teardown(test_the_scanner_reads_it_back, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
