/* common/secret */
#include "rh_test.h"

#include <stdio.h>
#include <string.h>

#include "common/alloc.h"
#include "common/secret.h"
#include "sql_corpus.h"

#define M RH_SECRET_MARKER

struct secret_case {
    const char *sql;
    const char *masked; /* NULL: it holds none */
};

static void check_cases(const struct secret_case *cases, size_t count)
{
    struct rh_buf out;
    rh_buf_init(&out, 10000);
    for (size_t i = 0; i < count; i++) {
        rh_buf_clear(&out);
        rh_buf_add_cstr(&out, "untouched");
        bool found = rh_secret_mask(rh_span_cstr(cases[i].sql), &out);
        const char *want = cases[i].masked ? cases[i].masked : "untouched";
        if (found != (cases[i].masked != NULL) || strcmp(rh_buf_cstr(&out), want) != 0) {
            fail_msg("%s gave %d %s\nnot %s", cases[i].sql, found, rh_buf_cstr(&out), want);
        }
    }
    rh_buf_release(&out);
}

#define CHECK(cases) check_cases(cases, sizeof(cases) / sizeof(cases)[0])

static void test_roles(void **state)
{
    (void) state;
    static const struct secret_case CASES[] = {
        {"CREATE ROLE r PASSWORD 'x'", "CREATE ROLE r PASSWORD " M},
        {"alter user u with encrypted /* c */ pAssword -- d\n 'it''s' valid until 'tomorrow'",
         "alter user u with encrypted /* c */ pAssword -- d\n " M " valid until 'tomorrow'"},
        {"CREATE USER u UNENCRYPTED PASSWORD E'\\'x' LOGIN",
         "CREATE USER u UNENCRYPTED PASSWORD " M " LOGIN"},
        {"ALTER GROUP g PASSWORD $$x$$", "ALTER GROUP g PASSWORD " M},
        {"CREATE ROLE r PASSWORD U&'d\\0061' IN ROLE s", "CREATE ROLE r PASSWORD " M " IN ROLE s"},
        {"begin; alter role a password 'x'; alter role b password 'y'; commit",
         "begin; alter role a password " M "; alter role b password " M "; commit"},
        {"CREATE ROLE r PASSWORD 'x'\n'y' LOGIN", "CREATE ROLE r PASSWORD " M " LOGIN"},
        {"CREATE ROLE r PASSWORD 'cut", "CREATE ROLE r PASSWORD " M},
        {"CREATE ROLE r PASSWORD 'a\\' LOGIN VALID UNTIL 'b'", "CREATE ROLE r PASSWORD " M},
        {"ALTER ROLE r PASSWORD \"x\"", "ALTER ROLE r PASSWORD " M},
        {"ALTER ROLE r PASSWORD secret1;", "ALTER ROLE r PASSWORD " M ";"},
        {"ALTER ROLE r PASSWORD = 'x'", "ALTER ROLE r PASSWORD = " M},
        {"CREATE USER password PASSWORD 'x'", "CREATE USER password PASSWORD " M},
        {"ALTER ROLE r PASSWORD NULL", NULL},
        {"ALTER ROLE password VALID UNTIL 'tomorrow'", NULL},
        {"ALTER ROLE r PASSWORD", NULL},
        {"ALTER ROLE r SET search_path = 'password'", NULL},
        {"SET password_encryption = 'md5'", NULL},
        {"ALTER ROLE r SET password_encryption = 'md5'", NULL},
        {"CREATE TABLE t (password text default 'x')", NULL},
        {"ALTER TABLE u ADD password text DEFAULT 'x'", NULL},
        {"SELECT password, 'x' FROM users WHERE password = 'y'", NULL},
        {"COMMENT ON TABLE t IS 'the password'", NULL},
        {"COMMENT ON ROLE r IS 'password'", NULL},
        {"alter role r login; select password 'x'", NULL},
        {"passw", NULL},
        {"", NULL},
    };
    CHECK(CASES);
}

static void test_foreign_servers(void **state)
{
    (void) state;
    static const struct secret_case CASES[] = {
        {"CREATE USER MAPPING FOR u SERVER s OPTIONS (user 'u', password 'x')",
         "CREATE USER MAPPING FOR u SERVER s OPTIONS (user 'u', password " M ")"},
        {"alter user mapping for u server s options (set \"password\" 'x', add sslpassword 'y')",
         "alter user mapping for u server s options (set \"password\" " M ", add sslpassword " M
         ")"},
        {"CREATE SERVER s FOREIGN DATA WRAPPER w OPTIONS (host 'h', PASSWD 'x')",
         "CREATE SERVER s FOREIGN DATA WRAPPER w OPTIONS (host 'h', PASSWD " M ")"},
        {"ALTER SERVER s OPTIONS (conninfo 'host=h password = x')",
         "ALTER SERVER s OPTIONS (conninfo " M ")"},
        {"CREATE USER MAPPING FOR password SERVER s OPTIONS (user 'u')", NULL},
        {"CREATE USER MAPPING FOR u SERVER s OPTIONS (password_required 'false')", NULL},
    };
    CHECK(CASES);
}

