/* common/opt, common/nearest */
#include "rh_test.h"

#include <stdlib.h>
#include <unistd.h>

#include "common/clock.h"
#include "common/nearest.h"
#include "common/opt.h"
#include "fd_tap.h"

struct sample {
    bool quiet;
    bool deep;
    const char *host;
    struct rh_str_list users;
    uint32_t jobs;
    double speed;
    uint64_t size_bytes;
    int64_t idle_ns;
    int64_t from_ns;
};

static int read_idle(const char *arg, void *target, struct rh_error *err)
{
    if (!arg) {
        *(int64_t *) target = 7;
        return 0;
    }
    return rh_opt_duration(arg, target, err);
}

#define AT(field) .offset = offsetof(struct sample, field)

static const struct rh_opt sample_options[] = {
    {.group = "Connection options"},
    {"host", 'h', RH_OPT_ARG, "HOST", rh_opt_string, AT(host), "server to talk to", NULL,
     "localhost"},
    {"jobs", 'j', RH_OPT_ARG, "N", rh_opt_count, AT(jobs), "threads", NULL},
    {.name = "quiet",
     .letter = 'q',
     .read = rh_opt_flag,
     AT(quiet),
     .help = "say less, and this text is long enough that it has to be broken into a second line "
             "at a blank",
     .group = "Output options"},
    {.name = "deep", .letter = 'd', .read = rh_opt_flag, AT(deep), .help = "one\ntwo"},
    {"user", 0, RH_OPT_ARG, "USER", rh_opt_list, AT(users), "repeatable", NULL},
    {"speed", 's', RH_OPT_ARG, "X", rh_opt_double, AT(speed), "factor", NULL},
    {"size", 0, RH_OPT_ARG, "SIZE", rh_opt_bytes, AT(size_bytes), "size", NULL},
    {"skip-idle", 'i', RH_OPT_MAYBE_ARG, "DURATION", read_idle, AT(idle_ns), "skip", NULL},
    {"from", 0, RH_OPT_ARG, "TIME", rh_opt_time, AT(from_ns), "begin", NULL},
    {"a-name-that-is-longer-than-the-column", 0, RH_OPT_ARG, "X", rh_opt_double, AT(speed), "long",
     NULL},
    {.name = "hidden-one", .read = rh_opt_flag, AT(deep)},
    {0},
};

static const struct rh_opt_command sample_command = {
    .program = "pgrehearse-sample",
    .synopsis = "[OPTION]... FILE\n--other",
    .summary = "Does something for a test.",
    .options = sample_options,
    .footer = "Examples:\n  pgrehearse-sample x",
    .first_words = "log",
    .operand_words = "*.trace",
};

struct outcome {
    enum rh_opt_result result;
    struct sample options;
    struct rh_str_list operands;
    struct fd_tap out;
    struct fd_tap err;
};

/* words: separated by single blanks, "" for none. */
static void run(struct outcome *o, const char *words)
{
    static char copy[512];
    char *argv[32] = {(char *) "pgrehearse-sample"};
    int argc = 1;
    snprintf(copy, sizeof copy, "%s", words);
    for (char *rest = copy, *word; (word = strsep(&rest, " ")) != NULL;) {
        if (*word) {
            argv[argc++] = word;
        }
    }
    memset(o, 0, sizeof *o);
    fd_tap_open(&o->out, STDOUT_FILENO);
    fd_tap_open(&o->err, STDERR_FILENO);
    o->result = rh_opt_parse(&sample_command, argc, argv, &o->options, &o->operands);
    fd_tap_close(&o->err);
    fd_tap_close(&o->out);
}

static void outcome_release(struct outcome *o)
{
    rh_str_list_release(&o->operands);
    rh_str_list_release(&o->options.users);
}

