/* common/sql_class */
#include "rh_test.h"

#include <string.h>

#include "common/sql_class.h"
#include "common/sql_template.h"

static const char *const NAMES[] = {
    [RH_SQL_CLASS_OTHER] = "other",
    [RH_SQL_CLASS_EMPTY] = "empty",
    [RH_SQL_CLASS_BEGIN] = "begin",
    [RH_SQL_CLASS_COMMIT] = "commit",
    [RH_SQL_CLASS_ROLLBACK] = "rollback",
    [RH_SQL_CLASS_CHAIN] = "chain",
    [RH_SQL_CLASS_SAVEPOINT] = "savepoint",
    [RH_SQL_CLASS_SET] = "set",
    [RH_SQL_CLASS_SET_LOCAL] = "set local",
    [RH_SQL_CLASS_SET_ENCODING] = "set encoding",
    [RH_SQL_CLASS_RESET] = "reset",
    [RH_SQL_CLASS_RESET_ALL] = "reset all",
    [RH_SQL_CLASS_DISCARD_ALL] = "discard all",
    [RH_SQL_CLASS_PREPARE] = "prepare",
    [RH_SQL_CLASS_DEALLOCATE] = "deallocate",
    [RH_SQL_CLASS_DEALLOCATE_ALL] = "deallocate all",
    [RH_SQL_CLASS_COPY_IN] = "copy in",
    [RH_SQL_CLASS_COPY_OUT] = "copy out",
    [RH_SQL_CLASS_SESSION_AUTH] = "session auth",
};

struct class_case {
    const char *sql;
    const char *want; /* class, and behind a colon the name */
};

static void describe(struct rh_span text, bool is_template, struct rh_buf *out)
{
    struct rh_sql_commands commands;
    struct rh_sql_command command;
    rh_sql_commands_init(&commands, text, is_template);
    rh_buf_clear(out);
    while (rh_sql_commands_next(&commands, &command)) {
        rh_buf_addf(out, "%s%s", out->len ? "; " : "", NAMES[command.klass]);
        if (command.name.data) {
            rh_buf_addf(out, ":%.*s", (int) command.name.len, command.name.data);
        }
    }
    if (out->len == 0) {
        rh_buf_add_cstr(out, NAMES[rh_sql_classify(text, is_template, NULL)]);
    }
}

static void check_cases(const struct class_case *cases, size_t count)
{
    struct rh_buf got;
    struct rh_buf tmpl;
    struct rh_literals literals;
    rh_buf_init(&got, 10000);
    rh_buf_init(&tmpl, 10000);
    for (size_t i = 0; i < count; i++) {
        struct rh_span text = rh_span_cstr(cases[i].sql);
        describe(text, false, &got);
        if (strcmp(rh_buf_cstr(&got), cases[i].want) != 0) {
            fail_msg("%s is %s, not %s", cases[i].sql, rh_buf_cstr(&got), cases[i].want);
        }
        rh_template_split(text, &tmpl, &literals);
        describe(rh_buf_span(&tmpl), true, &got);
        if (strcmp(rh_buf_cstr(&got), cases[i].want) != 0) {
            fail_msg("template of %s is %s", cases[i].sql, rh_buf_cstr(&got));
        }
    }
    rh_buf_release(&got);
    rh_buf_release(&tmpl);
}

#define CHECK(cases) check_cases(cases, sizeof(cases) / sizeof(cases)[0])

static void test_transactions(void **state)
{
    (void) state;
    static const struct class_case CASES[] = {
        {"BEGIN", "begin"},
        {"/* app */ begin isolation level serializable;", "begin"},
        {"start transaction read only", "begin"},
        {"start", "other"},
        {"COMMIT", "commit"},
        {"END", "commit"},
        {"end work", "commit"},
        {"commit and no chain", "commit"},
        {"commit transaction and chain", "chain"},
        {"COMMIT PREPARED 'x'", "other"},
        {"ROLLBACK", "rollback"},
        {"abort transaction", "rollback"},
        {"rollback work and chain", "chain"},
        {"rollback and no chain", "rollback"},
        {"ROLLBACK PREPARED 'x'", "other"},
        {"ROLLBACK TO s", "savepoint"},
        {"rollback transaction to savepoint s", "savepoint"},
        {"savepoint s", "savepoint"},
        {"release savepoint s", "savepoint"},
        {"PREPARE TRANSACTION 'x'", "commit"},
        {"PREPARE transaction AS SELECT 1", "prepare:transaction"},
    };
    CHECK(CASES);
}

static void test_settings(void **state)
{
    (void) state;
    static const struct class_case CASES[] = {
        {"SET work_mem = '1MB'", "set:work_mem"},
        {"set session Search_Path to a, b", "set:Search_Path"},
        {"set \"a\".b = 1", "set:\"a\".b"},
        {"set a . b = 1", "set:a . b"},
        {"set local work_mem to default", "set local:work_mem"},
        {"SET client_encoding TO 'utf8'", "set encoding"},
        {"set local \"client_encoding\" = latin1", "set encoding"},
        {"SET NAMES 'x'", "set encoding"},
        {"SET TIME ZONE 'UTC'", "set:timezone"},
        {"set local time zone interval '1' hour", "set local:timezone"},
        {"SET SCHEMA 'x'", "set:search_path"},
        {"SET XML OPTION document", "set:xmloption"},
        {"SET TRANSACTION READ ONLY", "set local"},
        {"set session characteristics as transaction read only", "set:session characteristics"},
        {"SET CONSTRAINTS ALL DEFERRED", "other"},
        {"SET ROLE bob", "session auth"},
        {"set session role = bob", "session auth"},
        {"SET LOCAL ROLE none", "session auth"},
        {"SET SESSION AUTHORIZATION bob", "session auth"},
        {"set local session authorization default", "session auth"},
        {"SET", "other"},
        {"SET x", "other"},
        {"RESET work_mem", "reset:work_mem"},
        {"reset a.b", "reset:a.b"},
        {"RESET ALL", "reset all"},
        {"RESET TIME ZONE", "reset:timezone"},
        {"RESET SESSION AUTHORIZATION", "session auth"},
        {"RESET ROLE", "session auth"},
        {"DISCARD ALL", "discard all"},
        {"DISCARD PLANS", "other"},
    };
    CHECK(CASES);
}

