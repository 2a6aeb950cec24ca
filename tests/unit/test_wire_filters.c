/*
 * What the filters leave of conversations on the wire: what is left must still be one.
 */
#include "rh_test.h"

#include <string.h>

#include "formats/pg_frontend.h"
#include "wire_script.h"

static struct rh_script s;
static struct rh_capture_filter filter;
static const char *names[2];
static struct rh_str_list list;

static int setup(void **state)
{
    (void) state;
    rh_script_init(&s);
    rh_capture_filter_init(&filter);
    s.filter = &filter;
    list = (struct rh_str_list){names, 1, 0};
    return 0;
}

static int teardown(void **state)
{
    (void) state;
    rh_capture_filter_release(&filter);
    rh_script_release(&s);
    return 0;
}

static struct rh_str_list *one(const char *name)
{
    names[0] = name;
    return &list;
}

static void set_patterns(const char *include, const char *exclude)
{
    struct rh_error err = {0};
    struct rh_str_list none = {0};
    struct rh_str_list of_include = {&include, 1, 0};
    struct rh_str_list of_exclude = {&exclude, 1, 0};
    assert_int_equal(rh_capture_filter_add_patterns(&filter, include ? &of_include : &none,
                                                    exclude ? &of_exclude : &none, &err),
                     0);
}

static void login(void)
{
    c_startup(&s, 196608, "joe");
    s_login(&s, 77, "key!", 4);
}

static void query(const char *sql, const char *tag, char status)
{
    c_q(&s, sql);
    s_c(&s, tag);
    s_z(&s, status);
}

/* P B E of one statement, without Sync. */
static void execute(const char *name, const char *sql, const char *param)
{
    c_p(&s, name, sql);
    c_b(&s, "", name, param);
    c_e(&s, "", 0);
}

static void test_users(void **state)
{
    (void) state;
    filter.users = *one("jane");
    login();
    query("select 1", "SELECT 1", 'I');
    c_x(&s);
    rh_script_expect(&s, "");
    assert_int_equal(s.counts.sessions, 0);
    assert_int_equal(s.counts.sessions_filtered, 1);
    assert_int_equal(s.counts.filtered, 0);

    filter.users = *one("joe");
    login();
    query("select 1", "SELECT 1", 'I');
    c_x(&s);
    rh_script_expect(&s, "1 open\n1/1 query |select 1| -> 00000 SELECT rows=1 I [be] {Q}\n"
                         "1 close disconnected\n");
    assert_int_equal(s.counts.sessions_filtered, 0);
}

/* Whose it is was said before the capture began. */
static void test_users_of_a_session_joined_midway(void **state)
{
    (void) state;
    filter.users = *one("joe");
    s.joined_midway = true;
    query("select 1", "SELECT 1", 'I');
    query("select 2", "SELECT 1", 'I');
    c_x(&s);
    rh_script_expect(
        &s, "0 gap sessions open before the capture, left out as their user is not known: 1\n");
    assert_int_equal(s.counts.sessions_unknown, 1);

    filter.users = (struct rh_str_list){0};
    s.joined_midway = true;
    query("select 1", "SELECT 1", 'I');
    rh_script_play(&s, 0, NULL);
    assert_int_equal(s.counts.kinds[RH_KIND_QUERY], 1);
    rh_script_clear(&s);
}

static void test_an_encrypted_session_may_be_anyones(void **state)
{
    (void) state;
    filter.users = *one("jane");
    c_code(&s, RH_PG_CODE_SSL);
    s_raw(&s, "S", 1);
    c_raw(&s, "\x16\x03\x01", 3);
    rh_script_expect(&s, "1 open\n1 gap encrypted session, cannot be captured: 1\n"
                         "1 close closed without Terminate\n");
}

