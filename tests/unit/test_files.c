/* common/infile, common/outfile */
#include "rh_test.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>
#include <zstd.h>

#include "common/alloc.h"
#include "common/infile.h"
#include "common/outfile.h"
#include "common/stop.h"

enum { SAMPLE_BYTES = 900 * 1000 };

static char directory[64];
static char sample[SAMPLE_BYTES];
static char received[2 * SAMPLE_BYTES + 100];

static int make_directory(void **state)
{
    (void) state;
    snprintf(directory, sizeof directory, "/tmp/rh-files-XXXXXX");
    uint64_t seed = 3;
    for (size_t i = 0; i < SAMPLE_BYTES; i++) {
        seed = seed * UINT64_C(6364136223846793005) + 1442695040888963407U;
        sample[i] = i % 3 ? "abcdefgh"[seed >> 61] : (char) (seed >> 56);
    }
    sample[0] = 'S';
    return mkdtemp(directory) ? 0 : -1;
}

static int remove_directory(void **state)
{
    (void) state;
    return rmdir(directory);
}

static const char *path_of(const char *name)
{
    static char path[2][160];
    static int turn;
    turn = !turn;
    snprintf(path[turn], sizeof path[turn], "%s/%s", directory, name);
    return path[turn];
}

static void write_file(const char *name, const void *data, size_t n)
{
    FILE *out = fopen(path_of(name), "wb");
    assert_non_null(out);
    assert_int_equal(fwrite(data, 1, n, out), n);
    fclose(out);
}

static size_t gzip_of(const char *data, size_t n, char *out, size_t cap)
{
    z_stream z = {0};
    assert_int_equal(deflateInit2(&z, 6, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY), Z_OK);
    z.next_in = (unsigned char *) data;
    z.avail_in = (unsigned) n;
    z.next_out = (unsigned char *) out;
    z.avail_out = (unsigned) cap;
    assert_int_equal(deflate(&z, Z_FINISH), Z_STREAM_END);
    size_t made = z.total_out;
    deflateEnd(&z);
    return made;
}

/* With a checksum, as the zstd program writes it. */
static size_t zstd_of(const char *data, size_t n, char *out, size_t cap)
{
    ZSTD_CCtx *z = ZSTD_createCCtx();
    ZSTD_CCtx_setParameter(z, ZSTD_c_checksumFlag, 1);
    size_t made = ZSTD_compress2(z, out, cap, data, n);
    assert_false(ZSTD_isError(made));
    ZSTD_freeCCtx(z);
    return made;
}

/* Read the whole file in pieces of `piece`; how many bytes came, the error in *err. */
static size_t read_all(const char *name, size_t piece, struct rh_error *err)
{
    struct rh_infile *f;
    rh_error_clear(err);
    assert_int_equal(rh_infile_open(&f, path_of(name), err), 0);
    size_t n = 0;
    ssize_t got;
    while ((got = rh_infile_read(f, received + n,
                                 piece < sizeof received - n ? piece : sizeof received - n, err)) >
           0) {
        n += (size_t) got;
    }
    if (got < 0) {
        /* The error stays. */
        char more;
        assert_int_equal(rh_infile_read(f, &more, 1, NULL), -1);
    } else {
        assert_int_equal(rh_infile_consumed_bytes(f), rh_infile_size_bytes(f));
    }
    rh_infile_close(f);
    return n;
}

static void check_reads_sample(const char *name, size_t copies)
{
    static const size_t pieces[] = {1 << 20, 70001};
    for (size_t i = 0; i < 2; i++) {
        struct rh_error err;
        assert_int_equal(read_all(name, pieces[i], &err), copies * SAMPLE_BYTES);
        assert_int_equal(err.code, RH_ERR_NONE);
        for (size_t c = 0; c < copies; c++) {
            assert_memory_equal(received + c * SAMPLE_BYTES, sample, SAMPLE_BYTES);
        }
    }
    unlink(path_of(name));
}

static void test_plain(void **state)
{
    (void) state;
    write_file("plain", sample, SAMPLE_BYTES);
    check_reads_sample("plain", 1);
    static const size_t sizes[] = {0, 1, 3, 4, 256 * 1024, 256 * 1024 + 1};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        struct rh_error err;
        write_file("small", sample, sizes[i]);
        assert_int_equal(read_all("small", 1 << 20, &err), sizes[i]);
        assert_int_equal(err.code, RH_ERR_NONE);
        assert_memory_equal(received, sample, sizes[i]);
    }
    unlink(path_of("small"));
}

