/*
 * The protocol as seen from the outside: which record comes of which messages.
 */
#include "rh_test.h"

#include <string.h>

#include "capture/wire_names.h"
#include "formats/pg_frontend.h"
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

static void test_steps_belong_to_their_execution(void **state)
{
    (void) state;
    login();
    c_p(&s, "", "select $1");
    c_b(&s, "", "", "x");
    c_d(&s, 'P', "");
    c_e(&s, "", 0);
    c_s(&s);
    s_list(&s, "12T");
    s_rows(&s, 1);
    s_c(&s, "SELECT 1");
    s_z(&s, 'I');
    /* Two in one group, the second with the statement of the first. */
    c_p(&s, "a", "insert $1");
    c_b(&s, "", "a", "x");
    c_e(&s, "", 0);
    c_b(&s, "", "a", "y");
    c_e(&s, "", 0);
    c_s(&s);
    s_list(&s, "12");
    s_c(&s, "INSERT 0 1");
    s_list(&s, "2");
    s_c(&s, "INSERT 0 1");
    s_z(&s, 'I');
    /* No execution; a close and a parse of other names; what is closed is not known any more. */
    c_p(&s, "b", "select 2");
    c_d(&s, 'S', "b");
    c_s(&s);
    s_list(&s, "1tn");
    s_z(&s, 'I');
    c_c(&s, 'S', "a");
    c_b(&s, "", "b", NULL);
    c_e(&s, "", 0);
    c_h(&s);
    s_list(&s, "32");
    s_c(&s, "SELECT 0");
    c_s(&s);
    s_z(&s, 'I');
    c_x(&s);
    rh_script_expect(&s, "1 open\n"
                         "1/1 execute |select $1| (x) -> 00000 SELECT rows=1 I [be] {PB1D2E3S4}\n"
                         "1/2 execute s:a |insert $1| (x) -> 00000 INSERT rows=1 [b] {PB1E2}\n"
                         "1/3 execute s:a |insert $1| (y) -> 00000 INSERT rows=1 I [e] {B3E4S5}\n"
                         "1/4 protocol s:b |select 2| -> 00000 I [be] {Pt1S2}\n"
                         "1/5 protocol s:a -> 00000 [b] {C}\n"
                         "1/6 execute s:b |select 2| -> 00000 SELECT rows=0 I [e] {B1E2H3S}\n"
                         "1 close disconnected\n");
}

static void test_an_error_skips_to_sync(void **state)
{
    (void) state;
    login();
    c_p(&s, "", "bad");
    c_b(&s, "", "", NULL);
    c_e(&s, "", 0);
    c_p(&s, "", "good");
    c_b(&s, "", "", NULL);
    c_e(&s, "", 0);
    s_e(&s, "ERROR", "42601");
    c_q(&s, "not looked at");
    c_s(&s);
    s_z(&s, 'I');
    c_q(&s, "select 1");
    s_c(&s, "SELECT 1");
    s_z(&s, 'I');
    c_x(&s);
    rh_script_expect(&s, "1 open\n"
                         "1/1 execute |bad| -> 42601 [b] {PB1E2}\n"
                         "1/2 execute |good| -> ? [] skipped {P3B4E5}\n"
                         "1/3 query |not looked at| -> ? [] skipped {Q}\n"
                         "1/4 protocol -> 00000 I [e] {S}\n"
                         "1/5 query |select 1| -> 00000 SELECT rows=1 I [be] {Q}\n"
                         "1 close disconnected\n");
}