static void test_prepared_statements_and_copy(void **state)
{
    (void) state;
    static const struct class_case CASES[] = {
        {"PREPARE p AS SELECT 1", "prepare:p"},
        {"prepare \"P q\" (int) as select $1", "prepare:\"P q\""},
        {"deallocate p", "deallocate:p"},
        {"deallocate prepare p", "deallocate:p"},
        {"deallocate prepare", "deallocate:prepare"},
        {"DEALLOCATE ALL", "deallocate all"},
        {"DEALLOCATE PREPARE ALL", "deallocate all"},
        {"EXECUTE p(1)", "other"},
        {"COPY t FROM STDIN", "copy in"},
        {"copy t(\"from\", b) from stdin with (format csv)", "copy in"},
        {"COPY BINARY t FROM STDIN", "copy in"},
        {"COPY (SELECT a FROM b) TO STDOUT", "copy out"},
        {"copy (select ')' from b) to stdout csv", "copy out"},
        {"COPY t FROM '/file'", "other"},
        {"COPY t TO PROGRAM 'gzip'", "other"},
        {"COPY", "other"},
    };
    CHECK(CASES);
}

static void test_several_commands(void **state)
{
    (void) state;
    static const struct class_case CASES[] = {
        {"", "empty"},
        {" ; /* x */ ; -- y", "empty"},
        {"select 1", "other"},
        {"begin; select ';'; commit;", "begin; other; commit"},
        {"select $$;$$, \";\", 'a;' /* ; */ -- ;\n; end", "other; commit"},
        {"create rule r as on insert to t do (select 1; select 2); commit", "other; commit"},
        {"create function f() returns int begin atomic select case when a then b end; select 2; "
         "end; begin",
         "other; begin"},
        {"create function f() begin atomic select 1; end; commit", "other; commit"},
        {"begin; select 1) ; commit", "begin; other; commit"},
        {"begin; create table end_user (begin int); end", "begin; other; commit"},
        {"select (1; commit", "other"},
    };
    CHECK(CASES);

    uint32_t all = 0;
    assert_int_equal(rh_sql_classify(RH_SPAN_LITERAL("set a = 1; select 1; commit"), false, &all),
                     RH_SQL_CLASS_OTHER);
    assert_int_equal(all,
                     1U << RH_SQL_CLASS_SET | 1U << RH_SQL_CLASS_OTHER | 1U << RH_SQL_CLASS_COMMIT);
    assert_int_equal(rh_sql_classify(RH_SPAN_LITERAL(";commit;;"), false, &all),
                     RH_SQL_CLASS_COMMIT);
    assert_int_equal(all, 1U << RH_SQL_CLASS_COMMIT);
    assert_int_equal(rh_sql_classify(RH_SPAN_NONE, false, &all), RH_SQL_CLASS_EMPTY);
    assert_int_equal(all, 0);
}

static void test_texts_of_commands(void **state)
{
    (void) state;
    struct rh_sql_commands commands;
    struct rh_sql_command command;
    rh_sql_commands_init(&commands, RH_SPAN_LITERAL("  begin ;; /* c */ select ';' \n;"), false);
    assert_int_equal(rh_sql_commands_next(&commands, &command), 1);
    rh_assert_span(command.text, "begin");
    assert_int_equal(rh_sql_commands_next(&commands, &command), 1);
    rh_assert_span(command.text, "/* c */ select ';'");
    assert_int_equal(rh_sql_commands_next(&commands, &command), 0);
    assert_int_equal(rh_sql_commands_next(&commands, &command), 0);
}

static void test_names_fold_as_the_server_folds(void **state)
{
    (void) state;
    static const char *const NAMES_IN_AND_OUT[][2] = {
        {"Work_Mem", "work_mem"},
        {"\"Work_Mem\"", "Work_Mem"},
        {"\"a\"\"B\"", "a\"B"},
        {"\xc3\x89X", "\xc3\x89x"},
        {"\"", "\""},
        {"", ""},
        {"A.B", "a.b"},
        {"\"\"", ""},
        {"A . \"B\"", "a.B"},
    };
    struct rh_buf out;
    rh_buf_init(&out, 100);
    for (size_t i = 0; i < sizeof NAMES_IN_AND_OUT / sizeof NAMES_IN_AND_OUT[0]; i++) {
        rh_buf_clear(&out);
        rh_sql_name_fold(rh_span_cstr(NAMES_IN_AND_OUT[i][0]), &out);
        assert_string_equal(rh_buf_cstr(&out), NAMES_IN_AND_OUT[i][1]);
    }
    rh_buf_release(&out);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_transactions),
        cmocka_unit_test(test_settings),
        cmocka_unit_test(test_prepared_statements_and_copy),
        cmocka_unit_test(test_several_commands),
        cmocka_unit_test(test_texts_of_commands),
        cmocka_unit_test(test_names_fold_as_the_server_folds),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