static void test_connection_strings(void **state)
{
    (void) state;
    static const struct secret_case CASES[] = {
        {"CREATE SUBSCRIPTION s CONNECTION 'password=x' PUBLICATION p",
         "CREATE SUBSCRIPTION s CONNECTION " M " PUBLICATION p"},
        {"ALTER SUBSCRIPTION s CONNECTION 'postgres://u:x@h/d'",
         "ALTER SUBSCRIPTION s CONNECTION " M},
        {"CREATE SUBSCRIPTION s CONNECTION 'host=h passfile=f' PUBLICATION p", NULL},
        {"CREATE SUBSCRIPTION s CONNECTION 'postgres://u@h/d' PUBLICATION p", NULL},
        {"SELECT dblink_connect('c', 'PASSWORD = ''x''')", "SELECT dblink_connect('c', " M ")"},
        {"select * from public.dblink('user=u password=x', 'select 1') t(a int)",
         "select * from public.dblink(" M ", 'select 1') t(a int)"},
        {"SELECT dblink('c', 'select 1')", NULL},
        {"ALTER SYSTEM SET primary_conninfo = 'host=h password=x'",
         "ALTER SYSTEM SET primary_conninfo = " M},
        {"ALTER SYSTEM SET password_encryption = 'md5'", NULL},
        {"select f('postgresql://u:x@h:5432/d', 'http://a:1/b')",
         "select f(" M ", 'http://a:1/b')"},
        {"select pglogical.create_node('n', dsn := 'dbname=d password=x')",
         "select pglogical.create_node('n', dsn := " M ")"},
        {"insert into urls values ('https://x.y/?a=b:c@d')", NULL},
    };
    CHECK(CASES);
}

static void test_commands_inside_strings(void **state)
{
    (void) state;
    static const struct secret_case CASES[] = {
        {"DO $$BEGIN ALTER USER u PASSWORD 'x'; END$$",
         "DO $$BEGIN ALTER USER u PASSWORD " M "; END$$"},
        {"DO $a$BEGIN EXECUTE $b$CREATE ROLE r PASSWORD 'x'$b$; END$a$",
         "DO $a$BEGIN EXECUTE $b$CREATE ROLE r PASSWORD " M "$b$; END$a$"},
        {"DO $$BEGIN EXECUTE 'ALTER USER u PASSWORD ''x'''; END$$",
         "DO $$BEGIN EXECUTE " M "; END$$"},
        {"DO $$BEGIN ALTER USER u PASSWORD 'cut", "DO $$BEGIN ALTER USER u PASSWORD " M},
        {"DO $1_$", NULL},
        {"DO $a$$b$$c$$d$$e$$f$ password $f$$e$$d$$c$$b$$a$",
         "DO $a$$b$$c$$d$$e$" M "$e$$d$$c$$b$$a$"},
        {"DO $$BEGIN RAISE NOTICE 'password'; END$$", NULL},
    };
    CHECK(CASES);
}

static void test_texts_without_the_words_take_no_memory(void **state)
{
    (void) state;
    struct rh_buf out;
    rh_buf_init(&out, 1000);
    uint64_t before = rh_alloc_count();
    for (int i = 0; i < 100; i++) {
        assert_false(rh_secret_mask(
            RH_SPAN_LITERAL("update passengers set w = 'show' where x::text = 'a:b'"), &out));
        assert_false(rh_secret_mask(RH_SPAN_LITERAL("select password from users"), &out));
    }
    assert_int_equal(rh_alloc_count(), before);
    assert_null(out.data);
}

/* A second pass finds the marker only, and nothing that was a secret. */
static struct rh_buf once;
static struct rh_buf twice;
static size_t masked_count;

static void check_stable(struct rh_span text)
{
    if (rh_secret_mask(text, &once)) {
        masked_count++;
        if (rh_secret_mask(rh_buf_span(&once), &twice)) {
            assert_true(rh_span_equal(rh_buf_span(&once), rh_buf_span(&twice)));
        }
    }
}

static void test_corpus(void **state)
{
    (void) state;
    rh_buf_init(&once, 64 << 20);
    rh_buf_init(&twice, 64 << 20);
    size_t files = sql_corpus_walk(check_stable);
    rh_buf_release(&once);
    rh_buf_release(&twice);
    if (files == 0) {
        skip();
    }
    assert_true(masked_count > 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_roles),
        cmocka_unit_test(test_foreign_servers),
        cmocka_unit_test(test_connection_strings),
        cmocka_unit_test(test_commands_inside_strings),
        cmocka_unit_test(test_texts_without_the_words_take_no_memory),
        cmocka_unit_test(test_corpus),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
