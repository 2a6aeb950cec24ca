#include "rh_test.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "diff/gate_list.h"

static char path[] = "/tmp/rh_gates.XXXXXX";

static int set_up(void **state)
{
    (void) state;
    int fd = mkstemp(path);
    return fd < 0 ? -1 : close(fd);
}

static int tear_down(void **state)
{
    (void) state;
    return unlink(path);
}

static int read_text(struct rh_gate_list *list, const char *text, size_t len, struct rh_error *err)
{
    FILE *f = fopen(path, "w");
    assert_non_null(f);
    assert_int_equal(fwrite(text, 1, len, f), len);
    assert_int_equal(fclose(f), 0);
    rh_error_clear(err);
    return rh_gate_list_read(list, path, err);
}

static void check_limit(const struct rh_gate_list *list, enum rh_gate_kind kind, double limit)
{
    for (size_t i = 0; i < list->count; i++) {
        if (list->items[i].kind == kind) {
            assert_float_equal(list->items[i].limit, limit, 0);
            return;
        }
    }
    fail_msg("no gate %s", rh_gate_name(kind));
}

static void test_file(void **state)
{
    (void) state;
    static const char text[] = "# comment\r\n"
                               "; another\r\n"
                               "\r\n"
                               " [gates] ; here they are\r\n"
                               "regressed=0\r\n"
                               "\tnew-errors =\t2 # why\r\n"
                               "lag-p99-ms = 2.5;not a comment, and no number\n";
    struct rh_gate_list list = {.count = 0};
    struct rh_error err;
    assert_int_equal(read_text(&list, text, strlen(text), &err), -1);
    assert_non_null(strstr(err.text, "line 7: the limit of gate lag-p99-ms is a number"));
    assert_int_equal(list.count, 0);

    static const char good[] = "[gates]\nregressed = 0\nnew-errors =\t2 # why\nlag-p99-ms=2.5";
    assert_int_equal(read_text(&list, good, strlen(good), &err), 0);
    assert_int_equal(list.count, 3);
    check_limit(&list, RH_GATE_REGRESSED, 0);
    check_limit(&list, RH_GATE_NEW_ERRORS, 2);
    check_limit(&list, RH_GATE_LAG_P99_MS, 2.5);
}

static void test_command_line_wins(void **state)
{
    (void) state;
    static const char text[] = "missing = 0\nregressed = 3\n";
    struct rh_gate_list list = {.count = 0};
    struct rh_error err;
    assert_int_equal(rh_gate_list_add(&list, "regressed=1", &err), 0);
    assert_int_equal(rh_gate_list_add(&list, "new-errors=4", &err), 0);
    assert_int_equal(rh_gate_list_add(&list, "regressed=2", &err), -1);
    assert_string_equal(err.text, "gate regressed is given twice");
    assert_int_equal(read_text(&list, text, strlen(text), &err), 0);
    assert_int_equal(list.count, 3);
    check_limit(&list, RH_GATE_REGRESSED, 1);
    check_limit(&list, RH_GATE_NEW_ERRORS, 4);
    check_limit(&list, RH_GATE_MISSING, 0);
}

static void check_bad(const char *text, size_t len, const char *says)
{
    struct rh_gate_list list = {.count = 0};
    struct rh_error err;
    assert_int_equal(read_text(&list, text, len, &err), -1);
    assert_int_equal(err.code, RH_ERR_USAGE);
    if (!strstr(err.text, says) || !strstr(err.text, path)) {
        fail_msg("\"%.40s\" gives \"%s\"", text, err.text);
    }
    assert_int_equal(list.count, 0);
}

static void test_bad_files(void **state)
{
    (void) state;
    static const struct {
        const char *text;
        const char *says;
    } bad[] = {
        {"", "names no gate"},
        {"[gates]\n# missing = 0\n", "names no gate"},
        {"missing = 0\n\nmissing = 0\n", "line 3: gate missing is in line 1 too"},
        {"missing\n", "line 1: gate missing has no limit: write missing=LIMIT"},
        {"missing =\n", "line 1: gate missing has no limit"},
        {"\nmising = 0\n", "line 2: no gate is called \"mising\""},
        {"= 0\n", "line 1: no gate is called \"\""},
        {"missing = 1.5\n", "line 1: the limit of gate missing is a whole number"},
        {"missing = 1 2\n", "line 1: the limit of gate missing is a whole number"},
        {"missing = 0\n[rules]\n", "line 2: the only section is [gates]"},
        {"[gates\n", "line 1: the only section is [gates]"},
    };
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        check_bad(bad[i].text, strlen(bad[i].text), bad[i].says);
    }
    check_bad("missing\0 = 0\n", 13, "line 1: this is no gate");
    char *text = malloc(RH_GATE_FILE_BYTES_MAX + 1);
    assert_non_null(text);
    memset(text, 'x', RH_GATE_FILE_BYTES_MAX + 1);
    check_bad(text, 200, "line 1: this is no gate");
    memset(text, '\n', RH_GATE_FILE_BYTES_MAX + 1);
    check_bad(text, RH_GATE_FILE_BYTES_MAX + 1, "too long");
    free(text);

    struct rh_gate_list list = {.count = 0};
    struct rh_error err;
    assert_int_equal(rh_gate_list_read(&list, "/nonexistent/gates.ini", &err), -1);
    assert_int_equal(err.code, RH_ERR_IO);
}

/* The one that is installed as an example names every gate, so that it is one for the next kind
 * too. */
static void test_sample(void **state)
{
    (void) state;
    struct rh_gate_list list = {.count = 0};
    struct rh_error err = {0};
    if (rh_gate_list_read(&list, RH_SOURCE_DIR "/samples/gates.ini", &err) != 0) {
        fail_msg("%s", err.text);
    }
    assert_int_equal(list.count, RH_GATE_COUNT);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_file),
        cmocka_unit_test(test_command_line_wins),
        cmocka_unit_test(test_bad_files),
        cmocka_unit_test(test_sample),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
