/* front/front, front/tool_exec, front/info*, front/trace_summary, front/show */
#include "rh_test.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/error.h"
#include "fd_tap.h"
#include "formats/trace_writer.h"
#include "front/front.h"

/* 2026-01-31 13:05:00 UTC */
#define BEGIN_NS INT64_C(1769864700000000000)
#define MS_NS INT64_C(1000000)

static char directory[64];
static char trace[96];
static char run[96];

static struct rh_record record_of(uint32_t session, uint64_t ordinal, int64_t start_ms,
                                  const char *text)
{
    struct rh_record r;
    rh_record_init(&r);
    r.session = session;
    r.ordinal = ordinal;
    r.start_ns = BEGIN_NS + start_ms * MS_NS;
    r.text = rh_span_cstr(text);
    r.outcome.done_ns = r.start_ns + 2 * MS_NS;
    r.outcome.sqlstate = 0;
    return r;
}

static void add(struct rh_trace_writer *w, const struct rh_record *r)
{
    struct rh_error err = {0};
    if (rh_trace_writer_add(w, r, &err) != 0) {
        fail_msg("%s", err.text);
    }
}

static void add_mark(struct rh_trace_writer *w, enum rh_kind kind, uint32_t session,
                     int64_t start_ms, const char *detail, uint64_t count)
{
    struct rh_record r = record_of(session, 0, start_ms, NULL);
    r.kind = kind;
    r.outcome.done_ns = RH_TIME_UNKNOWN;
    r.outcome.sqlstate = RH_SQLSTATE_UNKNOWN;
    r.detail = rh_span_cstr(detail);
    r.count = count;
    add(w, &r);
}

static void put_session(struct rh_trace_writer *w, uint32_t number, const char *user,
                        int64_t opened_ms, int64_t closed_ms)
{
    struct rh_session s = {.number = number,
                           .user = rh_span_cstr(user),
                           .database = RH_SPAN_LITERAL("shop"),
                           .opened_ns = BEGIN_NS + opened_ms * MS_NS,
                           .closed_ns = BEGIN_NS + closed_ms * MS_NS};
    struct rh_error err;
    assert_int_equal(rh_trace_writer_put_session(w, &s, &err), 0);
}

static struct rh_trace_writer *open_writer(const char *path, enum rh_file_kind kind)
{
    static const struct rh_setting settings[] = {{{"log_statement", 13}, {"all", 3}}};
    struct rh_trace_header header = {.kind = kind,
                                     .vantage = kind == RH_FILE_RUN ? RH_VANTAGE_CLIENT
                                                                    : RH_VANTAGE_SERVER_LOG,
                                     .source = RH_SPAN_LITERAL("csvlog"),
                                     .tool = RH_SPAN_LITERAL("pgrehearse test"),
                                     .server_version = RH_SPAN_LITERAL("15.18"),
                                     .created_ns = BEGIN_NS,
                                     .settings = settings,
                                     .setting_count = 1};
    rh_uuid_make(header.uuid);
    memset(header.trace_uuid, kind == RH_FILE_RUN ? 0xab : 0, sizeof header.trace_uuid);
    struct rh_trace_writer *w;
    struct rh_error err = {0};
    if (rh_trace_writer_open(&w, path, &header, NULL, &err) != 0) {
        fail_msg("%s", err.text);
    }
    return w;
}