/* Turns are 1,000 ns each: the login is at 2,000 and 3,000, queries at 4,000, 6,000 ... */
static void test_times(void **state)
{
    (void) state;
    filter.from_ns = 10000;
    filter.to_ns = 18000;
    login();
    query("set a = 1", "SET", 'I');                 /* 4,000: carried */
    query("prepare p as select 1", "PREPARE", 'I'); /* 6,000: carried */
    query("begin", "BEGIN", 'T');                   /* 8,000 */
    query("select 'early'", "SELECT 1", 'T');       /* 10,000, of a transaction before */
    query("commit", "COMMIT", 'I');
    query("select 'in'", "SELECT 1", 'I'); /* 14,000 */
    query("begin", "BEGIN", 'T');          /* 16,000 */
    query("select 'still'", "SELECT 1", 'T');
    query("commit", "COMMIT", 'I');
    query("set b = 2", "SET", 'I'); /* 22,000 */
    c_x(&s);
    s.no_steps = true;
    rh_script_expect(&s, "1/1 query |set a = 1| -> 00000 [be]\n"
                         "1/2 query |prepare p as select 1| -> 00000 [be]\n"
                         "1/3 query |select 'in'| -> 00000 SELECT rows=1 I [be]\n"
                         "1/4 query |begin| -> 00000 BEGIN T [bk]\n"
                         "1/5 query |select 'still'| -> 00000 SELECT rows=1 T [k]\n"
                         "1/6 query |commit| -> 00000 COMMIT I [ke]\n");
    assert_int_equal(s.counts.filtered, 6);
    assert_int_equal(s.counts.carried, 2);
    assert_int_equal(s.counts.left_open, 1);
    assert_int_equal(s.counts.joined_midway, 1);
}

/* A statement that is prepared before what is kept is prepared in front of its first use. */
static void test_statements_prepared_by_what_is_left_out(void **state)
{
    (void) state;
    filter.from_ns = 8000;
    login();
    c_p(&s, "a", "select $1"); /* 4,000 */
    c_s(&s);
    s_list(&s, "1");
    s_z(&s, 'I');
    execute("", "insert", NULL); /* 6,000 */
    c_s(&s);
    s_list(&s, "12");
    s_c(&s, "INSERT 0 1");
    s_z(&s, 'I');
    for (int i = 0; i < 2; i++) { /* 8,000 */
        c_b(&s, "", "a", "x");
        c_e(&s, "", 0);
        c_s(&s);
        s_list(&s, "2");
        s_c(&s, "SELECT 1");
        s_z(&s, 'I');
    }
    c_x(&s);
    rh_script_expect(&s, "1/1 protocol s:a |select $1| -> 00000 [be] {PS}\n"
                         "1/2 execute s:a |select $1| (x) -> 00000 SELECT rows=1 I [be] {BE1S2}\n"
                         "1/3 execute s:a |select $1| (x) -> 00000 SELECT rows=1 I [be] {BE1S2}\n"
                         "1 close disconnected\n");
}

static void test_patterns(void **state)
{
    (void) state;
    set_patterns("keep", NULL);
    login();
    query("begin", "BEGIN", 'T');
    query("update keep", "UPDATE 1", 'T');
    query("update other", "UPDATE 1", 'T');
    query("commit", "COMMIT", 'I');
    query("select other", "SELECT 1", 'I');
    c_q(&s, "copy other from stdin");
    s_copy(&s, 'G');
    c_copy(&s, "1\n");
    c_copy_done(&s);
    s_c(&s, "COPY 1");
    s_z(&s, 'I');
    c_copy(&s, "too late\n");
    c_q(&s, "copy keep from stdin");
    s_copy(&s, 'G');
    c_copy(&s, "1\n");
    c_copy_done(&s);
    s_c(&s, "COPY 1");
    s_z(&s, 'I');
    c_x(&s);
    rh_script_expect(&s, "1 open\n"
                         "1/1 query |begin| -> 00000 BEGIN T [bk] {Q}\n"
                         "1/2 query |update keep| -> 00000 UPDATE rows=1 T [k] {Q}\n"
                         "1/3 query |commit| -> 00000 COMMIT I [ke] {Q}\n"
                         "1/4 query |copy keep from stdin| -> 00000 COPY rows=1 I [be] {Qd1}\n"
                         "1/4 copy-data 12 bytes, 2 messages\n"
                         "1 close disconnected\n");
}