static void test_values(void **state)
{
    (void) state;
    struct outcome o;
    run(&o, "one --host=db1 -j4 two --user a --user=b -s 0.5 -- --quiet -");
    assert_int_equal(o.result, RH_OPT_RUN);
    assert_string_equal(o.err.text, "");
    assert_string_equal(o.options.host, "db1");
    assert_int_equal(o.options.jobs, 4);
    assert_true(o.options.speed == 0.5);
    assert_int_equal(o.options.users.count, 2);
    assert_string_equal(o.options.users.items[1], "b");
    assert_false(o.options.quiet);
    assert_int_equal(o.operands.count, 4);
    assert_string_equal(o.operands.items[0], "one");
    assert_string_equal(o.operands.items[1], "two");
    assert_string_equal(o.operands.items[2], "--quiet");
    assert_string_equal(o.operands.items[3], "-");
    outcome_release(&o);

    run(&o, "-qdj 3 -h -x --size=64MB --from 2026-01-31Z --host=");
    assert_int_equal(o.result, RH_OPT_RUN);
    assert_true(o.options.quiet && o.options.deep);
    assert_int_equal(o.options.jobs, 3);
    assert_string_equal(o.options.host, "");
    assert_int_equal(o.options.size_bytes, 64 << 20);
    assert_int_equal(o.options.from_ns, rh_civil_to_days(2026, 1, 31) * 86400 * RH_NS_PER_SEC);
    outcome_release(&o);
}

static void test_optional_value(void **state)
{
    (void) state;
    struct outcome o;
    run(&o, "--skip-idle 5s");
    assert_int_equal(o.options.idle_ns, 7);
    assert_int_equal(o.operands.count, 1);
    outcome_release(&o);
    run(&o, "--skip-idle=5s");
    assert_int_equal(o.options.idle_ns, 5 * RH_NS_PER_SEC);
    outcome_release(&o);
    run(&o, "-i250ms");
    assert_int_equal(o.options.idle_ns, 250 * RH_NS_PER_MS);
    outcome_release(&o);
    run(&o, "-qi");
    assert_int_equal(o.options.idle_ns, 7);
    outcome_release(&o);
}

static void check_mistake(const char *words, const char *want)
{
    struct outcome o;
    run(&o, words);
    assert_int_equal(o.result, RH_OPT_EXIT_USAGE);
    assert_string_equal(o.out.text, "");
    char line[512];
    snprintf(line, sizeof line, "pgrehearse-sample: error: %s\n", want);
    assert_string_equal(o.err.text, line);
    outcome_release(&o);
}

static void test_mistakes_are_one_line(void **state)
{
    (void) state;
    check_mistake("--sped 3", "unknown option \"--sped\"; did you mean \"--speed\"?");
    check_mistake("--ueser=x", "unknown option \"--ueser=x\"; did you mean \"--user\"?");
    check_mistake("--skip", "unknown option \"--skip\"; did you mean \"--skip-idle\"?");
    check_mistake("--zzzzzzz", "unknown option \"--zzzzzzz\"; see --help");
    check_mistake("-qZ", "unknown option \"-qZ\"; see --help");
    check_mistake("-Z", "unknown option \"-Z\"; see --help");
    check_mistake("--versoin", "unknown option \"--versoin\"; did you mean \"--version\"?");
    check_mistake("--hidden-on", "unknown option \"--hidden-on\"; see --help");
    check_mistake("--quiet=yes", "option --quiet takes no value");
    check_mistake("--host", "option --host needs a value (HOST)");
    check_mistake("-j", "option --jobs needs a value (N)");
    check_mistake("-j 0", "option --jobs: \"0\" is not a whole number from 1 to 4294967295");
    check_mistake("--speed=-1", "option --speed: \"-1\" is not a number above 0");
    check_mistake("--size 1XB", "option --size: \"1XB\" is not a size such as 10kB, 64MB or 1GB");
}