/* Three sessions, the first two open at the same time. */
static void write_trace(const char *path)
{
    struct rh_error err = {0};
    struct rh_trace_writer *w = open_writer(path, RH_FILE_WORKLOAD);
    put_session(w, 1, "alice", 0, 50);
    put_session(w, 2, "bob", 10, 60);
    put_session(w, 3, "carol", 70, 90);
    add_mark(w, RH_KIND_OPEN, 1, 0, NULL, 0);
    struct rh_record r = record_of(1, 1, 5, "begin");
    r.txn = RH_TXN_BEGINS | RH_TXN_BLOCK;
    add(w, &r);
    add_mark(w, RH_KIND_OPEN, 2, 10, NULL, 0);
    r = record_of(1, 2, 20, "update t set x = 'caf\xe9' where id = 17");
    r.txn = RH_TXN_BLOCK;
    add(w, &r);
    r = record_of(2, 1, 25, "select * from missing where a = $1");
    r.kind = RH_KIND_EXECUTE;
    struct rh_param param = {.data = "42", .len = 2};
    r.params = &param;
    r.param_count = 1;
    r.txn = RH_TXN_BEGINS | RH_TXN_ENDS;
    r.outcome.sqlstate = rh_sqlstate_pack(RH_SPAN_LITERAL("42P01"));
    add(w, &r);
    r = record_of(1, 3, 30, "commit");
    r.txn = RH_TXN_ENDS | RH_TXN_BLOCK;
    add(w, &r);
    add_mark(w, RH_KIND_GAP, 0, 35, "log lines", 5);
    add_mark(w, RH_KIND_GAP, 2, 36, "log lines", 2);
    add_mark(w, RH_KIND_CLOSE, 1, 50, "disconnection", 0);
    add_mark(w, RH_KIND_CLOSE, 2, 60, "disconnection", 0);
    add_mark(w, RH_KIND_OPEN, 3, 70, NULL, 0);
    r = record_of(3, 1, 80, "select 'a very long text that the server c");
    r.hold = RH_REASON_CUT_TEXT;
    add(w, &r);
    r = record_of(3, 2, 85, NULL);
    r.kind = RH_KIND_FETCH;
    add(w, &r);
    add_mark(w, RH_KIND_CLOSE, 3, 90, "disconnection", 0);
    assert_int_equal(rh_trace_writer_finish(w, false, &err), 0);
}

static void write_run(const char *path)
{
    struct rh_error err = {0};
    struct rh_trace_writer *w = open_writer(path, RH_FILE_RUN);
    put_session(w, 1, "alice", 0, 50);
    struct rh_record r = record_of(1, 1, 5, "select 1");
    r.run.fate = RH_FATE_DONE;
    r.run.planned_ns = r.start_ns - MS_NS;
    r.run.sent_ns = r.start_ns;
    add(w, &r);
    r = record_of(1, 2, 6, "select 2");
    r.outcome.done_ns = RH_TIME_UNKNOWN;
    r.outcome.sqlstate = RH_SQLSTATE_UNKNOWN;
    r.run.fate = RH_FATE_NOT_SENT;
    r.run.reason = RH_REASON_STOPPED;
    r.run.planned_ns = r.start_ns;
    add(w, &r);
    assert_int_equal(rh_trace_writer_finish(w, true, &err), 0);
}

static int make_files(void **state)
{
    (void) state;
    snprintf(directory, sizeof directory, "/tmp/rh-front-XXXXXX");
    if (!mkdtemp(directory)) {
        return -1;
    }
    snprintf(trace, sizeof trace, "%s/t.trace", directory);
    snprintf(run, sizeof run, "%s/t.run", directory);
    write_trace(trace);
    write_run(run);
    return 0;
}

static int remove_files(void **state)
{
    (void) state;
    unlink(trace);
    unlink(run);
    return rmdir(directory);
}

struct answer {
    int status;
    struct fd_tap out;
    struct fd_tap err;
};

/* Up to six words, ended by NULL. */
static void ask(struct answer *a, const char *const *words)
{
    char *argv[8] = {(char *) "pgrehearse"};
    int argc = 1;
    for (; words[argc - 1]; argc++) {
        argv[argc] = (char *) words[argc - 1];
    }
    fd_tap_open(&a->out, STDOUT_FILENO);
    fd_tap_open(&a->err, STDERR_FILENO);
    a->status = rh_front_run(argc, argv);
    fd_tap_close(&a->err);
    fd_tap_close(&a->out);
}

#define ASK(a, ...) ask(a, (const char *const[]){__VA_ARGS__, NULL})

static void check_has(const char *text, const char *want)
{
    if (!strstr(text, want)) {
        fail_msg("no \"%s\" in:\n%s", want, text);
    }
}

