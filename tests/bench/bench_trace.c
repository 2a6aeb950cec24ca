/*
 * Speed and size of the trace on a made-up TPC-B log (tests/unit/tpcb.h), for each way that a
 * client may send it: what the writer takes for a statement and what the reader takes.
 *
 *     bench_trace [STATEMENTS [ROUNDS]]        CPU time, medians of the rounds
 *     bench_trace count SHAPE STATEMENTS       once, for valgrind (tests/bench/trace_counts.sh)
 *
 * The shapes: `text`, whole texts as a log has them; `split`, templates and literals as a replay
 * has them; `extended`, texts with parameters; `prepared`, the same by named statements.
 */
#include "rh_test.h"

#include <time.h>

#include "common/sql_template.h"
#include "tpcb.h"
#include "trace_testing.h"

enum {
    CHUNK = 250, /* stay in the processor's caches, as the records of a capture do */
    STATEMENTS_DEFAULT = 350000,
    ROUNDS_DEFAULT = 5,
    ROUNDS_MAX = 99,
    PARAMS_MAX = 4,
    LITERALS_MAX = 4,
};

enum shape { SHAPE_TEXT, SHAPE_SPLIT, SHAPE_EXTENDED, SHAPE_PREPARED, SHAPES };
static const char *const shape_names[SHAPES] = {"text", "split", "extended", "prepared"};

static const char *const extended_texts[TPCB_STATEMENTS] = {
    "BEGIN;",
    "UPDATE pgbench_accounts SET abalance = abalance + $1 WHERE aid = $2;",
    "SELECT abalance FROM pgbench_accounts WHERE aid = $1;",
    "UPDATE pgbench_tellers SET tbalance = tbalance + $1 WHERE tid = $2;",
    "UPDATE pgbench_branches SET bbalance = bbalance + $1 WHERE bid = $2;",
    ("INSERT INTO pgbench_history (tid, bid, aid, delta, mtime) VALUES ($1, $2, $3, $4, "
     "CURRENT_TIMESTAMP);"),
    "END;",
};
static const char *const statement_names[TPCB_STATEMENTS] = {
    "P_0", "P_1", "P_2", "P_3", "P_4", "P_5", "P_6",
};

struct item {
    struct rh_record record;
    char text[192];
    char tmpl[192];
    struct rh_span literals[LITERALS_MAX];
    struct rh_param params[PARAMS_MAX];
    char numbers[PARAMS_MAX][16];
};

static double cpu_seconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double) t.tv_sec + (double) t.tv_nsec * 1e-9;
}

static void split(struct item *it)
{
    struct rh_buf tmpl;
    static struct rh_literals literals;
    rh_buf_init(&tmpl, sizeof it->tmpl);
    rh_template_split(it->record.text, &tmpl, &literals);
    memcpy(it->tmpl, tmpl.data, tmpl.len);
    memcpy(it->literals, literals.items, literals.count * sizeof *literals.items);
    it->record.tmpl = rh_span(it->tmpl, tmpl.len);
    it->record.text = RH_SPAN_NONE;
    it->record.literals = it->literals;
    it->record.literal_count = literals.count;
    rh_buf_release(&tmpl);
}

static void add_param(struct item *it, int value)
{
    struct rh_record *r = &it->record;
    char *text = it->numbers[r->param_count];
    int n = snprintf(text, sizeof it->numbers[0], "%d", value);
    it->params[r->param_count++] = (struct rh_param){.data = text, .len = (uint32_t) n};
    r->params = it->params;
}

static void extend(struct item *it, const struct tpcb *t, bool named)
{
    struct rh_record *r = &it->record;
    const struct tpcb_session *s = &t->s[r->session - 1];
    unsigned step = (unsigned) ((r->ordinal - 1) % TPCB_STATEMENTS);
    const int second[TPCB_STATEMENTS] = {0, s->aid, 0, s->tid, s->bid, 0, 0};
    int64_t duration = r->outcome.done_ns - r->start_ns;
    r->kind = RH_KIND_EXECUTE;
    r->flags = RH_FLAG_NO_TYPES;
    r->text = rh_span_cstr(extended_texts[step]);
    r->statement_name = named ? rh_span_cstr(statement_names[step]) : RH_SPAN_NONE;
    r->outcome.bind_ns = duration / 9000 * 1000;
    r->outcome.execute_ns = duration - r->outcome.bind_ns;
    if (second[step]) {
        add_param(it, s->delta);
        add_param(it, second[step]);
    } else if (step == 2) {
        add_param(it, s->aid);
    } else if (step == 5) {
        add_param(it, s->tid);
        add_param(it, s->bid);
        add_param(it, s->aid);
        add_param(it, s->delta);
    }
}

static void fill_chunk(struct item *chunk, struct tpcb *t, enum shape shape)
{
    for (int i = 0; i < CHUNK; i++) {
        struct item *it = &chunk[i];
        tpcb_next(t, &it->record);
        memcpy(it->text, t->text, it->record.text.len);
        it->record.text.data = it->text;
        if (shape == SHAPE_SPLIT) {
            split(it);
        } else if (shape != SHAPE_TEXT) {
            extend(it, t, shape == SHAPE_PREPARED);
        }
    }
}

