/*
 * The protocol as seen from the outside: which record comes of which messages.
 */
#include "rh_test.h"

#include "wire_script.h"

static struct rh_script s;

static int setup(void **state)
{
    (void) state;
    rh_script_init(&s);
    return 0;
}

static int teardown(void **state)
{
    (void) state;
    rh_script_release(&s);
    return 0;
}

static void login(void)
{
    c_startup(&s, 196608, "joe");
    s_login(&s, 77, "key!", 4);
}

static void test_simple_queries(void **state)
{
    (void) state;
    login();
    c_q(&s, "select 1, ';'");
    s_list(&s, "T");
    s_rows(&s, 1);
    s_c(&s, "SELECT 1");
    s_z(&s, 'I');
    c_q(&s, "insert; select 1/0; insert");
    s_c(&s, "INSERT 0 1");
    s_e(&s, "ERROR", "22012");
    s_z(&s, 'I');
    c_q(&s, "");
    s_list(&s, "I");
    s_z(&s, 'I');
    c_q(&s, "select 1; select 2");
    s_list(&s, "T");
    s_rows(&s, 1);
    s_c(&s, "SELECT 1");
    s_list(&s, "T");
    s_rows(&s, 2);
    s_c(&s, "SELECT 2");
    s_z(&s, 'I');
    c_x(&s);
    rh_script_expect(&s,
                     "1 open\n"
                     "1/1 query |select 1, ';'| -> 00000 SELECT rows=1 I [be] {Q}\n"
                     "1/2 query |insert; select 1/0; insert| -> 22012 INSERT rows=1 I [be] {Q}\n"
                     "1/3 query || -> 00000 I [be] {Q}\n"
                     "1/4 query |select 1; select 2| -> 00000 SELECT rows=3 results=2 I [be] {Q}\n"
                     "1 close disconnected\n");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_simple_queries, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
