/*
 * Speed and size of the trace on a made-up TPC-B log (tests/unit/tpcb.h): what the writer takes for
 * a statement, template split included, and what the reader takes.  CPU time of this process; take
 * the best of several runs.
 *
 *     bench_trace [STATEMENTS [WINDOW]]
 */
#include "rh_test.h"

#include <time.h>

#include "tpcb.h"
#include "trace_testing.h"

enum { CHUNK = 2000, STATEMENTS_DEFAULT = 700000, READS = 2 };

struct chunk {
    struct rh_record records[CHUNK];
    char texts[CHUNK][256];
};

static double cpu_seconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double) t.tv_sec + (double) t.tv_nsec * 1e-9;
}

static void fill_chunk(struct chunk *c, struct tpcb *t)
{
    for (int i = 0; i < CHUNK; i++) {
        tpcb_next(t, &c->records[i]);
        memcpy(c->texts[i], t->text, sizeof t->text);
        c->records[i].text.data = c->texts[i];
    }
}

static double write_all(const char *path, int n, uint32_t window)
{
    struct chunk *c = rh_malloc(sizeof *c);
    struct rh_trace_writer *w = testing_open(path, RH_FILE_WORKLOAD, window);
    struct tpcb t;
    double seconds = 0;
    tpcb_init(&t, 8, 42);
    for (int done = 0; done < n; done += CHUNK) {
        fill_chunk(c, &t);
        double before = cpu_seconds();
        for (int i = 0; i < CHUNK; i++) {
            testing_add(w, &c->records[i]);
        }
        seconds += cpu_seconds() - before;
    }
    double before = cpu_seconds();
    testing_finish(w);
    rh_free(c);
    return seconds + cpu_seconds() - before;
}

static double read_all(struct rh_trace_file *file, uint64_t *count)
{
    struct rh_trace_reader *reader;
    struct rh_record r;
    struct rh_error err = {0};
    double before = cpu_seconds();
    *count = 0;
    assert_int_equal(rh_trace_reader_open(&reader, file, INT64_MIN, INT64_MAX, &err), 0);
    while (rh_trace_reader_next(reader, &r, &err) == 1) {
        (*count)++;
    }
    rh_trace_reader_close(reader);
    return cpu_seconds() - before;
}

static void print_rate(const char *what, double seconds, double n)
{
    print_message("%-6s %7.0f ns a statement, %6.2f million a second\n", what, seconds / n * 1e9,
                  n / seconds / 1e6);
}

int main(int argc, char **argv)
{
    char *path = testing_path("bench.trace");
    int wanted = argc > 1 ? (int) strtol(argv[1], NULL, 10) : STATEMENTS_DEFAULT;
    int n = (wanted + CHUNK - 1) / CHUNK * CHUNK;
    double seconds = write_all(path, n, argc > 2 ? (uint32_t) strtoul(argv[2], NULL, 10) : 0);
    struct rh_trace_file *file = testing_open_file(path);
    print_message("%d statements, %.3f bytes a statement, %u blocks\n", n,
                  (double) rh_trace_file_bytes(file) / n, rh_trace_file_block_count(file));
    print_rate("write", seconds, n);
    for (int i = 0; i < READS; i++) {
        uint64_t count;
        seconds = read_all(file, &count);
        print_rate("read", seconds, (double) count);
    }
    rh_trace_file_close(file);
    testing_remove(path);
    return 0;
}
