/* capture/log_files, log_sniff, log_command: files in any order, compressed, damaged; statuses */
#include "rh_test.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>
#include <zstd.h>

#include "capture/log_command.h"
#include "capture/log_sniff.h"
#include "capture_probe.h"
#include "common/alloc.h"
#include "common/buf.h"
#include "formats/trace_file.h"
#include "log_maker.h"

static char folder[] = "/tmp/rh_log_files.XXXXXX";

static int make_folder(void **state)
{
    (void) state;
    return mkdtemp(folder) ? 0 : -1;
}

static int remove_folder(void **state)
{
    (void) state;
    char command[200];
    snprintf(command, sizeof command, "rm -rf %s", folder);
    return system(command); /* NOLINT: of a fixed name */
}

static const char *path_of(const char *name)
{
    static char paths[8][200];
    static unsigned next;
    char *path = paths[next++ % 8];
    snprintf(path, sizeof paths[0], "%s/%s", folder, name);
    return path;
}

static void write_file(const char *name, const void *data, size_t n)
{
    FILE *f = fopen(path_of(name), "wb");
    assert_non_null(f);
    assert_int_equal(fwrite(data, 1, n, f), n);
    fclose(f);
}

/* Statements first .. last of one session, at their second. */
static void make_log(struct rh_log_maker *m, int first, int last)
{
    rh_log_maker_init(m);
    for (int i = first; i <= last; i++) {
        char stamp[20], message[60];
        snprintf(stamp, sizeof stamp, "00:00:%02d.000", i);
        snprintf(message, sizeof message, "statement: SELECT %d", i);
        LOG(m, .line = (uint32_t) i, .stamp = stamp, .tag = "idle", .message = message);
    }
}

static void check_statements(const struct rh_probe *p, int count)
{
    for (int i = 0; i < count; i++) {
        char want[30];
        const struct rh_record *r = rh_probe_statement(p, (uint32_t) i);
        snprintf(want, sizeof want, "SELECT %d", i + 1);
        assert_non_null(r);
        rh_assert_span(r->text, want);
    }
    assert_null(rh_probe_statement(p, (uint32_t) count));
    assert_int_equal(p->stats.missing_lines, 0);
}

static void write_gzip(const char *name, const struct rh_buf *b)
{
    gzFile f = gzopen(path_of(name), "wb");
    assert_int_equal(gzwrite(f, b->data, (unsigned) b->len), (int) b->len);
    gzclose(f);
}

static void write_zstd(const char *name, const struct rh_buf *b)
{
    size_t cap = ZSTD_compressBound(b->len);
    char *out = rh_malloc(cap);
    size_t n = ZSTD_compress(out, cap, b->data, b->len, 3);
    assert_false(ZSTD_isError(n));
    write_file(name, out, n);
    rh_free(out);
}

static void test_any_order_and_compression(void **state)
{
    (void) state;
    struct rh_log_maker a, b, c;
    struct rh_probe p;
    make_log(&a, 1, 10);
    make_log(&b, 11, 20);
    make_log(&c, 21, 30);
    write_file("a.csv", a.out.data, a.out.len);
    write_gzip("b.csv.gz", &b.out);
    write_zstd("named-as-it-likes", &c.out);
    write_file("empty.csv", "", 0);
    const char *paths[] = {path_of("named-as-it-likes"), path_of("a.csv"), path_of("empty.csv"),
                           path_of("b.csv.gz"), path_of("a.csv")};
    rh_probe_init(&p);
    rh_probe_run_files(&p, paths, 5);
    assert_string_equal(p.error, "");
    check_statements(&p, 30);
    assert_int_equal(p.session_count, 1);
    rh_probe_release(&p);
    rh_log_maker_release(&a);
    rh_log_maker_release(&b);
    rh_log_maker_release(&c);
}

static void test_standard_input_is_read_once(void **state)
{
    (void) state;
    struct rh_log_maker a, b;
    struct rh_probe p;
    make_log(&a, 1, 10);
    make_log(&b, 11, 20);
    write_file("first.csv", a.out.data, a.out.len);
    write_gzip("second.csv.gz", &b.out);
    int saved = dup(STDIN_FILENO);
    int fd = open(path_of("second.csv.gz"), O_RDONLY);
    dup2(fd, STDIN_FILENO);
    const char *paths[] = {"-", path_of("first.csv")};
    rh_probe_init(&p);
    rh_probe_run_files(&p, paths, 2);
    dup2(saved, STDIN_FILENO);
    close(fd);
    close(saved);
    assert_string_equal(p.error, "");
    check_statements(&p, 20);
    rh_probe_release(&p);
    rh_log_maker_release(&a);
    rh_log_maker_release(&b);
}

static void test_a_damaged_file_gives_what_it_has(void **state)
{
    (void) state;
    struct rh_log_maker a, b;
    struct rh_probe p;
    rh_log_maker_init(&a);
    for (int i = 1; i <= 3000; i++) {
        char message[60];
        snprintf(message, sizeof message, "statement: SELECT %d", i * 7919 % 3001);
        LOG(&a, .line = (uint32_t) i, .tag = "idle", .message = message);
    }
    make_log(&b, 11, 20);
    write_gzip("cut.csv.gz", &a.out);
    struct stat st;
    assert_int_equal(stat(path_of("cut.csv.gz"), &st), 0);
    assert_int_equal(truncate(path_of("cut.csv.gz"), st.st_size / 2), 0);
    write_file("whole.csv", b.out.data, b.out.len);
    const char *paths[] = {path_of("whole.csv"), path_of("cut.csv.gz")};
    rh_probe_init(&p);
    rh_probe_run_files(&p, paths, 2);
    assert_non_null(strstr(p.error, "cut.csv.gz"));
    assert_true(rh_capture_stats_statements(&p.stats) > 1000);
    /* The file behind it is read all the same. */
    const struct rh_record *last =
        rh_probe_statement(&p, (uint32_t) rh_capture_stats_statements(&p.stats) - 1);
    rh_assert_span(last->text, "SELECT 20");
    rh_probe_release(&p);
    rh_log_maker_release(&a);
    rh_log_maker_release(&b);
}