static size_t line_count(const char *text)
{
    size_t n = 0;
    for (; *text; text++) {
        n += *text == '\n';
    }
    return n;
}

static void test_info_json(void **state)
{
    (void) state;
    struct answer a;
    ASK(&a, "info", "--format", "json", trace);
    assert_int_equal(a.status, RH_EXIT_DONE);
    assert_string_equal(a.err.text, "");
    static const char *const wanted[] = {
        "\"kind\": \"workload\"",
        "\"complete\": true",
        "\"incomplete_reason\": null",
        "\"sessions\": 3",
        "\"peak_sessions\": 2",
        "\"statements\": 5",
        "\"failed\": 1",
        "\"transactions\": 2",
        "\"query\": 4",
        "\"execute\": 1",
        "\"function\": 0",
        "\"fetch\": 1",
        "\"gap\": 2",
        ("\"gaps\": [\n      {\n        \"reason\": \"log lines\",\n        \"count\": 7,\n"
         "        \"places\": 2\n      }\n    ]"),
        "\"reason\": \"cut-text\",\n        \"count\": 1",
        "\"started_at\": \"2026-01-31T13:05:00.000000Z\"",
        "\"ended_at\": \"2026-01-31T13:05:00.090000Z\"",
        "\"duration_s\": 0.090000",
        "\"source\": \"csvlog\"",
        "\"vantage\": \"server log\"",
        "\"server_version\": \"15.18\"",
        "\"server_address\": null",
        "\"log_statement\": \"all\"",
        "\"damage\": []",
    };
    for (size_t i = 0; i < sizeof wanted / sizeof *wanted; i++) {
        check_has(a.out.text, wanted[i]);
    }
    struct stat st;
    char bytes[64];
    assert_int_equal(stat(trace, &st), 0);
    snprintf(bytes, sizeof bytes, "\"bytes\": %lld,", (long long) st.st_size);
    check_has(a.out.text, bytes);
    snprintf(bytes, sizeof bytes, "\"bytes_per_statement\": %.3f", (double) st.st_size / 5);
    check_has(a.out.text, bytes);
    assert_null(strstr(a.out.text, "trace_uuid"));
}

static void test_info_of_a_run_that_was_stopped(void **state)
{
    (void) state;
    struct answer a;
    ASK(&a, "info", "-fjson", run);
    assert_int_equal(a.status, RH_EXIT_PARTIAL);
    check_has(a.err.text, run);
    check_has(a.out.text, "\"kind\": \"run\"");
    check_has(a.out.text, "\"complete\": false");
    check_has(a.out.text, "\"trace_uuid\": \"abababab-abab-abab-abab-abababababab\"");
    check_has(a.out.text, "\"done\": 1,\n      \"lost\": 0,\n      \"skipped\": 0,\n"
                          "      \"not-sent\": 1");
    check_has(a.out.text, "\"unsent\": [\n      {\n        \"reason\": \"stopped\"");
    ASK(&a, "info", run);
    assert_int_equal(a.status, RH_EXIT_PARTIAL);
    check_has(a.out.text, "run, INCOMPLETE: ");
    check_has(a.out.text, "done 1, lost 0, skipped 0, not-sent 1\n");
}

static void test_info_text(void **state)
{
    (void) state;
    struct answer a;
    ASK(&a, "info", trace);
    assert_int_equal(a.status, RH_EXIT_DONE);
    static const char *const wanted[] = {
        "t.trace: workload, complete\n",
        "  server           PostgreSQL 15.18, address unknown\n",
        "  span             2026-01-31T13:05:00.000000Z to 2026-01-31T13:05:00.090000Z, 0.090 s\n",
        "  sessions         3, at most 2 open at a time\n",
        "  statements       5 (query 4, execute 1), 1 failed\n",
        "  other records    fetch 1, open 3, close 3, gap 2\n",
        "  transactions     2 begun\n",
        "  not replayable   1\n      the text is cut                      1\n",
        "  gaps\n      log lines                            7 in 2 places\n",
        " bytes a statement\n",
        "  blocks           1, 0 of them late\n",
        "  damage           none\n",
        "      log_statement = all\n",
    };
    for (size_t i = 0; i < sizeof wanted / sizeof *wanted; i++) {
        check_has(a.out.text, wanted[i]);
    }
}

