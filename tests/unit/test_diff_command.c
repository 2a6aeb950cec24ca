#include "rh_test.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "diff/diff_command.h"
#include "diff_fixture.h"

static const struct fx_statement base[] = {
    {.session = 1,
     .ordinal = 1,
     .start_us = 0,
     .service_us = 1000,
     .sql = "select * from orders where id = 17",
     .rows_plus_1 = 2},
    {.session = 1,
     .ordinal = 2,
     .start_us = 5000,
     .service_us = 2000,
     .sql = "select * from \"\x1b[31mred\" where name = 'caf\xc3\xa9'"},
    {.session = 2, .ordinal = 1, .start_us = 6000, .service_us = 4000, .sql = "select old"},
};
static const struct fx_statement candidate[] = {
    {.session = 1,
     .ordinal = 1,
     .start_us = 0,
     .service_us = 5000,
     .sql = "select * from orders where id = 17",
     .rows_plus_1 = 2,
     .lag_us = 80},
    {.session = 1,
     .ordinal = 2,
     .start_us = 5000,
     .service_us = 1500,
     .sql = "select * from \"\x1b[31mred\" where name = 'caf\xc3\xa9'",
     .lag_us = 90},
    {.session = 2,
     .ordinal = 1,
     .start_us = 6000,
     .service_us = 4000,
     .sql = "select old",
     .sqlstate = "42703",
     .lag_us = 120},
};

static const char *base_path;
static const char *candidate_path;
static const char *cut_path;
static char report_path[256];
static char damaged_path[256];

/* The status of the command with these arguments; its output is in report_path. */
static int run(const char *const *args)
{
    char *argv[24] = {(char *) "pgrehearse-diff", (char *) "-o", report_path};
    int argc = 3;
    unlink(report_path);
    for (; *args; args++) {
        argv[argc++] = (char *) *args;
    }
    return rh_diff_main(argc, argv);
}

#define RUN(...) run((const char *const[]){__VA_ARGS__, NULL})

static char *report(void)
{
    static char text[1 << 16];
    FILE *f = fopen(report_path, "r");
    assert_non_null(f);
    size_t n = fread(text, 1, sizeof text - 1, f);
    text[n] = '\0';
    fclose(f);
    return text;
}

static bool has_report(void)
{
    return access(report_path, F_OK) == 0;
}

static void test_exit_statuses(void **state)
{
    (void) state;
    assert_int_equal(RUN(base_path, candidate_path), 0);
    assert_int_equal(RUN("--gate", "new-errors=1", base_path, candidate_path), 0);
    assert_non_null(strstr(report(), "PASS"));
    assert_int_equal(RUN("--gate", "new-errors=0", base_path, candidate_path), 1);
    assert_non_null(strstr(report(), "FAIL: new-errors 1 > 0\n"));
    assert_int_equal(RUN("--gate", "regressed=5", base_path, candidate_path), 3);
    assert_non_null(strstr(report(), "CANNOT JUDGE"));
    assert_int_equal(
        RUN("--gate", "regressed=5", "--gate", "new-errors=0", base_path, candidate_path), 1);
    assert_int_equal(RUN(base_path, cut_path), 3);
    assert_non_null(strstr(report(), "The candidate is not whole"));
    assert_int_equal(RUN("--gate", "new-errors=0", base_path, cut_path), 3);

    assert_int_equal(RUN(base_path), 2);
    assert_false(has_report());
    assert_int_equal(RUN(base_path, candidate_path, cut_path), 2);
    assert_int_equal(RUN("--gate", "nonsense=1", base_path, candidate_path), 2);
    assert_int_equal(RUN("--gate", "missing=1", "--gate", "missing=2", base_path, candidate_path),
                     2);
    assert_int_equal(RUN("--effect", "4", base_path, candidate_path), 2);
    assert_int_equal(RUN("--false-share", "1", base_path, candidate_path), 2);
    assert_int_equal(RUN("--format", "yaml", base_path, candidate_path), 2);
    assert_int_equal(RUN(base_path, "/nonexistent/x.run"), 2);
    assert_int_equal(RUN(base_path, damaged_path), 2);
    assert_false(has_report());
}