static void test_a_failed_parse_and_the_names(void **state)
{
    (void) state;
    login();
    c_p(&s, "a", "select 1");
    c_p(&s, "", "select 2");
    c_s(&s);
    s_list(&s, "11");
    s_z(&s, 'I');
    c_p(&s, "a", "select 3"); /* 42P05: the old one stays */
    c_s(&s);
    s_e(&s, "ERROR", "42P05");
    s_z(&s, 'I');
    c_b(&s, "", "a", NULL);
    c_e(&s, "", 0);
    c_s(&s);
    s_list(&s, "2");
    s_c(&s, "SELECT 1");
    s_z(&s, 'I');
    c_p(&s, "", "bad"); /* the unnamed one does not */
    c_s(&s);
    s_e(&s, "ERROR", "42601");
    s_z(&s, 'I');
    c_b(&s, "", "", NULL);
    c_e(&s, "", 0);
    c_s(&s);
    s_e(&s, "ERROR", "26000");
    s_z(&s, 'I');
    c_q(&s, "deallocate all");
    s_c(&s, "DEALLOCATE ALL");
    s_z(&s, 'I');
    c_b(&s, "", "a", NULL);
    c_e(&s, "", 0);
    c_s(&s);
    s_e(&s, "ERROR", "26000");
    s_z(&s, 'I');
    s.no_steps = true;
    rh_script_expect(&s, "1 open\n"
                         "1/1 protocol s:a |select 1| -> 00000 [b]\n"
                         "1/2 protocol |select 2| -> 00000 I [e]\n"
                         "1/3 protocol s:a |select 3| -> 42P05 I [be]\n"
                         "1/4 execute s:a |select 1| -> 00000 SELECT rows=1 I [be]\n"
                         "1/5 protocol |bad| -> 42601 I [be]\n"
                         "1/6 execute -> 26000 I [be]\n"
                         "1/7 query |deallocate all| -> 00000 DEALLOCATE ALL I [be]\n"
                         "1/8 execute s:a -> 26000 I [be]\n"
                         "1 close closed without Terminate\n");
}

static void test_portals_and_row_limits(void **state)
{
    (void) state;
    login();
    c_q(&s, "begin");
    s_c(&s, "BEGIN");
    s_z(&s, 'T');
    c_p(&s, "", "select g");
    c_b(&s, "p1", "", NULL);
    c_d(&s, 'P', "p1");
    c_h(&s);
    s_list(&s, "12T");
    c_e(&s, "p1", 2);
    c_h(&s);
    s_rows(&s, 2);
    s_list(&s, "s");
    c_e(&s, "p1", 2);
    c_s(&s);
    s_rows(&s, 1);
    s_c(&s, "SELECT 1");
    s_z(&s, 'T');
    c_c(&s, 'P', "p1");
    c_s(&s);
    s_list(&s, "3");
    s_z(&s, 'T');
    c_q(&s, "commit");
    s_c(&s, "COMMIT");
    s_z(&s, 'I');
    c_e(&s, "p1", 0); /* it went with its transaction */
    c_s(&s);
    s_e(&s, "ERROR", "34000");
    s_z(&s, 'I');
    rh_script_expect(&s, "1 open\n"
                         "1/1 query |begin| -> 00000 BEGIN T [bk] {Q}\n"
                         "1/2 execute p:p1 |select g| limit=2 -> 00000 rows=2 [k] {PB1D2H3EH1}\n"
                         "1/3 fetch p:p1 |select g| limit=2 -> 00000 SELECT rows=1 T [k] {ES1}\n"
                         "1/4 protocol p:p1 -> 00000 T [k] {pS1}\n"
                         "1/5 query |commit| -> 00000 COMMIT I [ke] {Q}\n"
                         "1/6 execute p:p1 -> 34000 I [be] {ES1}\n"
                         "1 close closed without Terminate\n");
}