static void test_info_of_several_files(void **state)
{
    (void) state;
    struct answer a;
    ASK(&a, "info", "--format=json", trace, "/nonexistent/x.trace", trace);
    assert_int_equal(a.status, RH_EXIT_PARTIAL);
    check_has(a.err.text, "/nonexistent/x.trace");
    assert_int_equal(a.out.text[0], '[');
    const char *first = strstr(a.out.text, "\"path\"");
    assert_non_null(first);
    assert_non_null(strstr(first + 1, "\"path\""));

    ASK(&a, "info", "/nonexistent/x.trace");
    assert_int_equal(a.status, RH_EXIT_TROUBLE);
    assert_string_equal(a.out.text, "");
    ASK(&a, "info");
    assert_int_equal(a.status, RH_EXIT_TROUBLE);
    ASK(&a, "info", "--format", "yaml", trace);
    assert_int_equal(a.status, RH_EXIT_TROUBLE);
    check_has(a.err.text, "\"yaml\" is neither text nor json");
}

static void copy_head(const char *from, const char *to, off_t n)
{
    char data[65536];
    FILE *in = fopen(from, "rb");
    FILE *out = fopen(to, "wb");
    assert_true(n <= (off_t) sizeof data);
    assert_int_equal(fread(data, 1, (size_t) n, in), n);
    assert_int_equal(fwrite(data, 1, (size_t) n, out), n);
    fclose(in);
    fclose(out);
}

static void test_cut_and_foreign_files(void **state)
{
    (void) state;
    struct answer a;
    struct stat st;
    char cut[96];
    snprintf(cut, sizeof cut, "%s/cut.trace", directory);
    assert_int_equal(stat(trace, &st), 0);

    copy_head(trace, cut, st.st_size - 1);
    ASK(&a, "info", "-f", "json", cut);
    assert_int_equal(a.status, RH_EXIT_PARTIAL);
    check_has(a.out.text, "\"complete\": false");
    check_has(a.out.text, "\"statements\": 5");
    check_has(a.err.text, "cut.trace");
    check_has(a.err.text, "byte");
    ASK(&a, "show", cut);
    assert_int_equal(a.status, RH_EXIT_PARTIAL);
    assert_int_equal(line_count(a.out.text), 14);
    check_has(a.err.text, "cut.trace");

    /* A hole in the data block: its records are lost, and nothing else. */
    copy_head(trace, cut, st.st_size);
    int fd = open(cut, O_WRONLY);
    assert_int_equal(pwrite(fd, "XXXXXXXX", 8, st.st_size / 2), 8);
    close(fd);
    ASK(&a, "info", cut);
    assert_int_equal(a.status, RH_EXIT_PARTIAL);
    check_has(a.out.text, "workload, INCOMPLETE: ");
    check_has(a.out.text, "  damage\n      byte ");
    check_has(a.out.text, " records are lost\n");
    check_has(a.err.text, " bytes at byte ");
    check_has(a.err.text, "cut.trace");

    copy_head("/proc/self/exe", cut, 5000);
    ASK(&a, "info", cut);
    assert_int_equal(a.status, RH_EXIT_TROUBLE);
    ASK(&a, "show", cut);
    assert_int_equal(a.status, RH_EXIT_TROUBLE);
    assert_string_equal(a.out.text, "");
    check_has(a.err.text, "cut.trace");
    unlink(cut);
}