static void test_known_to_all(void **state)
{
    (void) state;
    struct outcome o;
    run(&o, "--version");
    assert_int_equal(o.result, RH_OPT_EXIT_DONE);
    assert_memory_equal(o.out.text, "pgrehearse-sample (pgrehearse) ", 31);
    run(&o, "-qV");
    assert_int_equal(o.result, RH_OPT_EXIT_DONE);
    run(&o, "-? --no-such");
    assert_int_equal(o.result, RH_OPT_EXIT_DONE);
    assert_non_null(strstr(o.out.text, "Usage:"));
    run(&o, "--completion");
    assert_int_equal(o.result, RH_OPT_EXIT_DONE);
    assert_non_null(strstr(o.out.text, "--host=\t-h\tlocalhost\n"));
    assert_non_null(strstr(o.out.text, "--size=\t-\t\n"));
    assert_non_null(strstr(o.out.text, "--quiet\n"));
    assert_non_null(strstr(o.out.text, "--skip-idle\t-i\t\n"));
    assert_non_null(strstr(o.out.text, "operand\t1\tlog\noperand\t*\t*.trace\n"));
    assert_non_null(strstr(o.out.text, "--help\n"));
    assert_null(strstr(o.out.text, "hidden"));
    assert_null(strstr(o.out.text, "completion"));
}

static void test_help_layout(void **state)
{
    (void) state;
    static const char want[] = "Does something for a test.\n"
                               "\n"
                               "Usage:\n"
                               "  pgrehearse-sample [OPTION]... FILE\n"
                               "  pgrehearse-sample --other\n"
                               "\n"
                               "Connection options:\n"
                               "  -h, --host=HOST             server to talk to\n"
                               "  -j, --jobs=N                threads\n"
                               "\n"
                               "Output options:\n"
                               "  -q, --quiet                 say less, and this text is long "
                               "enough that it has to be broken\n"
                               "                              into a second line at a blank\n"
                               "  -d, --deep                  one\n"
                               "                              two\n"
                               "      --user=USER             repeatable\n"
                               "  -s, --speed=X               factor\n"
                               "      --size=SIZE             size\n"
                               "  -i, --skip-idle[=DURATION]  skip\n"
                               "      --from=TIME             begin\n"
                               "      --a-name-that-is-longer-than-the-column=X\n"
                               "                              long\n"
                               "\n"
                               "Other options:\n"
                               "  -?, --help                  show this help, then exit\n"
                               "  -V, --version               show the version, then exit\n"
                               "\n"
                               "Examples:\n"
                               "  pgrehearse-sample x\n";
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);
    rh_opt_help(&sample_command, out);
    fclose(out);
    assert_string_equal(text, want);
    for (const char *line = text; *line;) {
        size_t len = strcspn(line, "\n");
        assert_true(len <= 95);
        line += len + 1;
    }
    free(text);
}

static const struct rh_opt page_options[] = {
    {.group = "Empty"},
    {.name = "format",
     .letter = 'f',
     .has_arg = RH_OPT_ARG,
     .arg = "FORMAT",
     .help = "of A\\B, not\n.Sh as --mode had it\n[default: a-b]",
     .group = "Output:"},
    {.name = "idle", .has_arg = RH_OPT_MAYBE_ARG, .arg = "No", .help = "last"},
    {.name = "hidden", .group = "Hidden"},
    {0},
};

static void test_page(void **state)
{
    (void) state;
    /* No control line from a text, no macro from a value's name, no heading without options. */
    static const char want[] = ".Ss Output\n"
                               ".Bl -tag -width Ds\n"
                               ".It Fl \\&f , Fl -format Ns = Ns Ar FORMAT\n"
                               "of A\\eB, not\n"
                               "\\&.Sh as \\-\\-mode had it\n"
                               "[default: a-b]\n"
                               ".It Fl -idle Ns Oo = Ns Ar \\&No Oc\n"
                               "last\n"
                               ".El\n"
                               ".Ss Other options\n"
                               ".Bl -tag -width Ds\n"
                               ".It Fl \\&? , Fl -help\n"
                               "show this help, then exit\n"
                               ".It Fl \\&V , Fl -version\n"
                               "show the version, then exit\n"
                               ".El\n";
    const struct rh_opt_command command = {.program = "x", .options = page_options};
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);
    rh_opt_man(&command, out);
    fclose(out);
    assert_string_equal(text, want);
    free(text);
}

