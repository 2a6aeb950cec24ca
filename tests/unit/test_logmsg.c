/* formats/logmsg, formats/log_params */
#include "rh_test.h"

#include <stdio.h>

#include "common/alloc.h"
#include "formats/log_params.h"
#include "formats/logmsg.h"

static struct rh_logmsg classify(const char *message, const char *tag)
{
    struct rh_logmsg_reader r;
    struct rh_logmsg m;
    rh_logmsg_reader_init(&r);
    rh_logmsg_classify(&r, rh_span_cstr(message), rh_span_cstr(tag), &m);
    return m;
}

struct row {
    const char *message;
    const char *tag;
    enum rh_logmsg_class klass;
    int64_t duration_us; /* -1: not timed */
    const char *name;    /* NULL: no name */
    const char *text;
};

static void check_row(const struct row *row)
{
    struct rh_logmsg m = classify(row->message, row->tag);
    if (m.klass != row->klass || m.timed != (row->duration_us >= 0)) {
        fail_msg("\"%s\" is of class %d, timed %d", row->message, m.klass, m.timed);
    }
    if (m.timed) {
        assert_int_equal(m.duration_ns, row->duration_us * 1000);
    }
    if (row->name) {
        struct rh_span name, text;
        rh_logmsg_split(&m, RH_SPAN_NONE, &name, &text);
        rh_assert_span(name, row->name);
        rh_assert_span(text, row->text);
    } else if (row->text) {
        rh_assert_span(m.body, row->text);
    }
}

