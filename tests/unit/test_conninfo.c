/* replay/conninfo */
#include "rh_test.h"

#include <stdlib.h>

#include "replay/conninfo.h"

/* What libpq would be given: target by -d, -h, -p, -U, and a session. */
struct scene {
    struct rh_conninfo target;
    struct rh_conninfo info;
    struct rh_error err;
    int result;
};

static void scene_set(struct scene *s, const char *dbname, const char *host, const char *port,
                      const char *user, const struct rh_conninfo_session *session)
{
    rh_conninfo_init(&s->target);
    rh_conninfo_init(&s->info);
    rh_error_clear(&s->err);
    s->result = rh_conninfo_set_target(&s->target, dbname, host, port, user, &s->err);
    if (s->result == 0) {
        s->result = rh_conninfo_add_session(&s->info, &s->target, session, &s->err);
    }
}

static void scene_release(struct scene *s)
{
    rh_conninfo_release(&s->info);
    rh_conninfo_release(&s->target);
}

static void assert_value(const struct scene *s, const char *keyword, const char *want)
{
    assert_int_equal(s->result, 0);
    const char *got = rh_conninfo_get(&s->info, keyword);
    if (!want) {
        assert_null(got);
    } else {
        assert_non_null(got);
        assert_string_equal(got, want);
    }
}

static const struct rh_conninfo_session SHOP = {
    .user = {"clerk", 5}, .database = {"shop", 4}, .application = {"till 7", 6}};

static int setup(void **state)
{
    (void) state;
    setenv("PGUSER", "wrong", 1);
    setenv("PGDATABASE", "wrong", 1);
    unsetenv("PGOPTIONS");
    unsetenv("PGGSSENCMODE");
    return 0;
}

static void test_the_session_fills_what_the_target_leaves_open(void **state)
{
    (void) state;
    struct scene s;
    scene_set(&s, NULL, NULL, NULL, NULL, &SHOP);
    assert_value(&s, "user", "clerk");
    assert_value(&s, "dbname", "shop");
    assert_value(&s, "application_name", "till 7");
    assert_value(&s, "fallback_application_name", "pgrehearse");
    assert_value(&s, "gssencmode", "disable");
    assert_value(&s, "host", NULL);
    assert_value(&s, "options", NULL);
    assert_value(&s, "client_encoding", NULL);
    assert_null(s.info.keywords[s.info.count]);
    assert_null(s.info.values[s.info.count]);
    scene_release(&s);

    scene_set(&s, "clone", "db2", "6000", "tester", &SHOP);
    assert_value(&s, "user", "tester");
    assert_value(&s, "dbname", "clone");
    assert_value(&s, "host", "db2");
    assert_value(&s, "port", "6000");
    scene_release(&s);

    scene_set(&s, "", "", "", "", &SHOP);
    assert_value(&s, "user", "clerk");
    assert_value(&s, "dbname", "shop");
    assert_value(&s, "host", NULL);
    scene_release(&s);
}

static void test_strings_and_uris(void **state)
{
    (void) state;
    struct scene s;
    scene_set(&s, "host=db3 sslmode=require", "db2", "6000", "tester", &SHOP);
    assert_value(&s, "host", "db3"); /* a string wins, as in psql */
    assert_value(&s, "port", "6000");
    assert_value(&s, "user", "tester");
    assert_value(&s, "dbname", "shop");
    assert_value(&s, "sslmode", "require");
    scene_release(&s);

    scene_set(&s, "postgresql://u%40x:pw@h1,h2:7000/d%20b?application_name=mine", NULL, NULL, NULL,
              &SHOP);
    assert_value(&s, "user", "u@x");
    assert_value(&s, "password", "pw");
    assert_value(&s, "host", "h1,h2");
    assert_value(&s, "dbname", "d b");
    assert_value(&s, "application_name", "mine");
    scene_release(&s);

    /* A session's database that looks like a string is a name all the same. */
    struct rh_conninfo_session odd = {.user = rh_span_cstr("a=b"),
                                      .database = rh_span_cstr("host=evil")};
    scene_set(&s, "postgres://", NULL, NULL, NULL, &odd);
    assert_value(&s, "user", "a=b");
    assert_value(&s, "dbname", "host=evil");
    assert_value(&s, "host", NULL);
    scene_release(&s);

    scene_set(&s, "hots=db3", NULL, NULL, NULL, &SHOP);
    assert_int_equal(s.result, -1);
    assert_int_equal(s.err.code, RH_ERR_USAGE);
    assert_non_null(strstr(s.err.text, "hots"));
    assert_null(strchr(s.err.text, '\n'));
    scene_release(&s);
}