static void test_gzip_members(void **state)
{
    (void) state;
    size_t cap = 4 * SAMPLE_BYTES;
    char *packed = rh_malloc(cap);
    size_t n = gzip_of(sample, SAMPLE_BYTES, packed, cap);
    n += gzip_of(sample, 0, packed + n, cap - n);
    n += gzip_of(sample, 300000, packed + n, cap - n);
    n += gzip_of(sample + 300000, SAMPLE_BYTES - 300000, packed + n, cap - n);
    write_file("two.gz", packed, n);
    check_reads_sample("two.gz", 2);
    /* Zeros behind the last member are padding. */
    memset(packed + n, 0, 1000);
    write_file("padded.gz", packed, n + 1000);
    check_reads_sample("padded.gz", 2);

    struct rh_error err;
    memcpy(packed + n, "garbage", 7);
    write_file("garbage.gz", packed, n + 7);
    assert_int_equal(read_all("garbage.gz", 1 << 20, &err), 2 * SAMPLE_BYTES);
    assert_int_equal(err.code, RH_ERR_FORMAT);
    assert_non_null(strstr(err.text, "not gzip"));
    unlink(path_of("garbage.gz"));
    rh_free(packed);
}

static void test_zstd_frames(void **state)
{
    (void) state;
    size_t cap = 4 * SAMPLE_BYTES;
    char *packed = rh_malloc(cap);
    /* A skippable frame of three bytes comes first. */
    memcpy(packed, "\x57\x2a\x4d\x18\x03\x00\x00\x00xyz", 11);
    size_t n = 11 + zstd_of(sample, SAMPLE_BYTES, packed + 11, cap - 11);
    n += zstd_of(sample, 10, packed + n, cap - n);
    n += zstd_of(sample + 10, SAMPLE_BYTES - 10, packed + n, cap - n);
    write_file("two.zst", packed, n);
    check_reads_sample("two.zst", 2);
    rh_free(packed);
}

/* A file cut anywhere gives the beginning of the sample, then an error. */
static void check_cuts(const char *name, const char *packed, size_t n)
{
    for (size_t keep = 5; keep < n; keep += n / 23) {
        struct rh_error err;
        write_file(name, packed, keep);
        size_t got = read_all(name, 1 << 20, &err);
        assert_true(got <= SAMPLE_BYTES);
        assert_memory_equal(received, sample, got);
        assert_int_equal(err.code, RH_ERR_FORMAT);
        assert_non_null(strstr(err.text, "end early"));
        if (keep > n / 2) {
            /* Not all is lost: a zstd block holds 128 KiB. */
            assert_true(got > SAMPLE_BYTES / 4);
        }
    }
    unlink(path_of(name));
}

static void check_damage(const char *name, char *packed, size_t n)
{
    struct rh_error err;
    for (size_t i = n / 2; i < n / 2 + 200; i++) {
        packed[i] = (char) ~packed[i];
    }
    write_file(name, packed, n);
    size_t got = read_all(name, 1 << 20, &err);
    assert_true(got <= SAMPLE_BYTES + 300000);
    assert_int_equal(err.code, RH_ERR_FORMAT);
    assert_non_null(strstr(err.text, name));
    unlink(path_of(name));
}

static void test_compressed_input_that_is_cut_or_damaged(void **state)
{
    (void) state;
    size_t cap = 2 * SAMPLE_BYTES;
    char *packed = rh_malloc(cap);
    size_t n = gzip_of(sample, SAMPLE_BYTES, packed, cap);
    check_cuts("cut.gz", packed, n);
    check_damage("bad.gz", packed, n);
    n = zstd_of(sample, SAMPLE_BYTES, packed, cap);
    check_cuts("cut.zst", packed, n);
    check_damage("bad.zst", packed, n);
    rh_free(packed);
}