static void test_english(void **state)
{
    (void) state;
    static const struct row rows[] = {
        {"statement: SELECT 1", "idle", RH_LOGMSG_STATEMENT, -1, NULL, "SELECT 1"},
        {"statement: ", "idle", RH_LOGMSG_STATEMENT, -1, NULL, ""},
        {"duration: 1.802 ms", "SELECT", RH_LOGMSG_DURATION, 1802, NULL, NULL},
        {"duration: 86400000.001 ms  statement: SELECT 1", "SELECT", RH_LOGMSG_STATEMENT,
         86400000001, NULL, "SELECT 1"},
        {"duration: 0.012 ms  parse <unnamed>: ", "PARSE", RH_LOGMSG_PARSE, 12, "<unnamed>", ""},
        {"duration: 0.012 ms  bind S_1/C_2: SELECT $1", "BIND", RH_LOGMSG_BIND, 12, "S_1/C_2",
         "SELECT $1"},
        {"duration: 0.5 ms  execute x: SELECT 1", "SELECT", RH_LOGMSG_OTHER, -1, NULL, NULL},
        {"execute named stmt 1: SELECT 1", "SELECT", RH_LOGMSG_EXECUTE, -1, "named stmt 1",
         "SELECT 1"},
        {"execute py:0x7f6754010ad0: SELECT 1", "SELECT", RH_LOGMSG_EXECUTE, -1,
         "py:0x7f6754010ad0", "SELECT 1"},
        {"execute a: b: c: WITH x AS (SELECT ': SELECT 1') SELECT 2", "SELECT", RH_LOGMSG_EXECUTE,
         -1, "a: b: c", "WITH x AS (SELECT ': SELECT 1') SELECT 2"},
        {"execute <unnamed>: INSERT INTO t VALUES ('statement: DELETE FROM x')", "INSERT",
         RH_LOGMSG_EXECUTE, -1, "<unnamed>", "INSERT INTO t VALUES ('statement: DELETE FROM x')"},
        {"execute x: /* why: */ SELECT 1", "SELECT", RH_LOGMSG_EXECUTE, -1, "x",
         "/* why: */ SELECT 1"},
        {"execute no text", "SELECT", RH_LOGMSG_EXECUTE, -1, "no text", ""},
        {"execute fetch from <unnamed>/C_1: SELECT g", "SELECT", RH_LOGMSG_FETCH, -1,
         "<unnamed>/C_1", "SELECT g"},
        {"duration: 0.126 ms  execute fetch from S/C: SELECT g", "SELECT", RH_LOGMSG_FETCH, 126,
         "S/C", "SELECT g"},
        {"fastpath function call: \"lo_open\" (OID 952)", "x", RH_LOGMSG_FUNCTION, -1, NULL,
         "\"lo_open\" (OID 952)"},
        {"duration: 0.100 ms  fastpath function call: \"f\" (OID 1)", "x", RH_LOGMSG_FUNCTION, 100,
         NULL, "\"f\" (OID 1)"},
        {"duration: 52.114 ms  plan:\nQuery Text: SELECT 1;\nResult", "SELECT", RH_LOGMSG_PLAN,
         52114, NULL, NULL},
        {"AUDIT: SESSION,1,1,READ,SELECT,,,\"SELECT 1\",<none>", "SELECT", RH_LOGMSG_AUDIT, -1,
         NULL, NULL},
        {"connection received: host=[local]", "", RH_LOGMSG_RECEIVED, -1, NULL, NULL},
        {"connection authenticated: user=\"x\" method=trust (hba:1)", "authentication",
         RH_LOGMSG_AUTHENTICATED, -1, NULL, NULL},
        {"connection authorized: user=a b database=c", "authentication", RH_LOGMSG_AUTHORIZED, -1,
         NULL, "a b database=c"},
        {"replication connection authorized: user=r", "authentication",
         RH_LOGMSG_REPLICATION_AUTHORIZED, -1, NULL, NULL},
        {"received replication command: IDENTIFY_SYSTEM", "idle", RH_LOGMSG_REPLICATION_COMMAND, -1,
         NULL, NULL},
        {"disconnection: session time: 0:00:00.010 user=a", "idle", RH_LOGMSG_DISCONNECTION, -1,
         NULL, NULL},
        {"unexpected EOF on client connection with an open transaction", "idle in transaction",
         RH_LOGMSG_LOST_CLIENT, -1, NULL, NULL},
        {"temporary file: path \"base/pgsql_tmp1\", size 1", "SELECT", RH_LOGMSG_OTHER, -1, NULL,
         NULL},
        {"process 1 still waiting for ShareLock on transaction 2 after 120.449 ms", "UPDATE",
         RH_LOGMSG_OTHER, -1, NULL, NULL},
        {"duration of something", "x", RH_LOGMSG_OTHER, -1, NULL, NULL},
        {"", "x", RH_LOGMSG_OTHER, -1, NULL, NULL},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        check_row(&rows[i]);
    }
}