static void test_durations_and_sizes(void **state)
{
    (void) state;
    struct rh_error err;
    int64_t ns;
    uint64_t bytes;
    assert_int_equal(rh_opt_duration("1.5ms", &ns, &err), 0);
    assert_int_equal(ns, 1500000);
    assert_int_equal(rh_opt_duration("2 h", &ns, &err), 0);
    assert_int_equal(ns, 7200 * RH_NS_PER_SEC);
    assert_int_equal(rh_opt_duration("5MIN", &ns, &err), 0);
    assert_int_equal(ns, 300 * RH_NS_PER_SEC);
    assert_int_equal(rh_opt_duration("10", &ns, &err), 0);
    assert_int_equal(ns, 10 * RH_NS_PER_SEC);
    static const char *const bad_durations[] = {
        "", "s", "-1s", "1m", "1.2.3s", "1e3", "infs", "nans", "0x10s", "1000000d", ".", "1ss"};
    for (size_t i = 0; i < sizeof bad_durations / sizeof *bad_durations; i++) {
        assert_int_equal(rh_opt_duration(bad_durations[i], &ns, &err), -1);
    }
    assert_int_equal(rh_opt_duration(NULL, &ns, &err), -1);
    assert_int_equal(rh_opt_bytes("1.5GB", &bytes, &err), 0);
    assert_int_equal(bytes, UINT64_C(3) << 29);
    assert_int_equal(rh_opt_bytes("10", &bytes, &err), 0);
    assert_int_equal(bytes, 10);
    assert_int_equal(rh_opt_bytes("2TB", &bytes, &err), 0);
    assert_int_equal(bytes, UINT64_C(1) << 41);
    assert_int_equal(rh_opt_bytes("99999999TB", &bytes, &err), -1);
    assert_int_equal(rh_opt_bytes("-1", &bytes, &err), -1);
}

static void test_counts(void **state)
{
    (void) state;
    struct rh_error err;
    uint32_t n;
    assert_int_equal(rh_opt_count("4294967295", &n, &err), 0);
    assert_int_equal(n, UINT32_MAX);
    static const char *const bad[] = {
        "4294967296", "99999999999999999999", "+1", " 1", "-1", "1 ", "x", ""};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        assert_int_equal(rh_opt_count(bad[i], &n, &err), -1);
        assert_int_equal(rh_opt_number(bad[i], &n, &err), -1);
    }
    assert_int_equal(rh_opt_count("0", &n, &err), -1);
    assert_int_equal(rh_opt_number("0", &n, &err), 0);
    assert_int_equal(n, 0);
    assert_int_equal(rh_opt_number(NULL, &n, &err), -1);
}

static const char *nearest_of(const char *wanted)
{
    static const char *const names[] = {"capture", "replay", "diff", "info", "show", "help"};
    struct rh_nearest n;
    rh_nearest_init(&n, wanted);
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        rh_nearest_offer(&n, names[i]);
    }
    return n.best;
}

static void test_nearest(void **state)
{
    (void) state;
    assert_string_equal(nearest_of("replya"), "replay");
    assert_string_equal(nearest_of("relpay"), "replay");
    assert_string_equal(nearest_of("cap"), "capture");
    assert_string_equal(nearest_of("difff"), "diff");
    assert_string_equal(nearest_of("shw"), "show");
    assert_null(nearest_of("zebra"));
    assert_null(nearest_of(""));
    char longer[200];
    memset(longer, 'a', sizeof longer - 1);
    longer[sizeof longer - 1] = '\0';
    assert_null(nearest_of(longer));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_values),
        cmocka_unit_test(test_optional_value),
        cmocka_unit_test(test_mistakes_are_one_line),
        cmocka_unit_test(test_known_to_all),
        cmocka_unit_test(test_help_layout),
        cmocka_unit_test(test_page),
        cmocka_unit_test(test_durations_and_sizes),
        cmocka_unit_test(test_counts),
        cmocka_unit_test(test_nearest),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