static void test_what_cannot_be_opened(void **state)
{
    (void) state;
    struct rh_infile *f;
    struct rh_error err;
    assert_int_equal(rh_infile_open(&f, path_of("absent"), &err), -1);
    assert_int_equal(err.code, RH_ERR_IO);
    assert_non_null(strstr(err.text, "No such file"));
    assert_int_equal(rh_infile_open(&f, directory, &err), -1);
    assert_non_null(strstr(err.text, "directory"));
    struct rh_outfile *o;
    assert_int_equal(rh_outfile_open(&o, path_of("no/such/folder"), &err), -1);
    assert_int_equal(err.code, RH_ERR_IO);
    assert_int_equal(rh_outfile_open(&o, directory, &err), -1);
}

static void test_pipe_in_small_pieces(void **state)
{
    (void) state;
    int ends[2];
    assert_int_equal(pipe(ends), 0);
    pid_t child = fork();
    if (child == 0) {
        close(ends[0]);
        for (size_t i = 0; i < 3000;) {
            ssize_t done = write(ends[1], sample + i, i < 3 ? 1 : 100);
            i += done > 0 ? (size_t) done : 3000;
        }
        _exit(0);
    }
    close(ends[1]);
    int saved = dup(STDIN_FILENO);
    dup2(ends[0], STDIN_FILENO);
    struct rh_infile *f;
    struct rh_error err;
    assert_int_equal(rh_infile_open(&f, "-", &err), 0);
    size_t n = 0;
    ssize_t got;
    while ((got = rh_infile_read(f, received + n, sizeof received - n, &err)) > 0) {
        n += (size_t) got;
    }
    assert_int_equal(got, 0);
    assert_true(n >= 3000 && n < 3200);
    assert_memory_equal(received, sample, n);
    assert_int_equal(rh_infile_size_bytes(f), 0);
    assert_int_equal(rh_infile_consumed_bytes(f), n);
    rh_infile_close(f);
    dup2(saved, STDIN_FILENO);
    close(saved);
    close(ends[0]);
}

static void test_stop_ends_a_wait(void **state)
{
    (void) state;
    int ends[2];
    assert_int_equal(pipe(ends), 0);
    char path[64];
    snprintf(path, sizeof path, "/dev/fd/%d", ends[0]);
    assert_int_equal(write(ends[1], "some bytes", 10), 10);
    rh_stop_install();
    struct rh_infile *f;
    struct rh_error err;
    assert_int_equal(rh_infile_open(&f, path, &err), 0);
    char data[100];
    assert_int_equal(rh_infile_read(f, data, sizeof data, &err), 10);
    rh_stop_request();
    assert_int_equal(rh_infile_read(f, data, sizeof data, &err), -1);
    assert_int_equal(err.code, RH_ERR_STOPPED);
    rh_stop_clear();
    rh_infile_close(f);
    close(ends[0]);
    close(ends[1]);
}

static bool exists(const char *name)
{
    return access(path_of(name), F_OK) == 0;
}

static void check_content(const char *name, const char *want)
{
    struct rh_error err;
    size_t n = read_all(name, 1000, &err);
    assert_int_equal(n, strlen(want));
    assert_memory_equal(received, want, n);
}

static void test_output_appears_when_finished(void **state)
{
    (void) state;
    struct rh_outfile *f;
    struct rh_error err;
    write_file("out", "old", 3);
    assert_int_equal(chmod(path_of("out"), 0640), 0);
    assert_int_equal(rh_outfile_open(&f, path_of("out"), &err), 0);
    assert_int_equal(rh_outfile_write(f, "hello ", 6, &err), 0);
    assert_int_equal(rh_outfile_write(f, "world", 5, &err), 0);
    assert_int_equal(rh_outfile_sync(f, &err), 0);
    assert_int_equal(rh_outfile_written_bytes(f), 11);
    check_content("out", "old");
    check_content("out.partial", "hello world");
    assert_int_equal(rh_outfile_finish(f, &err), 0);
    check_content("out", "hello world");
    assert_false(exists("out.partial"));
    struct stat st;
    assert_int_equal(stat(path_of("out"), &st), 0);
    assert_int_equal(st.st_mode & 0777, 0640);

    assert_int_equal(rh_outfile_open(&f, path_of("out"), &err), 0);
    assert_int_equal(rh_outfile_write(f, "x", 1, &err), 0);
    rh_outfile_discard(f);
    check_content("out", "hello world");
    assert_false(exists("out.partial"));
    rh_outfile_discard(NULL);
    unlink(path_of("out"));
}