static void test_other_orders_and_lost_letters(void **state)
{
    (void) state;
    static const struct row rows[] = {
        {"durée : 0.100 ms, instruction : SELECT 1", "SELECT", RH_LOGMSG_STATEMENT, 100, NULL,
         "SELECT 1"},
        {"durée : 0.100 ms, analyse <unnamed> : SELECT 1", "PARSE", RH_LOGMSG_PARSE, 100,
         "<unnamed>", "SELECT 1"},
        {"実行 S: SELECT 1", "SELECT", RH_LOGMSG_EXECUTE, -1, "S", "SELECT 1"},
        {"期間: 0.305 ミリ秒  パースp: q : SELECT ' : '", "PARSE", RH_LOGMSG_PARSE, 305, "p: q",
         "SELECT ' : '"},
        {"실행시간: 0.540 ms  named 구문분석: SELECT 1", "PARSE", RH_LOGMSG_PARSE, 540, "named",
         "SELECT 1"},
        {"실행시간: 0.030 ms  a/b 접속: SELECT 1", "BIND", RH_LOGMSG_BIND, 30, "a/b", "SELECT 1"},
        {"수행시간: 0.004 ms  자료뽑기 a/b: SELECT 1", "SELECT", RH_LOGMSG_FETCH, 4, "a/b",
         "SELECT 1"},
        {"ხანგრძლივობა: 0.003 მწმs  გაშვება x: SELECT 1", "SELECT", RH_LOGMSG_EXECUTE, 3, "x",
         "SELECT 1"},
        {"varaktighet 0.250 ms", "SELECT", RH_LOGMSG_DURATION, 250, NULL, NULL},
        {"执行时间: 71.729 ms 语句: SELECT 1", "SELECT", RH_LOGMSG_STATEMENT, 71729, NULL,
         "SELECT 1"},
        /* An SQL_ASCII database, and a LATIN1 one. */
        {"dur?e : 0.009 ms  ex?cute <unnamed>: SELECT 1", "SELECT", RH_LOGMSG_EXECUTE, 9,
         "<unnamed>", "SELECT 1"},
        {"dur\xe9"
         "e : 0.009 ms  ex\xe9"
         "cute <unnamed>: SELECT 1",
         "SELECT", RH_LOGMSG_EXECUTE, 9, "<unnamed>", "SELECT 1"},
        {"prodolzhitel`nost`: 0.129 ms, soobshhenie Bind <unnamed>: SELECT 1", "BIND",
         RH_LOGMSG_BIND, 129, "<unnamed>", "SELECT 1"},
        {"?\?: 0.067 ms  ?\? <unnamed>: SELECT 1", "BIND", RH_LOGMSG_BIND, 67, "<unnamed>",
         "SELECT 1"},
        {"?\?: 1.166 ?\?\?  ?: SELECT 1", "SELECT", RH_LOGMSG_STATEMENT, 1166, NULL, "SELECT 1"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        check_row(&rows[i]);
    }
}

/* Every piece of every language stands for itself, not for a piece of another one. */
static void test_every_language(void **state)
{
    (void) state;
    for (uint32_t i = 0; i < rh_logmsg_lang_count; i++) {
        const struct rh_logmsg_lang *l = &rh_logmsg_langs[i];
        char text[600];
        const char *head = l->duration_heads[1] ? l->duration_heads[1] : l->duration_heads[0];
        const struct {
            const char *piece, *tail;
            bool timed;
            const char *tag;
            enum rh_logmsg_class klass;
        } forms[] = {
            {l->bare, "", true, "SELECT", RH_LOGMSG_DURATION},
            {l->timed_statement, "SELECT 1", true, "SELECT", RH_LOGMSG_STATEMENT},
            {l->statement, "SELECT 1", false, "idle", RH_LOGMSG_STATEMENT},
            {l->execute, "x: SELECT 1", false, "SELECT", RH_LOGMSG_EXECUTE},
            {l->fetch, "x/y: SELECT 1", false, "SELECT", RH_LOGMSG_FETCH},
            {l->received, "h", false, "", RH_LOGMSG_RECEIVED},
            {l->authenticated, "h", false, "", RH_LOGMSG_AUTHENTICATED},
            {l->authorized, "h", false, "", RH_LOGMSG_AUTHORIZED},
            {l->disconnection, "h", false, "", RH_LOGMSG_DISCONNECTION},
            {l->lost_client, "", false, "", RH_LOGMSG_LOST_CLIENT},
        };
        for (size_t f = 0; f < sizeof forms / sizeof forms[0]; f++) {
            if (!forms[f].piece) {
                continue;
            }
            /* The bare form has the first head where there are two. */
            const char *h = f == 0 ? l->duration_heads[0] : head;
            snprintf(text, sizeof text, "%s%s%s%s", forms[f].timed ? h : "",
                     forms[f].timed ? "1.000" : "", forms[f].piece, forms[f].tail);
            struct rh_logmsg m = classify(text, forms[f].tag);
            if (m.klass != forms[f].klass) {
                fail_msg("%s: \"%s\" is of class %d", l->code, text, m.klass);
            }
        }
        if (l->cancel_user) {
            assert_true(rh_logmsg_is_cancel(rh_span_cstr(l->cancel_user)));
            assert_false(rh_logmsg_is_cancel(rh_span_cstr(l->cancel_timeout)));
            assert_true(rh_logmsg_is_statement_timeout(rh_span_cstr(l->cancel_timeout)));
            assert_false(rh_logmsg_is_statement_timeout(rh_span_cstr(l->cancel_user)));
        }
    }
}

static void test_severities(void **state)
{
    (void) state;
    struct rh_logmsg_reader r;
    rh_logmsg_reader_init(&r);
    const struct {
        const char *word, *sqlstate;
        enum rh_log_severity want;
    } rows[] = {
        {"LOG", "08006", RH_LOG_SEVERITY_LOG},
        {"ERROR", "42601", RH_LOG_SEVERITY_ERROR},
        {"ОШИБКА", "42601", RH_LOG_SEVERITY_ERROR},
        {"FATALE", "57P01", RH_LOG_SEVERITY_FATAL},
        {"PANIK", "XX000", RH_LOG_SEVERITY_PANIC},
        {"로그", "00000", RH_LOG_SEVERITY_LOG},
        {"HINWEIS", "00000", RH_LOG_SEVERITY_NOTICE},
        {"ATTENTION", "01000", RH_LOG_SEVERITY_WARNING},
        {"HATA", "42601", RH_LOG_SEVERITY_ERROR},
        {"KAYIT", "00000", RH_LOG_SEVERITY_LOG},
        {"UYARI", "01000", RH_LOG_SEVERITY_WARNING},
    };
    for (int round = 0; round < 2; round++) {
        for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
            assert_int_equal(
                rh_logmsg_severity(&r, rh_span_cstr(rows[i].word), rh_span_cstr(rows[i].sqlstate)),
                rows[i].want);
        }
    }
}

