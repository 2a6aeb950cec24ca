/* Small logs on which other tools fail: exactly what they hold. */
#include "rh_test.h"

#include <dirent.h>
#include <stdio.h>

#include "capture_probe.h"
#include "common/alloc.h"
#include "common/buf.h"

struct wanted {
    const char *file;
    uint64_t bad;
    uint32_t sessions;
    const char *statements; /* rh_probe_print() */
};

static const struct wanted all_wanted[] = {
    {"a.csv", 0, 2, "1/1 query [] [] | SELECT 1 | | 00000 |\n"},
    {"b.csv", 0, 1,
     "1/1 query [] [] | CREATE TEMP TABLE t(a int) | | 00000 |\n"
     "1/2 execute [] [] | COPY t FROM STDIN | | 00000 | no-copy-data\n"
     "1/3 query [] [] | SELECT 1 | | 00000 |\n"},
    {"c.csv", 0, 2,
     "1/1 query [] [] | SELECT pg_terminate_backend(pg_backend_pid()) | |  |\n"
     "2/1 query [] [] | SELECT 1 | | 00000 |\n"
     "2/2 query [] [] | SELECT 2 | | 00000 |\n"},
    {"colon.csv", 0, 1, "1/1 execute [a:b] [] | SELECT 1 | |  |\n"},
    {"crlf.csv", 0, 1, "1/1 query [] [] | SELECT 1 | |  |\n"},
    /* A success is known only where no line of the session is missing behind it. */
    {"d.csv", 0, 2,
     "1/1 query [] [] | SELECT pg_sleep(2) | | 00000 |\n"
     "1/2 query [] [] | SELECT 1 | |  |\n"
     "2/1 query [] [] | SELECT 2 | | 00000 |\n"
     "2/2 query [] [] | SELECT 3 | | 00000 |\n"},
    {"discard.csv", 0, 1,
     "1/1 execute [S_1] [] | SELECT 1 | | 00000 |\n"
     "1/2 query [] [] | DISCARD ALL | | 00000 |\n"
     "1/3 execute [S_1] [] | SELECT 1 | |  |\n"},
    {"dst.csv", 0, 1,
     "1/1 query [] [] | SELECT 1 | | 00000 |\n"
     "1/2 query [] [] | SELECT 2 | | 00000 |\n"
     "1/3 query [] [] | SELECT 3 | | 00000 |\n"
     "1/4 query [] [] | SELECT 4 | |  |\n"},
    {"dup.csv", 0, 1, "1/1 execute [] [] | SELECT $1::int | <1> |  |\n"},
    {"dur.csv", 0, 1,
     "1/1 query [] [] | SELECT 1 | | 00000 |\n"
     "1/2 execute [] [] | SELECT $1 | <1> | 00000 |\n"},
    {"e.csv", 0, 1,
     "1/1 query [] [] | SELECT 1 | | 00000 |\n"
     "1/2 query [] [] | SELECT 2 | | 00000 |\n"
     "1/3 query [] [] | SELECT 3 | | 00000 |\n"},
    {"ex.csv", 0, 1, "1/1 query [] [] | EXECUTE foo(1) | |  |\n"},
    {"fetch.csv", 0, 1,
     "1/1 execute [S_1] [C_1] | SELECT * FROM big | | 00000 |\n"
     "1/2 fetch [S_1] [C_1] | SELECT * FROM big | | 00000 | no-row-limit\n"
     "1/3 fetch [S_1] [C_1] | SELECT * FROM big | |  | no-row-limit\n"},
    {"g.csv", 0, 2,
     "1/1 query [] [] | SELECT pg_terminate_backend(pg_backend_pid()) | | 00000 |\n"
     "1/2 query [] [] | SELECT 1 | |  |\n"
     "2/1 query [] [] | SELECT 2 | | 00000 |\n"},
    {"garb.csv", 1, 1, "1/1 execute [] [] | SELECT $1::int | <1> |  |\n"},
    {"h.csv", 0, 1,
     "1/1 execute [S_1] [] | SELECT 1 | | 00000 |\n"
     "1/2 query [] [] | DISCARD ALL | | 00000 |\n"
     "1/3 execute [S_1] [] | SELECT 1 | | 00000 |\n"
     "1/4 execute [] [] | SELECT $1 + $2 | <1> <2> | 00000 |\n"
     "1/5 execute [] [] | SELECT $1 + 1 | <1> | 00000 |\n"},
    {"k.csv", 0, 1,
     "1/1 query [] [] | SELECT pg_sleep(5) | | 00000 |\n"
     "1/2 query [] [] | SELECT 1 | | 00000 |\n"},
    {"l.csv", 0, 1,
     "1/1 query [] [] | SELECT repeat('x',1000) FROM generate_series(1,200000) | | 00000 |\n"},
    {"longname.csv", 0, 1, NULL},
    {"longuser.csv", 0, 1, "1/1 execute [] [] | SELECT $1::int | <1> |  |\n"},
    {"n.csv", 0, 1, "1/1 query [] [] | SELECT $1::int | |  |\n"},
    {"p16.csv", 0, 1, "1/1 execute [] [] | SELECT $1::int | <1> |  |\n"},
    {"p16.csv.gz", 0, 1, "1/1 execute [] [] | SELECT $1::int | <1> |  |\n"},
    {"p17.csv", 0, 1, "1/1 execute [] [] | SELECT $1::int | <1> |  |\n"},
    {"reuse.csv", 0, 1,
     "1/1 execute [S_1] [] | SELECT 1 | | 00000 |\n"
     "1/2 execute [S_1] [] | SELECT 2 | |  |\n"},
    {"sets.csv", 0, 1,
     "1/1 query [] [] | SET NAMES 'LATIN1' | | 00000 | encoding\n"
     "1/2 query [] [] | SET SESSION client_encoding = 'LATIN1' | | 00000 | encoding\n"
     "1/3 query [] [] | copy t to stdout; SELECT 1 | | 00000 |\n"
     "1/4 execute [] [] | COPY t FROM STDIN | |  | no-copy-data\n"},
    {"trunc.csv", 0, 1, "1/1 execute [] [] | SELECT $1, $2 | <abc...> NULL |  | cut-parameter\n"},
    {"trunc_rec.csv", 1, 1, "1/1 execute [] [] | SELECT $1::int | <1> |  |\n"},
};