static void test_copy(void **state)
{
    (void) state;
    login();
    c_q(&s, "copy t from stdin");
    s_copy(&s, 'G');
    c_copy(&s, "1\n");
    c_copy(&s, "2\n");
    c_copy_done(&s);
    s_c(&s, "COPY 2");
    s_z(&s, 'I');
    /* Data at once, a failure of the client. */
    c_q(&s, "copy t from stdin");
    c_copy(&s, "1\n");
    c_copy_fail(&s, "no");
    s_copy(&s, 'G');
    s_e(&s, "ERROR", "57014");
    s_z(&s, 'I');
    /* Extended: the first Sync is taken in silence. */
    c_p(&s, "", "copy t from stdin");
    c_b(&s, "", "", NULL);
    c_e(&s, "", 0);
    c_s(&s);
    s_list(&s, "12");
    s_copy(&s, 'G');
    c_copy(&s, "1\n");
    c_copy_done(&s);
    c_s(&s);
    s_c(&s, "COPY 1");
    s_z(&s, 'I');
    /* It fails before the data: both are answered. */
    c_p(&s, "", "copy nothing from stdin");
    c_b(&s, "", "", NULL);
    c_e(&s, "", 0);
    c_s(&s);
    c_copy(&s, "1\n");
    c_copy_done(&s);
    c_s(&s);
    s_list(&s, "12");
    s_e(&s, "ERROR", "42P01");
    s_z(&s, 'I');
    s_z(&s, 'I');
    c_q(&s, "copy t to stdout");
    s_copy(&s, 'H');
    s_m(&s, 'd', "1\n", 2);
    s_m(&s, 'd', "2\n", 2);
    s_list(&s, "c");
    s_c(&s, "COPY 2");
    s_z(&s, 'I');
    rh_script_expect(&s,
                     "1 open\n"
                     "1/1 query |copy t from stdin| -> 00000 COPY rows=2 I [be] {Qd1}\n"
                     "1/1 copy-data 19 bytes, 3 messages\n"
                     "1/2 query |copy t from stdin| -> 57014 I [be] {Qd1}\n"
                     "1/2 copy-data 15 bytes, 2 messages\n"
                     "1/3 execute |copy t from stdin| -> 00000 COPY rows=1 I [be] {PB1E2S3d1S1}\n"
                     "1/3 copy-data 12 bytes, 2 messages\n"
                     "1/4 execute |copy nothing from stdin| -> 42P01 I [be] {PB1E2S3d4S4}\n"
                     "1/4 copy-data 12 bytes, 2 messages\n"
                     "1/5 query |copy t to stdout| -> 00000 COPY rows=2 I [be] {Q}\n"
                     "1 close closed without Terminate\n");
}

static void test_startup_and_encryption(void **state)
{
    (void) state;
    /* GSS, then SSL, both refused; protocol 3.2 with a long key; a password that is never kept. */
    c_code(&s, RH_PG_CODE_GSS);
    s_raw(&s, "N", 1);
    c_code(&s, RH_PG_CODE_SSL);
    s_raw(&s, "N", 1);
    c_startup(&s, 196610, "joe");
    s_m(&s, 'v', "\0\3\0\0\0\0\0\0", 8);
    s_m(&s, 'R', "\0\0\0\3", 4);
    c_password(&s, "hunter2");
    s_parameter(&s, "application_name", "");
    s_login(&s, 77, "0123456789abcdef0123456789abcdef", 32);
    c_q(&s, "alter role joe password 'hunter2'");
    s_c(&s, "ALTER ROLE");
    s_z(&s, 'I');
    rh_script_play(&s, 0, NULL);
    assert_null(strstr(rh_buf_cstr(&s.out), "hunter2"));
    rh_script_expect(&s,
                     "1 open\n"
                     "1/1 query |alter role joe password '<password removed by pgrehearse>'| -> "
                     "00000 ALTER ROLE I [be] hold=secret {Q}\n"
                     "1 close closed without Terminate\n");
    /* Encryption, asked for or at once. */
    c_code(&s, RH_PG_CODE_SSL);
    s_raw(&s, "S", 1);
    c_raw(&s, "\x16\3\1\0\5hello", 10);
    rh_script_expect(&s, "1 open\n1 gap encrypted session, cannot be captured: 1\n"
                         "1 close closed without Terminate\n");
    c_raw(&s, "\x16\3\1\0\5hello", 10);
    s_raw(&s, "\x16\3\1\0\5hello", 10);
    rh_script_expect(&s, "1 open\n1 gap encrypted session, cannot be captured: 1\n"
                         "1 close closed without Terminate\n");
    /* A login that is refused, one that is not finished. */
    c_startup(&s, 196608, "joe");
    s_e(&s, "FATAL", "28P01");
    rh_script_expect(&s, "1 open\n1 close login refused\n");
    c_startup(&s, 196608, "joe");
    s_m(&s, 'R', "\0\0\0\3", 4);
    rh_script_play(&s, 0, NULL);
    assert_int_equal(s.counts.logins_unfinished, 1);
    rh_script_expect(&s, "");
}