static void test_known_text_finds_the_name(void **state)
{
    (void) state;
    struct rh_logmsg m = classify("execute a:b/c: d: SELECT 'x: y'", "SELECT");
    struct rh_span name, text;
    rh_logmsg_split(&m, rh_span_cstr("SELECT 'x: y'"), &name, &text);
    rh_assert_span(name, "a:b/c: d");
    rh_assert_span(text, "SELECT 'x: y'");
    /* An empty statement's text is known, too. */
    m = classify("execute x: ", "idle");
    rh_logmsg_split(&m, rh_span_cstr(""), &name, &text);
    rh_assert_span(name, "x");
    assert_int_equal(text.len, 0);
}

static void test_details_and_contexts(void **state)
{
    (void) state;
    struct rh_logmsg_reader r;
    rh_logmsg_reader_init(&r);
    rh_assert_span(rh_logmsg_parameters(rh_span_cstr("parameters: $1 = 'a'")), "$1 = 'a'");
    rh_assert_span(rh_logmsg_parameters(rh_span_cstr("Parameters: $1 = NULL")), "$1 = NULL");
    rh_assert_span(rh_logmsg_parameters(rh_span_cstr("パラメータ: $1 = '1'")), "$1 = '1'");
    assert_null(rh_logmsg_parameters(rh_span_cstr("Key (a)=(1) already exists.")).data);
    assert_null(rh_logmsg_parameters(RH_SPAN_NONE).data);
    rh_assert_span(rh_logmsg_prepare(&r, rh_span_cstr("prepare: PREPARE p AS SELECT 1")),
                   "PREPARE p AS SELECT 1");
    rh_assert_span(rh_logmsg_prepare(&r, rh_span_cstr("подготовка: PREPARE p AS SELECT 1")),
                   "PREPARE p AS SELECT 1");
    rh_assert_span(rh_logmsg_context_parameters(rh_span_cstr(
                       "SQL statement \"SELECT 1/($1-3)\"\nPL/pgSQL function f(integer) line 1 at "
                       "PERFORM\nunnamed portal with parameters: $1 = 'a\nb'")),
                   "$1 = 'a\nb'");
    rh_assert_span(rh_logmsg_context_parameters(
                       rh_span_cstr("portal \"p: q\" with parameters: $1 = '3', $2 = NULL")),
                   "$1 = '3', $2 = NULL");
    rh_assert_span(rh_logmsg_context_parameters(
                       rh_span_cstr("portail non nommé avec les paramètres : « $1 = '0' »")),
                   "$1 = '0'");
    rh_assert_span(rh_logmsg_context_parameters(rh_span_cstr("\"c\" 포탈의 매개 변수: $1 = '0'")),
                   "$1 = '0'");
    assert_null(
        rh_logmsg_context_parameters(rh_span_cstr("unnamed portal parameter $1 = '...'")).data);
    assert_null(rh_logmsg_context_parameters(RH_SPAN_NONE).data);
    rh_assert_span(
        rh_logmsg_application(&r, rh_span_cstr("u database=d application_name=my app SSL enabled "
                                               "(protocol=TLSv1.3, cipher=x, bits=256)")),
        "my app");
    assert_null(rh_logmsg_application(&r, rh_span_cstr("u database=d")).data);
}