static void test_gss_cannot_be_demanded(void **state)
{
    (void) state;
    struct scene s;
    scene_set(&s, "gssencmode=require", NULL, NULL, NULL, &SHOP);
    assert_int_equal(s.result, -1);
    assert_int_equal(s.err.code, RH_ERR_USAGE);
    scene_release(&s);
    scene_set(&s, "gssencmode=prefer", NULL, NULL, NULL, &SHOP);
    assert_value(&s, "gssencmode", "disable");
    scene_release(&s);
    setenv("PGGSSENCMODE", "require", 1);
    scene_set(&s, NULL, NULL, NULL, NULL, &SHOP);
    assert_int_equal(s.result, -1);
    unsetenv("PGGSSENCMODE");
    scene_release(&s);
}

static void test_startup_parameters(void **state)
{
    (void) state;
    const struct rh_setting startup[] = {
        {RH_SPAN_LITERAL("user"), RH_SPAN_LITERAL("other")},
        {RH_SPAN_LITERAL("client_encoding"), RH_SPAN_LITERAL("LATIN1")},
        {RH_SPAN_LITERAL("options"), RH_SPAN_LITERAL("-c geqo=off")},
        {RH_SPAN_LITERAL("search_path"), RH_SPAN_LITERAL("a b,\\c")},
        {RH_SPAN_LITERAL("application_name"), RH_SPAN_LITERAL("jdbc")},
        {RH_SPAN_LITERAL("x y"), RH_SPAN_LITERAL("no setting has such a name")},
        {RH_SPAN_LITERAL("_pq_.thing"), RH_SPAN_LITERAL("1")},
        {RH_SPAN_LITERAL("myapp.tenant"), RH_SPAN_LITERAL("")},
    };
    struct rh_conninfo_session session = {.user = RH_SPAN_LITERAL("clerk"),
                                          .startup = startup,
                                          .startup_count = sizeof startup / sizeof startup[0]};
    struct scene s;
    scene_set(&s, NULL, NULL, NULL, NULL, &session);
    assert_value(&s, "user", "clerk");
    assert_value(&s, "client_encoding", "LATIN1");
    assert_value(&s, "application_name", "jdbc");
    assert_value(&s, "options", "-c geqo=off -c search_path=a\\ b,\\\\c -c myapp.tenant=");
    scene_release(&s);

    setenv("PGOPTIONS", "-c jit=off", 1);
    scene_set(&s, NULL, NULL, NULL, NULL, &session);
    assert_value(&s, "options",
                 "-c jit=off -c geqo=off -c search_path=a\\ b,\\\\c -c myapp.tenant=");
    scene_release(&s);
    scene_set(&s, "options='-c work_mem=1MB' client_encoding=UTF8", NULL, NULL, NULL, &session);
    assert_value(&s, "options",
                 "-c work_mem=1MB -c geqo=off -c search_path=a\\ b,\\\\c -c myapp.tenant=");
    assert_value(&s, "client_encoding", "UTF8");
    scene_release(&s);
    /* What makes it read-only stands behind all that may say otherwise. */
    session.read_only = true;
    scene_set(&s, "options='-c default_transaction_read_only=off'", NULL, NULL, NULL, &session);
    assert_value(&s, "options",
                 "-c default_transaction_read_only=off -c geqo=off -c search_path=a\\ b,\\\\c "
                 "-c myapp.tenant= -c default_transaction_read_only=on");
    scene_release(&s);
    /* Nothing of the session's own: PGOPTIONS is left to libpq. */
    scene_set(&s, NULL, NULL, NULL, NULL, &SHOP);
    assert_value(&s, "options", NULL);
    scene_release(&s);
    unsetenv("PGOPTIONS");
}

static void test_names_that_cannot_be(void **state)
{
    (void) state;
    struct scene s;
    struct rh_conninfo_session session = SHOP;
    session.user = rh_span("postgres\0x", 10);
    scene_set(&s, NULL, NULL, NULL, NULL, &session);
    assert_int_equal(s.result, -1);
    assert_int_equal(s.err.code, RH_ERR_FORMAT);
    scene_release(&s);

    char *longname = malloc(20000);
    memset(longname, 'x', 20000);
    session = SHOP;
    session.database = rh_span(longname, 20000);
    scene_set(&s, NULL, NULL, NULL, NULL, &session);
    assert_int_equal(s.result, -1);
    assert_int_equal(s.err.code, RH_ERR_LIMIT);
    scene_release(&s);

    struct rh_setting many[3];
    for (int i = 0; i < 3; i++) {
        many[i] = (struct rh_setting){RH_SPAN_LITERAL("search_path"), rh_span(longname, 4000)};
    }
    session = SHOP;
    session.startup = many;
    session.startup_count = 3;
    scene_set(&s, NULL, NULL, NULL, NULL, &session);
    assert_int_equal(s.result, -1);
    assert_int_equal(s.err.code, RH_ERR_LIMIT);
    scene_release(&s);
    free(longname);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_the_session_fills_what_the_target_leaves_open),
        cmocka_unit_test(test_strings_and_uris),
        cmocka_unit_test(test_gss_cannot_be_demanded),
        cmocka_unit_test(test_startup_parameters),
        cmocka_unit_test(test_names_that_cannot_be),
    };
    return cmocka_run_group_tests(tests, setup, NULL);
}