static void test_text(void **state)
{
    (void) state;
    assert_int_equal(RUN("--gate", "lag-p99-ms=1", base_path, candidate_path), 0);
    const char *text = report();
    static const char *const wanted[] = {
        "PASS\n",
        "Trust   the rehearsal is DEGRADED: error-parity-pct 66.67\n",
        "Slower  no query regressed\n",
        "Others  0 the same, 2 undecided (2 too few calls), 1 not tested\n",
        "Noise   not measured, as no run of a side was repeated: changes below 10 % are not",
        "Fails   1 new error, of 1 kind\n        1 of 42703 undefined_column, ",
        "Ran     3 statements in the candidate, 0 of the base's did not; lag p99 120 us\n",
        "3 of 3 ran (100.00 %)",
        "p50 89.6 us, p99 120 us, max 120 us",
        "round trip",
        "54.0 us",
        "SLOWER QUERIES, by time added\n",
        "1 undecided   +4.00 ms +133.3 %    5.00x               -          1   1.00 ms   5.00",
        "FASTER QUERIES, by time saved\n",
        "   1 undecided    -500 us  -16.7 %    0.75x",
        "42703 undefined_column",
        "first at 2026-01-01T00:00:00.006000Z, session 2, statement 1\n",
        "lag-p99-ms       limit 1          actual 0.12",
    };
    for (size_t i = 0; i < FX_COUNT(wanted); i++) {
        if (!strstr(text, wanted[i])) {
            fail_msg("no \"%s\" in:\n%s", wanted[i], text);
        }
    }
    /* No colour in a file, and no SQL that colours. */
    assert_null(strchr(text, '\033'));
    for (const char *line = text; *line; line += strcspn(line, "\n") + 1) {
        assert_true(strcspn(line, "\n") <= 112); /* bytes; 110 columns */
    }
}

/* Times of different places: what the tables rank by is relative in every column of it, and no
 * verdict. */
static void test_text_of_other_vantages(void **state)
{
    (void) state;
    struct fx_file b = fx_workload("base.trace", base, FX_COUNT(base));
    assert_int_equal(RUN(fx_write(&b), candidate_path), 0);
    const char *text = report();
    static const char *const wanted[] = {
        "Slower  not judged: the sides' times were taken at different places\n",
        "SLOWER THAN THE MEDIAN SHIFT OF 2.88x, by time added relative to it: a ranking, no "
        "verdict",
        "FASTER THAN THE MEDIAN SHIFT OF 2.88x, by time saved relative to it: a ranking, no "
        "verdict",
        "rel. added   rel. %     rel.",
        /* 5 / 2.875; 1 ms more by 0.739; of 3 ms. */
        "   1 -            +739 us  +24.6 %    1.74x",
        /* 0.75 / 2.875; 2 ms less by 0.739 */
        "   1 -           -1.48 ms  -49.3 %    0.26x",
    };
    for (size_t i = 0; i < FX_COUNT(wanted); i++) {
        if (!strstr(text, wanted[i])) {
            fail_msg("no \"%s\" in:\n%s", wanted[i], text);
        }
    }
    assert_null(strstr(text, "Noise   "));
}