static void assert_params(const char *list, int rc, size_t count, const char *const *values)
{
    struct rh_log_params p;
    char *copy = rh_strdup(list);
    rh_log_params_init(&p);
    assert_int_equal(rh_log_params_parse(&p, copy, strlen(list)), rc);
    assert_int_equal(p.count, count);
    for (size_t i = 0; i < count; i++) {
        if (values[i]) {
            rh_assert_span(rh_span(p.items[i].data, p.items[i].len), values[i]);
        } else {
            assert_null(p.items[i].data);
        }
    }
    rh_free(copy);
    rh_log_params_release(&p);
}

static void test_parameter_lists(void **state)
{
    (void) state;
    assert_params("$1 = '42', $2 = NULL, $3 = 'it''s'", 0, 3,
                  (const char *const[]){"42", NULL, "it's"});
    assert_params("$1 = '[2023-01-01,2023-02-01)', $2 = 'a, $3 = ''b''', $3 = NULL", 0, 3,
                  (const char *const[]){"[2023-01-01,2023-02-01)", "a, $3 = 'b'", NULL});
    assert_params("$1 = 'sometext\n        sometext', $2 = ''", 0, 2,
                  (const char *const[]){"sometext\n        sometext", ""});
    assert_params("$1 = '''', $2 = ''''''", 0, 2, (const char *const[]){"'", "''"});
    assert_params("$1 = '1', $2 = '2', $3 = '3', $4 = '4', $5 = '5', $6 = '6', $7 = '7', $8 = '8', "
                  "$9 = '9', $10 = '10'",
                  0, 10, (const char *const[]){"1", "2", "3", "4", "5", "6", "7", "8", "9", "10"});
    /* Damaged ones: what is whole before counts. */
    assert_params("$1 = '1', $2 = 'cut", -1, 1, (const char *const[]){"1"});
    assert_params("$1 = '1', $3 = '2'", -1, 1, (const char *const[]){"1"});
    assert_params("$1 = '1' $2 = '2'", -1, 1, (const char *const[]){"1"});
    assert_params("$1 = 1", -1, 0, NULL);
    assert_params("$1 = ", -1, 0, NULL);
    assert_params("$1 = '1', ", -1, 1, (const char *const[]){"1"});
    assert_params("", -1, 0, NULL);
    assert_params("$", -1, 0, NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_english),
        cmocka_unit_test(test_other_orders_and_lost_letters),
        cmocka_unit_test(test_every_language),
        cmocka_unit_test(test_severities),
        cmocka_unit_test(test_known_text_finds_the_name),
        cmocka_unit_test(test_details_and_contexts),
        cmocka_unit_test(test_parameter_lists),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