static void test_other_protocols(void **state)
{
    (void) state;
    static const char *const first[] = {"GET / HTTP/1.1\r\nHost: a\r\n\r\n", "SSH-2.0-OpenSSH\r\n",
                                        "\x7f\x7f\x7f\x7fgarbage"};
    for (size_t i = 0; i < sizeof first / sizeof first[0]; i++) {
        c_raw(&s, first[i], strlen(first[i]));
        s_raw(&s, "HTTP/1.1 200 OK\r\n\r\n", 19);
        rh_script_expect(&s, "0 gap connections of another protocol: 1\n");
    }
    /* MySQL: the server speaks first. */
    s_raw(&s, "\x4a\0\0\0\x0a 8.0.1", 11);
    c_raw(&s, "\x20\0\0\1\x85", 5);
    rh_script_expect(&s, "0 gap connections of another protocol: 1\n");
    /* A port scanner. */
    c_raw(&s, "\0\0\0\x08\0\xff\0\xff", 8);
    rh_script_expect(&s, "0 gap connections of another protocol: 1\n");
}

/* Executions of what is forgotten are told, and can be replayed: their Parse was told before. */
static void test_the_room_of_prepared_statements(void **state)
{
    (void) state;
    static const char *const names[] = {"a", "b", "a"};
    s.limits.names_bytes = sizeof(struct rh_wire_prepared) + sizeof("a") + sizeof("select 1");
    login();
    c_p(&s, "a", "select 1");
    c_p(&s, "b", "select 2");
    c_s(&s);
    s_list(&s, "11");
    s_z(&s, 'I');
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        if (i == 2) { /* beyond the room by itself */
            c_p(&s, "c", "select a_text_that_is_too_long_for_the_room_of_this_capture");
            s_list(&s, "1");
        }
        c_b(&s, "", names[i], NULL);
        c_e(&s, "", 0);
        c_s(&s);
        s_list(&s, "2");
        s_c(&s, "SELECT 1");
        s_z(&s, 'I');
    }
    c_x(&s);
    s.no_steps = true;
    rh_script_expect(&s, "1 open\n"
                         "1/1 protocol s:a |select 1| -> 00000 [b]\n"
                         "1/2 protocol s:b |select 2| -> 00000 I [e]\n"
                         "1/3 execute s:a -> 00000 SELECT rows=1 I [be]\n"
                         "1/4 execute s:b |select 2| -> 00000 SELECT rows=1 I [be]\n"
                         "1/5 protocol s:c |select a_text_that_is_too_long_for_the_room_of_this_"
                         "capture| -> 00000 [b]\n"
                         "1/6 execute s:a -> 00000 SELECT rows=1 I [e]\n"
                         "1 close disconnected\n");
    assert_int_equal(s.counts.forgotten, 3);
}

static void test_joined_midway(void **state)
{
    (void) state;
    s.joined_midway = true;
    c_b(&s, "", "S_1", "x");
    c_e(&s, "", 0);
    c_s(&s);
    s_list(&s, "2");
    s_rows(&s, 1);
    s_c(&s, "SELECT 1");
    s_z(&s, 'I');
    c_q(&s, "select 2");
    s_c(&s, "SELECT 0");
    s_z(&s, 'I');
    rh_script_expect(&s, "1/1 execute s:S_1 (x) -> ? [be] hold=not-prepared {BE1S2}\n"
                         "1/2 query |select 2| -> 00000 SELECT rows=0 I [be] {Q}\n"
                         "1 gap executions of statements prepared before the capture: 1\n"
                         "1 close closed without Terminate\n");
    /* In the middle of an answer, and of a message. */
    s.joined_midway = true;
    s_raw(&s, "abcdefghijklmn", 14);
    s_c(&s, "SELECT 1");
    s_z(&s, 'T');
    c_q(&s, "select 3");
    s_c(&s, "SELECT 0");
    s_z(&s, 'T');
    s.no_steps = true;
    rh_script_expect(&s, "1 gap bytes passed over until messages began again: 28\n"
                         "1/1 query |select 3| -> ? [k]\n"
                         "1 close closed without Terminate\n");
}