/* What these three do is what is measured; valgrind finds them by name. */
__attribute__((noinline)) static void bench_encode(struct rh_trace_writer *w,
                                                   const struct item *chunk)
{
    struct rh_error err = {0};
    for (int i = 0; i < CHUNK; i++) {
        assert_int_equal(rh_trace_writer_add(w, &chunk[i].record, &err), 0);
    }
}

__attribute__((noinline)) static void bench_finish(struct rh_trace_writer *w)
{
    testing_finish(w);
}

__attribute__((noinline)) static uint64_t bench_decode(struct rh_trace_reader *reader)
{
    struct rh_record r;
    struct rh_error err = {0};
    uint64_t n = 0;
    while (rh_trace_reader_next(reader, &r, &err) == 1) {
        n++;
    }
    return n;
}

static double write_all(const char *path, int n, enum shape shape)
{
    struct item *chunk = rh_calloc(CHUNK, sizeof *chunk);
    struct rh_trace_writer *w = testing_open(path, RH_FILE_WORKLOAD, 0);
    struct tpcb t;
    double seconds = 0;
    tpcb_init(&t, 8, 42);
    for (int done = 0; done < n; done += CHUNK) {
        fill_chunk(chunk, &t, shape);
        double before = cpu_seconds();
        bench_encode(w, chunk);
        seconds += cpu_seconds() - before;
    }
    double before = cpu_seconds();
    bench_finish(w);
    seconds += cpu_seconds() - before;
    rh_free(chunk);
    return seconds;
}

static double read_all(struct rh_trace_file *file, unsigned want)
{
    struct rh_trace_reader *reader;
    struct rh_error err = {0};
    double before = cpu_seconds();
    assert_int_equal(rh_trace_reader_open(&reader, file, INT64_MIN, INT64_MAX, &err), 0);
    rh_trace_reader_want(reader, want);
    assert_int_equal(bench_decode(reader), rh_trace_file_totals(file).records);
    rh_trace_reader_close(reader);
    return cpu_seconds() - before;
}

static int compare_doubles(const void *a, const void *b)
{
    double x = *(const double *) a;
    double y = *(const double *) b;
    return x < y ? -1 : x > y;
}

static double median(double *v, int n)
{
    qsort(v, (size_t) n, sizeof *v, compare_doubles);
    return v[n / 2];
}

static void print_rate(double seconds, double n)
{
    print_message(" %7.0f ns %5.2f M/s", seconds / n * 1e9, n / seconds / 1e6);
}

static void measure(const char *path, enum shape shape, int n, int rounds)
{
    double encoded[ROUNDS_MAX];
    double decoded[ROUNDS_MAX];
    double outcomes[ROUNDS_MAX];
    double bytes = 0;
    for (int i = 0; i < rounds; i++) {
        encoded[i] = write_all(path, n, shape);
        struct rh_trace_file *file = testing_open_file(path);
        bytes = (double) rh_trace_file_bytes(file);
        decoded[i] = read_all(file, RH_WANT_EVERYTHING);
        outcomes[i] = read_all(file, RH_WANT_OUTCOMES);
        rh_trace_file_close(file);
    }
    print_message("%-9s %6.3f ", shape_names[shape], bytes / n);
    print_rate(median(encoded, rounds), n);
    print_rate(median(decoded, rounds), n);
    print_rate(median(outcomes, rounds), n);
    print_message("\n");
}

static int count_once(const char *path, const char *name, int n)
{
    for (int shape = 0; shape < SHAPES; shape++) {
        if (strcmp(name, shape_names[shape]) == 0) {
            write_all(path, n, (enum shape) shape);
            struct rh_trace_file *file = testing_open_file(path);
            read_all(file, RH_WANT_EVERYTHING);
            rh_trace_file_close(file);
            return 0;
        }
    }
    return 2;
}

static int chunks(const char *text)
{
    long n = text ? strtol(text, NULL, 10) : STATEMENTS_DEFAULT;
    return n < CHUNK ? CHUNK : (int) (n / CHUNK * CHUNK);
}

int main(int argc, char **argv)
{
    char *path = testing_path("bench.trace");
    int status = 0;
    if (argc == 4 && strcmp(argv[1], "count") == 0) {
        status = count_once(path, argv[2], chunks(argv[3]));
    } else {
        int rounds = argc > 2 ? (int) strtol(argv[2], NULL, 10) : ROUNDS_DEFAULT;
        rounds = rounds < 1 ? 1 : rounds > ROUNDS_MAX ? ROUNDS_MAX : rounds;
        print_message("%-9s %6s  %20s %20s %20s\n", "shape", "bytes", "encode", "decode",
                      "outcomes only");
        for (int shape = 0; shape < SHAPES; shape++) {
            measure(path, (enum shape) shape, chunks(argc > 1 ? argv[1] : NULL), rounds);
        }
    }
    testing_remove(path);
    return status;
}