static void check_long_name(const struct rh_probe *p)
{
    const struct rh_record *r = rh_probe_statement(p, 0);
    assert_true(r->statement_name.len > 400);
    rh_assert_span(r->text, "SELECT 1");
    assert_null(rh_probe_statement(p, 1));
}

static const struct wanted *find_wanted(const char *file)
{
    for (size_t i = 0; i < sizeof all_wanted / sizeof all_wanted[0]; i++) {
        if (strcmp(all_wanted[i].file, file) == 0) {
            return &all_wanted[i];
        }
    }
    return NULL;
}

static void check_file(const char *file)
{
    char path[1024];
    struct rh_probe p;
    struct rh_buf text;
    const struct wanted *want = find_wanted(file);
    snprintf(path, sizeof path, "%s/logs/pgreplay_breaks_on/%s", RH_DATA_DIR, file);
    const char *paths[] = {path};
    rh_probe_init(&p);
    rh_buf_init(&text, 1 << 20);
    rh_probe_run_files(&p, paths, 1);
    if (strcmp(file, "empty.csv") == 0) {
        assert_non_null(strstr(p.error, "is empty"));
    } else {
        if (!want) {
            fail_msg("%s: nothing is known of it", file);
        }
        assert_string_equal(p.error, "");
        assert_int_equal(p.counts.records, p.counts.entries + rh_log_reader_bad(&p.counts));
        assert_int_equal(rh_log_reader_bad(&p.counts), want->bad);
        assert_int_equal(p.session_count, want->sessions);
        rh_probe_print(&p, &text);
        if (want->statements) {
            if (strcmp(rh_buf_cstr(&text), want->statements) != 0) {
                fail_msg("%s:\n%snot\n%s", file, rh_buf_cstr(&text), want->statements);
            }
        } else {
            check_long_name(&p);
        }
    }
    rh_buf_release(&text);
    rh_probe_release(&p);
}

static void test_every_csvlog(void **state)
{
    (void) state;
    DIR *d = opendir(RH_DATA_DIR "/logs/pgreplay_breaks_on");
    if (!d) {
        print_message("SKIPPED: no corpus\n");
        return;
    }
    int count = 0;
    for (struct dirent *e; (e = readdir(d));) {
        if (strstr(e->d_name, ".csv")) {
            check_file(e->d_name);
            count++;
        }
    }
    closedir(d);
    assert_int_equal(count, 29);
}

static void test_times_across_summer_time(void **state)
{
    (void) state;
    const char *paths[] = {RH_DATA_DIR "/logs/pgreplay_breaks_on/dst.csv"};
    struct rh_probe p;
    rh_probe_init(&p);
    rh_probe_run_files(&p, paths, 1);
    if (!p.error[0]) {
        const struct rh_record *r[4];
        for (uint32_t i = 0; i < 4; i++) {
            r[i] = rh_probe_statement(&p, i);
        }
        assert_int_equal(r[1]->start_ns - r[0]->start_ns, 1000000000);
        assert_int_equal(r[3]->start_ns - r[2]->start_ns, 1000000000);
    } else {
        print_message("SKIPPED: no corpus\n");
    }
    rh_probe_release(&p);
}

/* A log of another kind is named, with what to do. */
static void test_what_is_no_csvlog_is_named(void **state)
{
    (void) state;
    static const struct {
        const char *file, *message;
    } rows[] = {
        {"pgreplay_breaks_on/stderr1.log", "plain text server log"},
        {"pgreplay_breaks_on/verbose.log", "plain text server log"},
        {"generated/pg15/A_stmt_all.log", "plain text server log"},
        {"generated/pg15_debian/lc_ru.log", "plain text server log"},
        {"generated/pg15/A_stmt_all.json", "JSON"},
        {"generated/pg15_syslog/stmt_all.rsyslog.log", "syslog"},
        {"darold_pgbadger/t/fixtures/pgbouncer.log.gz", "pgbouncer"},
        {"darold_pgbadger/t/fixtures/pgbouncer.1.21.log.gz", "pgbouncer"},
        {"darold_pgbadger/t/fixtures/cnpg.log.gz", "JSON"},
        {"no such file", "no such file"},
    };
    DIR *d = opendir(RH_DATA_DIR "/logs");
    if (!d) {
        print_message("SKIPPED: no corpus\n");
        return;
    }
    closedir(d);
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        char path[1024];
        struct rh_probe p;
        snprintf(path, sizeof path, "%s/logs/%s", RH_DATA_DIR, rows[i].file);
        const char *paths[] = {path};
        rh_probe_init(&p);
        rh_probe_run_files(&p, paths, 1);
        if (!strstr(p.error, rows[i].message)) {
            fail_msg("%s: \"%s\"", rows[i].file, p.error);
        }
        rh_probe_release(&p);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_csvlog),
        cmocka_unit_test(test_times_across_summer_time),
        cmocka_unit_test(test_what_is_no_csvlog_is_named),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