static void test_one_writer_at_a_time(void **state)
{
    (void) state;
    struct rh_outfile *first;
    struct rh_outfile *second;
    struct rh_error err;
    write_file("out.partial", "left by a kill", 14);
    assert_int_equal(rh_outfile_open(&first, path_of("out"), &err), 0);
    assert_int_equal(rh_outfile_write(first, "data", 4, &err), 0);
    assert_int_equal(rh_outfile_open(&second, path_of("out"), &err), -1);
    assert_non_null(strstr(err.text, "being written by another process"));
    check_content("out.partial", "data");
    assert_int_equal(rh_outfile_finish(first, &err), 0);
    check_content("out", "data");
    unlink(path_of("out"));
}

static void test_links_and_devices_stay(void **state)
{
    (void) state;
    struct rh_outfile *f;
    struct rh_error err;
    write_file("target", "old", 3);
    assert_int_equal(symlink("target", path_of("link")), 0);
    assert_int_equal(rh_outfile_open(&f, path_of("link"), &err), 0);
    assert_int_equal(rh_outfile_write(f, "new", 3, &err), 0);
    assert_int_equal(rh_outfile_finish(f, &err), 0);
    struct stat st;
    assert_int_equal(lstat(path_of("link"), &st), 0);
    assert_true(S_ISLNK(st.st_mode));
    check_content("target", "new");
    unlink(path_of("link"));
    unlink(path_of("target"));

    assert_int_equal(rh_outfile_open(&f, "/dev/null", &err), 0);
    assert_int_equal(rh_outfile_write(f, "new", 3, &err), 0);
    assert_int_equal(rh_outfile_finish(f, &err), 0);
    assert_int_equal(stat("/dev/null", &st), 0);
    assert_true(S_ISCHR(st.st_mode));

    if (access("/dev/full", W_OK) == 0) {
        assert_int_equal(rh_outfile_open(&f, "/dev/full", &err), 0);
        assert_int_equal(rh_outfile_write(f, "new", 3, &err), -1);
        assert_non_null(strstr(err.text, "No space left"));
        rh_outfile_discard(f);
        assert_int_equal(access("/dev/full", F_OK), 0);
    }
}

/* The limit of a file's size stands in for a full disk: the write that meets it is half done. */
static void test_failed_write_leaves_whole_pieces(void **state)
{
    (void) state;
    struct rlimit old;
    struct rlimit small = {.rlim_cur = 10000, .rlim_max = 0};
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &old), 0);
    small.rlim_max = old.rlim_max;
    signal(SIGXFSZ, SIG_IGN);
    struct rh_outfile *f;
    struct rh_error err;
    assert_int_equal(rh_outfile_open(&f, path_of("full"), &err), 0);
    assert_int_equal(rh_outfile_write(f, sample, 7000, &err), 0);
    setrlimit(RLIMIT_FSIZE, &small);
    assert_int_equal(rh_outfile_write(f, sample, 7000, &err), -1);
    struct stat st;
    assert_int_equal(stat(path_of("full.partial"), &st), 0);
    assert_int_equal(rh_outfile_write(f, sample + 7000, 100, &err), 0);
    setrlimit(RLIMIT_FSIZE, &old);
    assert_int_equal(st.st_size, 7000);
    assert_int_equal(rh_outfile_written_bytes(f), 7100);
    assert_int_equal(rh_outfile_finish(f, &err), 0);
    assert_int_equal(read_all("full", 1 << 20, &err), 7100);
    assert_memory_equal(received, sample, 7100);
    unlink(path_of("full"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_plain),
        cmocka_unit_test(test_gzip_members),
        cmocka_unit_test(test_zstd_frames),
        cmocka_unit_test(test_compressed_input_that_is_cut_or_damaged),
        cmocka_unit_test(test_what_cannot_be_opened),
        cmocka_unit_test(test_pipe_in_small_pieces),
        cmocka_unit_test(test_stop_ends_a_wait),
        cmocka_unit_test(test_output_appears_when_finished),
        cmocka_unit_test(test_one_writer_at_a_time),
        cmocka_unit_test(test_links_and_devices_stay),
        cmocka_unit_test(test_failed_write_leaves_whole_pieces),
    };
    return cmocka_run_group_tests(tests, make_directory, remove_directory);
}