/* Of pipelines a part is left out: the Sync of what is left stays. */
static void test_patterns_in_pipelines(void **state)
{
    (void) state;
    set_patterns(NULL, "other");
    login();
    execute("", "insert keep", NULL);
    execute("", "insert other", NULL);
    c_s(&s);
    s_list(&s, "12");
    s_c(&s, "INSERT 0 1");
    s_list(&s, "12");
    s_c(&s, "INSERT 0 1");
    s_z(&s, 'I');
    execute("s", "select other", NULL);
    execute("", "select keep", NULL);
    c_s(&s);
    s_list(&s, "12");
    s_c(&s, "SELECT 1");
    s_list(&s, "12");
    s_c(&s, "SELECT 1");
    s_z(&s, 'I');
    c_c(&s, 'S', "s");
    c_s(&s);
    s_list(&s, "3");
    s_z(&s, 'I');
    c_x(&s);
    rh_script_expect(&s, "1 open\n"
                         "1/1 execute |insert keep| -> 00000 INSERT rows=1 [b] {PB1E2}\n"
                         "1/2 protocol -> 00000 [e] {S6}\n"
                         "1/3 execute |select keep| -> 00000 SELECT rows=1 I [be] {P3B4E5S6}\n"
                         "1/4 protocol s:s -> 00000 I [be] {CS1}\n"
                         "1 close disconnected\n");
}

static void test_applications(void **state)
{
    (void) state;
    filter.applications = *one("batch");
    login();
    query("select 1", "SELECT 1", 'I');
    c_q(&s, "set application_name = 'batch'");
    s_c(&s, "SET");
    s_parameter(&s, "application_name", "batch");
    s_z(&s, 'I');
    query("select 2", "SELECT 1", 'I');
    c_q(&s, "set application_name = 'web'");
    s_c(&s, "SET");
    s_parameter(&s, "application_name", "web");
    s_z(&s, 'I');
    query("select 3", "SELECT 1", 'I');
    query("set work_mem = '1MB'", "SET", 'I');
    c_x(&s);
    rh_script_expect(&s, "1 open\n"
                         "1/1 query |set application_name = 'batch'| -> 00000 [be]\n"
                         "1/2 query |select 2| -> 00000 SELECT rows=1 I [be] {Q}\n"
                         "1/3 query |set application_name = 'web'| -> 00000 SET I [be] {Q}\n"
                         "1/4 query |set work_mem = '1MB'| -> 00000 SET I [be] {Q}\n"
                         "1 close disconnected\n");
}

static void test_sample(void **state)
{
    (void) state;
    int kept[2] = {0, 0};
    for (int i = 0; i < 2; i++) {
        rh_capture_filter_sample(&filter, i == 0 ? 1e-9 : 1);
        login();
        query("select 1", "SELECT 1", 'I');
        c_x(&s);
        rh_script_play(&s, 0, NULL);
        kept[i] = (int) s.counts.kinds[RH_KIND_QUERY];
        assert_int_equal(s.counts.sessions_filtered, 1 - i);
        rh_script_clear(&s);
    }
    assert_int_equal(kept[0], 0);
    assert_int_equal(kept[1], 1);
}

static void test_redact(void **state)
{
    (void) state;
    s.redact = true;
    login();
    query("select 'secret', 42 /* mine */", "SELECT 1", 'I');
    execute("", "select $1", "secret");
    c_s(&s);
    s_list(&s, "12");
    s_c(&s, "SELECT 1");
    s_z(&s, 'I');
    c_q(&s, "copy t from stdin");
    s_copy(&s, 'G');
    c_copy(&s, "secret\n");
    c_copy_done(&s);
    s_c(&s, "COPY 1");
    s_z(&s, 'I');
    c_x(&s);
    rh_script_expect(
        &s, "1 open\n"
            "1/1 query |select 'x', 0 /* */| -> 00000 SELECT rows=1 I [be] hold=redacted {Q}\n"
            "1/2 execute |select $1| (x) -> 00000 SELECT rows=1 I [be] hold=redacted {PB1E2S3}\n"
            "1/3 query |copy t from stdin| -> 00000 COPY rows=1 I [be] hold=redacted {Qd1}\n"
            "1 close disconnected\n");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_users, setup, teardown),
        cmocka_unit_test_setup_teardown(test_users_of_a_session_joined_midway, setup, teardown),
        cmocka_unit_test_setup_teardown(test_an_encrypted_session_may_be_anyones, setup, teardown),
        cmocka_unit_test_setup_teardown(test_times, setup, teardown),
        cmocka_unit_test_setup_teardown(test_statements_prepared_by_what_is_left_out, setup,
                                        teardown),
        cmocka_unit_test_setup_teardown(test_patterns, setup, teardown),
        cmocka_unit_test_setup_teardown(test_patterns_in_pipelines, setup, teardown),
        cmocka_unit_test_setup_teardown(test_applications, setup, teardown),
        cmocka_unit_test_setup_teardown(test_sample, setup, teardown),
        cmocka_unit_test_setup_teardown(test_redact, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