/* What a session says first, and what of it begins a transaction. */
static void test_joined_within_a_transaction(void **state)
{
    (void) state;
    static const struct {
        const char *sql;
        const char *tag; /* NULL: it fails */
        char ready;
        const char *marks;
    } cases[] = {
        {"insert 1", "INSERT 0 1", 'T', "k"},
        {"insert 1", "INSERT 0 1", 'I', "be"},
        {"begin", "BEGIN", 'T', "bk"},
        {"begin; insert 1", "INSERT 0 1", 'T', "bk"},
        {"begin; insert 1; commit", "COMMIT", 'I', "be"},
        {"begin; insert 1", NULL, 'E', "bk"},
        {"commit", "COMMIT", 'I', "ke"},
        {"rollback to savepoint a", "ROLLBACK", 'T', "k"},
        {"commit and chain", "COMMIT", 'T', "k"},
        {"insert 1", NULL, 'E', "k"},
        {"insert 1", NULL, 'I', "be"},
        {"commit; insert 1", "INSERT 0 1", 'I', "ke"},
    };
    char want[128];
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        s.joined_midway = s.no_steps = s.no_outcome = true;
        c_q(&s, cases[i].sql);
        if (cases[i].tag) {
            s_c(&s, cases[i].tag);
        } else {
            s_e(&s, "ERROR", "42601");
        }
        s_z(&s, cases[i].ready);
        snprintf(want, sizeof want, "1/1 query |%s| [%s]\n1 close closed without Terminate\n",
                 cases[i].sql, cases[i].marks);
        rh_script_expect(&s, want);
    }
    /* Behind the transaction that was joined another one; and a pipeline that ends the first. */
    s.joined_midway = s.no_steps = s.no_outcome = true;
    c_p(&s, "", "insert 1");
    c_b(&s, "", "", NULL);
    c_e(&s, "", 0);
    c_p(&s, "", "commit");
    c_b(&s, "", "", NULL);
    c_e(&s, "", 0);
    c_s(&s);
    s_list(&s, "12");
    s_c(&s, "INSERT 0 1");
    s_list(&s, "12");
    s_c(&s, "COMMIT");
    s_z(&s, 'I');
    c_q(&s, "begin");
    s_c(&s, "BEGIN");
    s_z(&s, 'T');
    rh_script_expect(&s, "1/1 execute |insert 1| [k]\n"
                         "1/2 execute |commit| [ke]\n"
                         "1/3 query |begin| [bk]\n"
                         "1 close closed without Terminate\n");
}

/* The answers of messages that were not seen are not taken for those of the first that were. */
static void test_joined_within_a_pipeline(void **state)
{
    (void) state;
    s.joined_midway = true;
    c_p(&s, "", "select $1");
    c_b(&s, "", "", "x");
    c_d(&s, 'P', "");
    c_e(&s, "", 0);
    c_s(&s);
    s_list(&s, "12");
    s_c(&s, "SAVEPOINT");
    s_list(&s, "12T");
    s_rows(&s, 1);
    s_c(&s, "SELECT 1");
    s_z(&s, 'T');
    c_q(&s, "select 3");
    s_c(&s, "SELECT 0");
    s_z(&s, 'T');
    s.no_steps = true;
    rh_script_expect(&s, "1/1 execute |select $1| (x) -> ? [k]\n"
                         "1/2 query |select 3| -> 00000 SELECT rows=0 T [k]\n"
                         "1 close closed without Terminate\n");
    /* The answer that is left over is an error. */
    s.joined_midway = true;
    c_p(&s, "", "select $1");
    c_b(&s, "", "", "x");
    c_e(&s, "", 0);
    c_s(&s);
    s_list(&s, "12");
    s_c(&s, "SAVEPOINT");
    s_e(&s, "ERROR", "42P01");
    s_z(&s, 'E');
    s.no_steps = true;
    rh_script_expect(&s, "1/1 execute |select $1| (x) -> ? [k]\n"
                         "1 close closed without Terminate\n");
    /* The answers fit one by one, to what was asked after what they answer. */
    s.joined_midway = true;
    c_q(&s, "savepoint a");
    c_p(&s, "", "select $1");
    c_b(&s, "", "", "x");
    c_e(&s, "", 0);
    c_s(&s);
    s_c(&s, "RELEASE");
    s_z(&s, 'T');
    s_c(&s, "SAVEPOINT");
    s_z(&s, 'T');
    s_e(&s, "ERROR", "42P01");
    s_z(&s, 'E');
    c_q(&s, "rollback to a");
    s_c(&s, "ROLLBACK");
    s_z(&s, 'T');
    s.no_steps = true;
    rh_script_expect(&s, "1/1 query |savepoint a| -> ? [k]\n"
                         "1/2 execute |select $1| (x) -> ? [k]\n"
                         "1/3 query |rollback to a| -> 00000 ROLLBACK T [k]\n"
                         "1 close closed without Terminate\n");
}