static void test_show_in_start_order(void **state)
{
    (void) state;
    static const char *const kinds[] = {"open",  "query", "open",  "query", "execute",
                                        "query", "gap",   "gap",   "close", "close",
                                        "open",  "query", "fetch", "close"};
    struct answer a;
    ASK(&a, "show", trace);
    assert_int_equal(a.status, RH_EXIT_DONE);
    assert_string_equal(a.err.text, "");
    const char *line = a.out.text;
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        char kind[32];
        snprintf(kind, sizeof kind, "\"kind\":\"%s\"", kinds[i]);
        const char *end = strchr(line, '\n');
        assert_non_null(end);
        const char *found = strstr(line, kind);
        assert_true(found && found < end);
        line = end + 1;
    }
    assert_string_equal(line, "");
    check_has(a.out.text, "\"sql\":\"update t set x = 'caf\\ufffd' where id = 17\","
                          "\"sql_is_not_utf8\":true");
    check_has(a.out.text, "\"params\":[\"42\"]");
    check_has(a.out.text, "\"user\":\"bob\"");
    check_has(a.out.text, "\"not_replayable\":\"cut-text\"");
    check_has(a.out.text, "\"missing\":\"log lines\",\"count\":5");
}

static size_t shown(const char *option, const char *value)
{
    struct answer a;
    if (value) {
        ASK(&a, "show", option, value, trace);
    } else {
        ASK(&a, "show", option, trace);
    }
    assert_int_equal(a.status, RH_EXIT_DONE);
    return line_count(a.out.text);
}

static void test_show_selection(void **state)
{
    (void) state;
    assert_int_equal(shown("--session", "1"), 5);
    assert_int_equal(shown("--session", "9"), 0);
    assert_int_equal(shown("--ordinal", "2"), 2);
    assert_int_equal(shown("--ordinal", "1-2"), 5);
    assert_int_equal(shown("--errors", NULL), 1);
    assert_int_equal(shown("--kind", "query"), 4);
    assert_int_equal(shown("-n", "3"), 3);
    assert_int_equal(shown("--from", "2026-01-31 13:05:00.030Z"), 9);
    assert_int_equal(shown("--to", "2026-01-31 13:05:00.030Z"), 5);
    struct answer a;
    ASK(&a, "show", "-s1", "-s2", "-kquery", trace);
    assert_int_equal(line_count(a.out.text), 3);
    ASK(&a, "show");
    assert_int_equal(a.status, RH_EXIT_TROUBLE);
    ASK(&a, "show", trace, trace);
    assert_int_equal(a.status, RH_EXIT_TROUBLE);
    ASK(&a, "show", "--ordinal", "2-1", trace);
    assert_int_equal(a.status, RH_EXIT_TROUBLE);
}

static void test_show_of_a_run(void **state)
{
    (void) state;
    struct answer a;
    ASK(&a, "show", run);
    assert_int_equal(a.status, RH_EXIT_PARTIAL);
    check_has(a.out.text, "\"copy\":0,\"ordinal\":1");
    check_has(a.out.text, "\"planned\":\"2026-01-31T13:05:00.004000Z\","
                          "\"sent\":\"2026-01-31T13:05:00.005000Z\",\"first\":null,"
                          "\"done\":\"2026-01-31T13:05:00.007000Z\",\"wait_us\":0,\"lag_us\":1000,"
                          "\"fate\":\"done\",\"reason\":null");
    check_has(a.out.text, "\"fate\":\"not-sent\",\"reason\":\"stopped\"");
}

static int status_with_stdout(int fd, const char *command)
{
    char *argv[] = {(char *) "pgrehearse", (char *) command, trace, NULL};
    struct fd_tap err;
    int saved = dup(STDOUT_FILENO);
    fflush(NULL);
    fd_tap_open(&err, STDERR_FILENO);
    dup2(fd, STDOUT_FILENO);
    int status = rh_front_run(3, argv);
    dup2(saved, STDOUT_FILENO);
    close(saved);
    fd_tap_close(&err);
    if (status == RH_EXIT_DONE) {
        assert_string_equal(err.text, "");
    }
    return status;
}

static void test_standard_output_that_takes_nothing(void **state)
{
    (void) state;
    int ends[2];
    assert_int_equal(pipe(ends), 0);
    close(ends[0]);
    assert_int_equal(status_with_stdout(ends[1], "show"), RH_EXIT_DONE);
    assert_int_equal(status_with_stdout(ends[1], "info"), RH_EXIT_DONE);
    close(ends[1]);
    int full = open("/dev/full", O_WRONLY);
    if (full >= 0) {
        assert_int_equal(status_with_stdout(full, "show"), RH_EXIT_TROUBLE);
        assert_int_equal(status_with_stdout(full, "info"), RH_EXIT_TROUBLE);
        close(full);
    }
}