static void check_kind(const char *data, size_t n, enum rh_log_kind want)
{
    int64_t start;
    enum rh_log_kind got = rh_log_sniff(data, n, &start);
    if (got != want) {
        fail_msg("%.40s: %s", data, rh_log_kind_advice(got));
    }
}

static void test_kinds_of_files(void **state)
{
    (void) state;
    static const char greenplum[] =
        "2026-01-01 00:00:00.000000 UTC,\"gpadmin\",\"db\",p12345,th12345,\"[local]\",,2026-01-01 "
        "00:00:00 UTC,0,con7,cmd1,seg-1,,,,sx1,\"LOG\",\"00000\",\"statement: SELECT "
        "1\",,,,,,,,0,,\"postgres.c\",1\n";
    check_kind("", 0, RH_LOG_KIND_EMPTY);
    check_kind(greenplum, sizeof greenplum - 1, RH_LOG_KIND_GREENPLUM);
    check_kind("2026-01-01 00:00:00 UTC [1] LOG:  x\n", 36, RH_LOG_KIND_STDERR);
    check_kind("{\"timestamp\":\"2026\"}\n", 21, RH_LOG_KIND_JSON);
    check_kind("Feb 11 13:15:39 host postgres[1]: [1-1] LOG:  x\n", 48, RH_LOG_KIND_SYSLOG);
    check_kind("\xd4\xc3\xb2\xa1\x02\0\x04\0", 8, RH_LOG_KIND_PCAP);
    check_kind("\x7f"
               "ELF\0\0\0",
               7, RH_LOG_KIND_BINARY);
    check_kind("hello world\n", 12, RH_LOG_KIND_UNKNOWN);
    struct rh_log_maker m;
    make_log(&m, 1, 2);
    check_kind(m.out.data, m.out.len, RH_LOG_KIND_CSV);
    /* Cut from the middle of a larger one. */
    check_kind(m.out.data + 50, m.out.len - 50, RH_LOG_KIND_CSV);
    rh_log_maker_release(&m);
}

static int run_command(const char *input, const char *output, const char *user)
{
    struct rh_capture_options o;
    const char *paths[] = {path_of(input)};
    const char *users[] = {user};
    rh_capture_options_init(&o);
    o.output = path_of(output);
    o.quiet = true;
    if (user) {
        o.users = (struct rh_str_list){users, 1, 1};
    }
    return rh_log_command_run(&o, paths, 1);
}

static void check_trace(const char *name, uint64_t statements, bool complete)
{
    struct rh_trace_file *f;
    struct rh_error err;
    if (rh_trace_file_open(&f, path_of(name), &err) != 0) {
        fail_msg("%s", err.text);
    }
    assert_int_equal(rh_trace_file_totals(f).statements, statements);
    assert_int_equal(rh_trace_file_complete(f), complete);
    assert_int_equal(rh_trace_file_header(f)->vantage, RH_VANTAGE_SERVER_LOG);
    rh_trace_file_close(f);
}

static void test_statuses_of_the_command(void **state)
{
    (void) state;
    struct rh_log_maker m;
    make_log(&m, 1, 10);
    write_file("ten.csv", m.out.data, m.out.len);
    assert_int_equal(run_command("ten.csv", "ten.trace", NULL), RH_EXIT_DONE);
    check_trace("ten.trace", 10, true);

    /* Bad records are counted, not an error. */
    write_file("bad.csv", m.out.data, m.out.len - 30);
    assert_int_equal(run_command("bad.csv", "bad.trace", NULL), RH_EXIT_DONE);
    check_trace("bad.trace", 9, true);

    /* Nothing usable leaves nothing behind. */
    assert_int_equal(run_command("ten.csv", "none.trace", "nobody"), RH_EXIT_TROUBLE);
    assert_int_not_equal(access(path_of("none.trace"), F_OK), 0);
    assert_int_not_equal(access(path_of("none.trace.partial"), F_OK), 0);
    assert_int_equal(run_command("absent.csv", "none.trace", NULL), RH_EXIT_TROUBLE);
    assert_int_equal(run_command("ten.trace", "none.trace", NULL), RH_EXIT_TROUBLE);
    assert_int_equal(run_command("ten.csv", "no/such/folder.trace", NULL), RH_EXIT_TROUBLE);
    assert_int_not_equal(access(path_of("none.trace"), F_OK), 0);

    /* A damaged input makes a trace that says that it is not complete. */
    write_gzip("half.csv.gz", &m.out);
    struct stat st;
    assert_int_equal(stat(path_of("half.csv.gz"), &st), 0);
    assert_int_equal(truncate(path_of("half.csv.gz"), st.st_size - 12), 0);
    assert_int_equal(run_command("half.csv.gz", "half.trace", NULL), RH_EXIT_PARTIAL);
    struct rh_trace_file *f;
    struct rh_error err;
    assert_int_equal(rh_trace_file_open(&f, path_of("half.trace"), &err), 0);
    assert_false(rh_trace_file_complete(f));
    rh_trace_file_close(f);
    rh_log_maker_release(&m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_any_order_and_compression),
        cmocka_unit_test(test_standard_input_is_read_once),
        cmocka_unit_test(test_a_damaged_file_gives_what_it_has),
        cmocka_unit_test(test_kinds_of_files),
        cmocka_unit_test(test_statuses_of_the_command),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