static void test_unasked_messages(void **state)
{
    (void) state;
    login();
    c_q(&s, "listen a");
    s_m(&s, 'N', "SNOTICE\0Mx\0\0", 13);
    s_c(&s, "LISTEN");
    s_z(&s, 'I');
    s_m(&s, 'A', "\0\0\0\1a\0\0", 7);
    s_parameter(&s, "TimeZone", "UTC");
    c_q(&s, "select 1");
    s_m(&s, 'y', "unknown", 7);
    s_c(&s, "SELECT 1");
    s_z(&s, 'I');
    s_e(&s, "FATAL", "57P01");
    s.no_steps = true;
    rh_script_expect(&s, "1 open\n"
                         "1/1 query |listen a| -> 00000 LISTEN I [be]\n"
                         "1/2 query |select 1| -> 00000 SELECT rows=1 I [be]\n"
                         "1 close ended by the server\n");
}

static void test_a_message_that_is_not_right(void **state)
{
    (void) state;
    login();
    /* No NUL behind the text; a Bind that claims more than it has. */
    c_raw(&s, "Q\0\0\0\x0cselect 1", 13);
    s_e(&s, "ERROR", "08P01");
    s_z(&s, 'I');
    c_raw(&s, "B\0\0\0\x0e\0\0\0\0\x7f\xff\0\0\0\1", 15);
    c_s(&s);
    s_e(&s, "ERROR", "08P01");
    s_z(&s, 'I');
    rh_script_expect(&s, "1 open\n"
                         "1/1 query |select 1| -> 08P01 I [be] hold=cut-text {Q}\n"
                         "1/2 protocol -> 08P01 I [be] hold=cut-parameter {BS1}\n"
                         "1 close closed without Terminate\n");
}

static void test_a_large_copy_goes_out_early(void **state)
{
    (void) state;
    char row[1001];
    memset(row, 'x', sizeof row - 1);
    row[sizeof row - 1] = '\0';
    login();
    c_q(&s, "copy t from stdin");
    s_copy(&s, 'G');
    for (int i = 0; i < 100; i++) {
        c_copy(&s, row);
    }
    c_copy_done(&s);
    s_c(&s, "COPY 100");
    s_z(&s, 'I');
    rh_script_expect(&s, "1 open\n"
                         "1/1 query |copy t from stdin| -> ? [be] {Qd1}\n"
                         "1/1 copy-data 66330 bytes, 66 messages\n"
                         "1/1 copy-data 34175 bytes, 35 messages\n"
                         "1/1 outcome -> 00000 COPY rows=100 I\n"
                         "1 close closed without Terminate\n");
}

/* ------------------------------------------------------------------------------------------------
 * Cancel requests: several connections
 */

static void test_cancel(void **state)
{
    (void) state;
    struct rh_capture_sink sink;
    struct rh_tcp_sink tcp;
    struct rh_script other;
    struct rh_tcp_connection_info info = {.peer = {{"192.0.2.7", 40000}, {"192.0.2.1", 5432}},
                                          .opened_ns = 1000};
    rh_script_init(&other);
    login();
    c_q(&s, "select pg_sleep(9)");
    s_e(&s, "ERROR", "57014");
    s_z(&s, 'I');
    c_cancel(&other, 77, "key!", 4);
    c_cancel(&other, 77, "kex!", 4);
    rh_script_sink(&s, &sink);
    struct rh_wire_capture *c = rh_wire_capture_new(&sink, NULL);
    rh_wire_capture_tcp_sink(c, &tcp);
    void *one = tcp.open(tcp.context, &info);
    for (uint32_t i = 0; i < s.turn_count; i++) {
        const struct rh_script_turn *t = &s.turns[i];
        if (i == s.turn_count - 1) {
            for (int k = 0; k < 2; k++) {
                void *two = tcp.open(tcp.context, &info);
                tcp.data(two, RH_TCP_CLIENT, 5000, rh_span(other.bytes.data + k * 16, 16));
                tcp.close(two, 5500, RH_TCP_END_FIN);
            }
        }
        tcp.data(one, t->side, 2000 * (i + 1), rh_span(s.bytes.data + t->at, t->len));
    }
    tcp.close(one, 20000, RH_TCP_END_RST);
    assert_int_equal(rh_wire_capture_finish(c, 30000, NULL), 0);
    assert_int_equal(rh_wire_capture_counts(c)->cancels, 2);
    rh_wire_capture_free(c);
    rh_script_release(&other);
    assert_string_equal(rh_buf_cstr(&s.out),
                        "1 open\n"
                        "1/1 query |select pg_sleep(9)| -> 57014 I [be] canceled {Q}\n"
                        "1/2 cancel -> ? []\n"
                        "1 close connection reset\n"
                        "0 gap cancel requests of sessions that were not captured: 1\n");
}