static void test_help_and_version(void **state)
{
    (void) state;
    struct answer a;
    struct answer b;
    ASK(&a, "--help");
    assert_int_equal(a.status, RH_EXIT_DONE);
    check_has(a.out.text, "  capture log ");
    ASK(&b, "help");
    assert_string_equal(a.out.text, b.out.text);
    ASK(&a, "help", "info");
    ASK(&b, "info", "--help");
    assert_int_equal(a.status, RH_EXIT_DONE);
    check_has(a.out.text, "pgrehearse info [OPTION]... FILE...");
    assert_string_equal(a.out.text, b.out.text);
    ASK(&a, "--version");
    assert_int_equal(a.status, RH_EXIT_DONE);
    assert_memory_equal(a.out.text, "pgrehearse (pgrehearse) ", 24);
    ASK(&a, "--completion");
    check_has(a.out.text, "capture\nreplay\ndiff\ninfo\nshow\n");
    check_has(a.out.text, "\nhelp\n--help\n");
    ASK(&a, "show", "--completion");
    check_has(a.out.text, "--session=\t-s\t\n");
}

static void check_usage_error(const char *word, const char *want)
{
    struct answer a;
    ASK(&a, word);
    assert_int_equal(a.status, RH_EXIT_TROUBLE);
    assert_string_equal(a.out.text, "");
    assert_string_equal(a.err.text, want);
}

static void test_unknown_commands(void **state)
{
    (void) state;
    check_usage_error("reply",
                      "pgrehearse: error: unknown command \"reply\"; did you mean \"replay\"?\n");
    check_usage_error("zebra", "pgrehearse: error: unknown command \"zebra\"; see \"pgrehearse "
                               "--help\"\n");
    check_usage_error("../x", "pgrehearse: error: unknown command \"../x\"; see \"pgrehearse "
                              "--help\"\n");
    check_usage_error("--halp", "pgrehearse: error: unknown option \"--halp\"; did you mean "
                                "\"--help\"?\n");
    struct answer a;
    ask(&a, (const char *const[]){NULL});
    assert_int_equal(a.status, RH_EXIT_TROUBLE);
    assert_int_equal(line_count(a.err.text), 1);
}

/* The program that takes over: a script on the PATH that tells its arguments. */
static void test_other_programs_take_over(void **state)
{
    (void) state;
    char script[128];
    snprintf(script, sizeof script, "%s/pgrehearse-echo-test", directory);
    FILE *f = fopen(script, "w");
    fputs("#!/bin/sh\necho \"$#:$1:$2\"\nexit 3\n", f);
    fclose(f);
    chmod(script, 0755);
    struct fd_tap tap;
    fd_tap_open(&tap, STDOUT_FILENO);
    pid_t child = fork();
    if (child == 0) {
        char *argv[] = {(char *) "pgrehearse", (char *) "echo-test", (char *) "a b",
                        (char *) "--help", NULL};
        setenv("PATH", directory, 1);
        _exit(100 + rh_front_run(4, argv));
    }
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    fd_tap_close(&tap);
    unlink(script);
    assert_string_equal(tap.text, "2:a b:--help\n");
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), 3);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_info_json),
        cmocka_unit_test(test_info_of_a_run_that_was_stopped),
        cmocka_unit_test(test_info_text),
        cmocka_unit_test(test_info_of_several_files),
        cmocka_unit_test(test_cut_and_foreign_files),
        cmocka_unit_test(test_show_in_start_order),
        cmocka_unit_test(test_show_selection),
        cmocka_unit_test(test_show_of_a_run),
        cmocka_unit_test(test_standard_output_that_takes_nothing),
        cmocka_unit_test(test_help_and_version),
        cmocka_unit_test(test_unknown_commands),
        cmocka_unit_test(test_other_programs_take_over),
    };
    return cmocka_run_group_tests(tests, make_files, remove_files);
}