/* False as well when there is no jq; without_input: what is said must not depend on the file. */
static bool jq_says(const char *fact, const char *path, bool without_input)
{
    pid_t pid = fork();
    if (pid == 0) {
        int null = open("/dev/null", O_WRONLY);
        dup2(null, STDOUT_FILENO);
        execlp("jq", "jq", without_input ? "-ne" : "-e", fact, path, (char *) NULL);
        _exit(127);
    }
    int status;
    return waitpid(pid, &status, 0) == pid && WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

static void test_json(void **state)
{
    (void) state;
    if (!jq_says("true", base_path, true)) {
        print_message("SKIPPED: no jq\n");
        skip();
    }
    assert_int_equal(RUN("--format", "json", "--gate", "new-errors=0", base_path, candidate_path),
                     1);
    static const char *const facts[] = {
        ".verdict == \"fail\"",
        ".gates == [{name: \"new-errors\", limit: 0, actual: 1, result: \"fail\", reason: null}]",
        ".rehearsal.verdict == \"degraded\" and (.rehearsal.checks | length) == 15",
        (".rehearsal.checks[] | select(.name == \"error-parity-pct\") | .result == \"degraded\""
         " and .actual > 66 and .degraded_beyond == 99"),
        ".rehearsal.checks[] | select(.name == \"order-wait-pct\") | .invalid_beyond == null",
        ".paired and .inputs.base.kind == \"run\" and .inputs.base.complete",
        ".inputs.candidate.lag_us | .p50 > 89 and .p50 < 91 and .p99 == 120 and .max == 120",
        ".inputs.candidate.round_trip_us == 54",
        ".inputs.base.started_at == \"2026-01-01T00:00:00.000000Z\"",
        ".latency == {comparison: \"absolute\", median_shift: null}",
        ".totals.pairs == 3 and .totals.missing.count == 0",
        ".queries | length == 3",
        ".queries[0].sql | startswith(\"select * from orders\")",
        ".queries[0].fingerprint | test(\"^[0-9a-f]{16}$\")",
        ".queries[0].ratio == 5 and .queries[0].time_added_us == 4000",
        ".queries[0].mean_us == {base: 1000, candidate: 5000}",
        ".queries[0].calls == {base: 1, candidate: 1}",
        ".queries[0].verdict == \"undecided\" and .queries[0].reason == \"too-few-calls\"",
        ".queries[2].verdict == null and .queries[2].reason == \"no-pairs\"",
        ".queries[0].test == null and .queries[0].unpaired == null",
        ".rule | .min_pairs == 15 and .margin_pct == 5 and .effect_pct == 10",
        ".rule | .min_change_us == 100 and .false_share == 0.05 and length == 5",
        ".totals.verdicts | .untested == 1 and .undecided == 2 and ([.[]] | add) == 3",
        ".queries[1].ratio == 0.75 and .queries[1].time_added_us == -500",
        ".queries[2].ratio == null and .queries[2].mean_us == {base: 4000, candidate: null}",
        ".queries[2].errors == {base: 0, candidate: 1}",
        ".errors | length == 1",
        ".errors[0].sqlstate == \"42703\" and .errors[0].class == \"new\"",
        ".errors[0].counts == {base: 0, candidate: 1}",
        ".errors[0].fingerprint == .queries[2].fingerprint",
        ".errors[0].example.sql == \"select old\" and .errors[0].example.session == 2",
    };
    for (size_t i = 0; i < FX_COUNT(facts); i++) {
        if (!jq_says(facts[i], report_path, false)) {
            fail_msg("not so: %s in\n%s", facts[i], report());
        }
    }
}

/* Every byte of a whole file may be cut off: never a crash, and 3 or 2. */
static void test_cut_files(void **state)
{
    (void) state;
    struct stat st;
    char path[300];
    assert_int_equal(stat(candidate_path, &st), 0);
    char *bytes = malloc((size_t) st.st_size);
    FILE *f = fopen(candidate_path, "r");
    assert_int_equal(fread(bytes, 1, (size_t) st.st_size, f), st.st_size);
    fclose(f);
    snprintf(path, sizeof path, "%s/short.run", fx_folder());
    int partial = 0;
    for (off_t size = st.st_size - 1; size >= 0; size -= st.st_size / 24) {
        f = fopen(path, "w");
        assert_int_equal(fwrite(bytes, 1, (size_t) size, f), size);
        fclose(f);
        int status = RUN(base_path, path);
        assert_true(status == 2 || status == 3);
        assert_int_equal(has_report(), status == 3);
        partial += status == 3;
    }
    assert_true(partial > 0);
    free(bytes);
}

static int write_files(void **state)
{
    if (fx_setup(state) != 0) {
        return -1;
    }
    struct fx_file b = fx_run("base.run", 2, base, FX_COUNT(base));
    struct fx_file c = fx_run("candidate.run", 3, candidate, FX_COUNT(candidate));
    struct fx_file stopped = fx_run("stopped.run", 4, candidate, FX_COUNT(candidate));
    c.round_trip_ns = "54000";
    stopped.stopped_early = true;
    base_path = fx_write(&b);
    candidate_path = fx_write(&c);
    cut_path = fx_write(&stopped);
    snprintf(report_path, sizeof report_path, "%s/report", fx_folder());
    snprintf(damaged_path, sizeof damaged_path, "%s/damaged.run", fx_folder());
    FILE *f = fopen(damaged_path, "w");
    fputs("this is no run\n", f);
    fclose(f);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_exit_statuses),
        cmocka_unit_test(test_text),
        cmocka_unit_test(test_text_of_other_vantages),
        cmocka_unit_test(test_json),
        cmocka_unit_test(test_cut_files),
    };
    return cmocka_run_group_tests(tests, write_files, fx_teardown);
}