/* One that comes when nothing runs is marked, one that comes when its session has ended is counted.
 */
static void test_a_cancel_of_nothing(void **state)
{
    (void) state;
    struct rh_capture_sink sink;
    struct rh_tcp_sink tcp;
    struct rh_script other;
    struct rh_tcp_connection_info info = {.peer = {{"192.0.2.7", 40000}, {"192.0.2.1", 5432}},
                                          .opened_ns = 1000};
    rh_script_init(&other);
    login();
    c_q(&s, "select 1");
    s_c(&s, "SELECT 1");
    s_z(&s, 'I');
    c_cancel(&other, 77, "key!", 4);
    rh_script_sink(&s, &sink);
    struct rh_wire_capture *c = rh_wire_capture_new(&sink, NULL);
    rh_wire_capture_tcp_sink(c, &tcp);
    void *one = tcp.open(tcp.context, &info);
    for (uint32_t i = 0; i < s.turn_count; i++) {
        const struct rh_script_turn *t = &s.turns[i];
        tcp.data(one, t->side, 2000 * (i + 1), rh_span(s.bytes.data + t->at, t->len));
    }
    for (int k = 0; k < 2; k++) {
        void *two = tcp.open(tcp.context, &info);
        tcp.data(two, RH_TCP_CLIENT, 15000 + k * 10000, rh_buf_span(&other.bytes));
        tcp.close(two, 16000 + k * 10000, RH_TCP_END_FIN);
        if (k == 0) {
            tcp.close(one, 20000, RH_TCP_END_FIN);
        }
    }
    assert_int_equal(rh_wire_capture_finish(c, 30000, NULL), 0);
    assert_int_equal(rh_wire_capture_counts(c)->cancels, 2);
    assert_int_equal(rh_wire_capture_counts(c)->cancels_late, 1);
    assert_int_equal(rh_wire_capture_counts(c)->cancels_unlinked, 0);
    rh_wire_capture_free(c);
    rh_script_release(&other);
    assert_string_equal(rh_buf_cstr(&s.out),
                        "1 open\n"
                        "1/1 query |select 1| -> 00000 SELECT rows=1 I [be] {Q}\n"
                        "1/2 cancel -> ? [] hold=cancel-not-needed\n"
                        "1 close closed without Terminate\n");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_simple_queries, setup, teardown),
        cmocka_unit_test_setup_teardown(test_steps_belong_to_their_execution, setup, teardown),
        cmocka_unit_test_setup_teardown(test_an_error_skips_to_sync, setup, teardown),
        cmocka_unit_test_setup_teardown(test_a_failed_parse_and_the_names, setup, teardown),
        cmocka_unit_test_setup_teardown(test_portals_and_row_limits, setup, teardown),
        cmocka_unit_test_setup_teardown(test_copy, setup, teardown),
        cmocka_unit_test_setup_teardown(test_startup_and_encryption, setup, teardown),
        cmocka_unit_test_setup_teardown(test_other_protocols, setup, teardown),
        cmocka_unit_test_setup_teardown(test_the_room_of_prepared_statements, setup, teardown),
        cmocka_unit_test_setup_teardown(test_joined_midway, setup, teardown),
        cmocka_unit_test_setup_teardown(test_joined_within_a_transaction, setup, teardown),
        cmocka_unit_test_setup_teardown(test_joined_within_a_pipeline, setup, teardown),
        cmocka_unit_test_setup_teardown(test_unasked_messages, setup, teardown),
        cmocka_unit_test_setup_teardown(test_a_message_that_is_not_right, setup, teardown),
        cmocka_unit_test_setup_teardown(test_a_large_copy_goes_out_early, setup, teardown),
        cmocka_unit_test_setup_teardown(test_cancel, setup, teardown),
        cmocka_unit_test_setup_teardown(test_a_cancel_of_nothing, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
