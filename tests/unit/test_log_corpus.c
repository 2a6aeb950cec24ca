/* Captures of real logs: every csvlog of the corpus, to its end, with the right statements. */
#include "rh_test.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>

#include "capture_probe.h"
#include "common/alloc.h"
#include "driver_statements.h"

static bool have_corpus(void)
{
    DIR *d = opendir(RH_DATA_DIR "/logs/generated");
    if (!d) {
        print_message("SKIPPED: no corpus\n");
        return false;
    }
    closedir(d);
    return true;
}

static void capture(struct rh_probe *p, const char *name)
{
    char path[1024];
    snprintf(path, sizeof path, "%s/logs/%s", RH_DATA_DIR, name);
    const char *paths[] = {path};
    rh_probe_init(p);
    rh_probe_run_files(p, paths, 1);
    if (p->error[0]) {
        fail_msg("%s: %s", name, p->error);
    }
    assert_int_equal(p->counts.records, p->counts.entries + rh_log_reader_bad(&p->counts));
}

static bool begins_as(const struct rh_record *r, const struct rh_driver_statement *want)
{
    size_t n = strlen(want->text);
    if (r->kind != want->kind || r->text.len < n || memcmp(r->text.data, want->text, n) != 0) {
        return false;
    }
    return r->text.len == n || n >= 40;
}

enum log_style {
    LOG_FULL,     /* log_min_duration_statement = 0, with or without log_statement = all */
    LOG_START,    /* log_statement = all alone */
    LOG_TEXTLESS, /* log_statement = all and log_duration */
};

static void fail_at(const char *name, const struct rh_record *r,
                    const struct rh_driver_statement *want)
{
    char state[6];
    fail_msg("%s: statement %u is kind %d %.*s (%s), not %s (%s)", name, (unsigned) r->ordinal,
             r->kind, (int) (r->text.len > 80 ? 80 : r->text.len), r->text.data,
             rh_sqlstate_unpack(r->outcome.sqlstate, state), want->text, want->sqlstate);
}

/* The driver's first session, statement by statement. */
static void check_first_session(const struct rh_probe *p, const char *name, enum log_style style)
{
    uint32_t at = 0;
    for (uint32_t i = 0; i < p->count; i++) {
        const struct rh_record *r = &p->records[i];
        if (r->session != 1 || !rh_kind_has_ordinal(r->kind)) {
            continue;
        }
        if (r->kind == RH_KIND_PROTOCOL) {
            /* The one empty statement of the extended protocol, whose Execute logs nothing. */
            assert_int_equal(r->text.len, 0);
            assert_int_equal(r->hold, RH_REASON_NO_EXECUTION);
            continue;
        }
        assert_true(at < RH_DRIVER_STATEMENTS);
        const struct rh_driver_statement *want = &rh_driver_statements[at++];
        char state[6];
        rh_sqlstate_unpack(r->outcome.sqlstate, state);
        bool call = strncmp(want->text, "CALL", 4) == 0 && strcmp(state, "42601") == 0;
        if (!begins_as(r, want) || (strcmp(state, want->sqlstate) != 0 && !call)) {
            fail_at(name, r, want);
        }
        if (r->param_count != (uint32_t) want->params) {
            /* Only a failure in parse or bind has no parameters logged. */
            assert_int_equal(r->param_count, 0);
            assert_int_equal(r->hold, RH_REASON_NO_PARAMETERS);
            assert_true(r->flags & RH_FLAG_ERROR_ONLY);
        }
        if (style != LOG_START && r->outcome.sqlstate == 0) {
            assert_int_not_equal(r->outcome.done_ns, RH_TIME_UNKNOWN);
        }
    }
    assert_int_equal(at, RH_DRIVER_STATEMENTS);
}

/* Values as the driver sent them, byte by byte. */
static void check_values(const struct rh_probe *p)
{
    static const char *const want[] = {"42", NULL,
                                       "it's \"quoted\",\nnew\tline, $1 = 'x', \\ done..."};
    static const char *const want_named[] = {
        "\\x0001ff", "{1,2,3}", "{\"a\": \"b'c\"}", "2026-01-01 00:00:00+00", "1.5", "t"};
    const struct rh_record *plain = NULL, *named = NULL;
    for (uint32_t i = 0; i < p->count; i++) {
        const struct rh_record *r = &p->records[i];
        if (r->kind == RH_KIND_EXECUTE && r->session == 1) {
            if (!plain) {
                plain = r;
            } else if (!named) {
                named = r;
            }
        }
    }
    assert_non_null(named);
    for (uint32_t i = 0; i < 3; i++) {
        if (want[i]) {
            rh_assert_span(rh_span(plain->params[i].data, plain->params[i].len), want[i]);
        } else {
            assert_null(plain->params[i].data);
        }
    }
    assert_int_equal(plain->hold, 0);
    rh_assert_span(named->statement_name, "named stmt 1");
    for (uint32_t i = 0; i < 6; i++) {
        rh_assert_span(rh_span(named->params[i].data, named->params[i].len), want_named[i]);
    }
}

static void check_sessions(const struct rh_probe *p)
{
    assert_int_equal(p->session_count, 15);
    assert_int_equal(p->stats.logins_failed, 2);
    assert_int_equal(p->stats.probes, 2);
    assert_int_equal(p->stats.left_open, 0);
    assert_int_equal(p->stats.joined_midway, 0);
    assert_int_equal(p->stats.missing_lines, 0);
    assert_int_equal(p->stats.repeated, 0);
    assert_int_equal(p->stats.errors_without_text, 0);
    const struct rh_session *first = &rh_probe_session(p, 1)->session;
    rh_assert_span(first->user, "app user");
    rh_assert_span(first->database, "app db");
    rh_assert_span(first->application, "work app");
    assert_true(first->closed_ns > first->opened_ns);
    bool weird = false;
    for (uint32_t i = 0; i < p->session_count; i++) {
        weird |= rh_span_is(p->sessions[i].session.user, "we,ird \"u\"");
        assert_true(p->sessions[i].ended);
    }
    assert_true(weird);
}

static void check_full_capture(const char *name, enum log_style style)
{
    struct rh_probe p;
    capture(&p, name);
    assert_int_equal(rh_log_reader_bad(&p.counts), 0);
    check_first_session(&p, name, style);
    check_values(&p);
    check_sessions(&p);
    /* One more session, the driver's own clean-up by psql, is in most files. */
    uint64_t statements = rh_capture_stats_statements(&p.stats);
    uint64_t want = RH_DRIVER_STATEMENTS - 2 + RH_DRIVER_OTHERS;
    if (statements != want && statements != want + 1) {
        fail_msg("%s: %u statements, not %u", name, (unsigned) statements, (unsigned) want);
    }
    assert_int_equal(p.stats.kinds[RH_KIND_FETCH], 4);
    assert_int_equal(p.stats.textless, 0);
    assert_int_equal(p.stats.outcome_unknown, 0);
    rh_probe_release(&p);
}

static const char *const releases[] = {"pg10", "pg13", "pg15", "pg16", "pg17", "pg18"};

static void test_all_settings_give_the_same_statements(void **state)
{
    (void) state;
    if (!have_corpus()) {
        return;
    }
    static const struct {
        const char *name;
        enum log_style style;
    } settings[] = {
        {"A_stmt_all", LOG_START},
        {"B_mindur0", LOG_FULL},
        {"C_stmt_all_duration", LOG_TEXTLESS},
        {"D_stmt_all_mindur0", LOG_FULL},
        {"G_mindur0_verbose", LOG_FULL},
    };
    for (size_t v = 0; v < sizeof releases / sizeof releases[0]; v++) {
        for (size_t s = 0; s < sizeof settings / sizeof settings[0]; s++) {
            char name[100];
            snprintf(name, sizeof name, "generated/%s/%s.csv", releases[v], settings[s].name);
            check_full_capture(name, settings[s].style);
        }
    }
}

static void test_every_language_gives_the_same_statements(void **state)
{
    (void) state;
    if (!have_corpus()) {
        return;
    }
    static const char *const languages[] = {"de", "es", "fr", "it", "ja",   "ka",
                                            "ko", "ru", "sv", "uk", "zh_CN"};
    for (size_t i = 0; i < sizeof languages / sizeof languages[0]; i++) {
        char name[100];
        snprintf(name, sizeof name, "generated/pg15_debian/lc_%s.csv", languages[i]);
        check_full_capture(name, LOG_FULL);
    }
    check_full_capture("generated/pg15_debian/lc_fr_stmt.csv", LOG_START);
    check_full_capture("generated/pg15_debian/autoexplain_text.csv", LOG_FULL);
    check_full_capture("generated/pg15_debian/autoexplain_json.csv", LOG_FULL);
}

/* Errors alone are logged in these; each is one of the driver's. */
static void test_settings_that_log_less(void **state)
{
    (void) state;
    if (!have_corpus()) {
        return;
    }
    static const struct {
        const char *name;
        uint64_t statements; /* 0: by chance */
        uint64_t textless;
    } rows[] = {
        {"E_duration_only", 25, 146}, {"H_none_default", 25, 0}, {"I_mod_terse", 39, 0},
        {"J_sample", 0, 0},           {"K_xactsample", 0, 0},    {"F_paramlen", 0, 0},
    };
    for (size_t v = 0; v < sizeof releases / sizeof releases[0]; v++) {
        for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
            char name[100];
            struct rh_probe p;
            if (v == 0 && i > 2) {
                continue; /* settings of 13 */
            }
            snprintf(name, sizeof name, "generated/%s/%s.csv", releases[v], rows[i].name);
            capture(&p, name);
            assert_int_equal(rh_log_reader_bad(&p.counts), 0);
            assert_int_equal(p.stats.failed, 25);
            if (rows[i].statements > 0) {
                assert_int_equal(rh_capture_stats_statements(&p.stats), rows[i].statements);
            }
            assert_int_equal(p.stats.textless, rows[i].textless);
            assert_int_equal(p.stats.missing_lines, 0);
            rh_probe_release(&p);
        }
    }
}

/* log_parameter_max_length = 10: what is longer is marked, what is not is whole. */
static void test_cut_parameters(void **state)
{
    (void) state;
    if (!have_corpus()) {
        return;
    }
    for (size_t v = 1; v < sizeof releases / sizeof releases[0]; v++) {
        char name[100];
        struct rh_probe p;
        uint32_t cut = 0;
        snprintf(name, sizeof name, "generated/%s/F_paramlen.csv", releases[v]);
        capture(&p, name);
        check_first_session(&p, name, LOG_FULL);
        for (uint32_t i = 0; i < p.count; i++) {
            const struct rh_record *r = &p.records[i];
            bool dotted = false;
            for (uint32_t k = 0; k < r->param_count; k++) {
                const struct rh_param *item = &r->params[k];
                dotted |= item->data && item->len >= 3 &&
                          memcmp(item->data + item->len - 3, "...", 3) == 0;
                assert_true(item->len <= 16 + 3 || r->flags & RH_FLAG_ERROR_ONLY);
            }
            if (r->kind == RH_KIND_EXECUTE) {
                assert_int_equal(dotted, r->hold == RH_REASON_CUT_PARAMETER);
                cut += dotted;
            }
        }
        /* A text, a row with two, one of 9,000 bytes, one of 70, and one in an error's context. */
        assert_int_equal(cut, 5);
        rh_probe_release(&p);
    }
}

/* What sampling left is a part of the workload, never more. */
static void test_sampling_counts_no_execution_twice(void **state)
{
    (void) state;
    if (!have_corpus()) {
        return;
    }
    for (size_t v = 1; v < sizeof releases / sizeof releases[0]; v++) {
        char name[100];
        struct rh_probe p;
        snprintf(name, sizeof name, "generated/%s/J_sample.csv", releases[v]);
        capture(&p, name);
        /* Each statement of the first session is the next or a later one of the driver's list. */
        uint32_t at = 0;
        for (uint32_t i = 0; i < p.count; i++) {
            const struct rh_record *r = &p.records[i];
            if (r->session != 1 || !rh_kind_has_ordinal(r->kind)) {
                continue;
            }
            if (r->kind == RH_KIND_PROTOCOL) {
                assert_true(r->hold == RH_REASON_NO_EXECUTION || r->statement_name.len > 0);
                continue;
            }
            while (at < RH_DRIVER_STATEMENTS && !begins_as(r, &rh_driver_statements[at])) {
                at++;
            }
            if (at == RH_DRIVER_STATEMENTS) {
                fail_msg("%s: statement %u is none of the driver's, or comes twice: %.*s", name,
                         (unsigned) r->ordinal, (int) r->text.len, r->text.data);
            }
            at++;
        }
        rh_probe_release(&p);
    }
}

static void test_pgaudit_alone(void **state)
{
    (void) state;
    if (!have_corpus()) {
        return;
    }
    struct rh_probe p;
    capture(&p, "generated/pg15_debian/pgaudit.csv");
    assert_int_equal(p.stats.audits, 165);
    assert_int_equal(rh_capture_stats_statements(&p.stats), p.stats.failed);
    rh_probe_release(&p);
}

static int by_name_backwards(const void *a, const void *b)
{
    return -strcmp(*(char *const *) a, *(char *const *) b);
}

static void test_rotated_files_are_one_log(void **state)
{
    (void) state;
    if (!have_corpus()) {
        return;
    }
    static const char folder[] = RH_DATA_DIR "/logs/generated/pg15_debian/rotation";
    char *paths[32];
    uint32_t count = 0;
    DIR *d = opendir(folder);
    assert_non_null(d);
    for (struct dirent *e; (e = readdir(d));) {
        if (strstr(e->d_name, ".csv") && count < 32) {
            size_t n = sizeof folder + strlen(e->d_name) + 2;
            paths[count] = rh_malloc(n);
            snprintf(paths[count++], n, "%s/%s", folder, e->d_name);
        }
    }
    closedir(d);
    assert_int_equal(count, 7);
    /* The newest first: the order given does not matter. */
    qsort(paths, count, sizeof *paths, by_name_backwards);
    struct rh_probe p;
    rh_probe_init(&p);
    rh_probe_run_files(&p, (const char *const *) paths, count);
    assert_string_equal(p.error, "");
    assert_int_equal(rh_log_reader_bad(&p.counts), 0);
    assert_int_equal(p.stats.repeated, 0);
    check_first_session(&p, "rotation", LOG_FULL);
    check_values(&p);
    rh_probe_release(&p);
    for (uint32_t i = 0; i < count; i++) {
        rh_free(paths[i]);
    }
}

/* csvlogs of other projects: how many records, bad ones, statements and sessions. */
static void test_logs_of_others(void **state)
{
    (void) state;
    if (!have_corpus()) {
        return;
    }
    static const char beats[] = "elastic_beats/filebeat/module/postgresql/log/test";
    static const char badger[] = "darold_pgbadger/t/fixtures";
    static const struct {
        const char *folder, *name;
        uint64_t records, bad, statements, failed;
    } rows[] = {
        {"laurenz_pgreplay/test", "csvlog", 53, 0, 28, 2},
        {badger, "csv_statement_without_duration.log", 2, 0, 2, 0},
        {badger, "anonymize.log", 8, 0, 5, 0},
        {badger, "weeknumber.log", 6, 0, 6, 0},
        {beats, "postgresql-11-autovacuum.csv.log", 1, 0, 0, 0},
        {beats, "postgresql-11-connection-disconnection.csv.log", 20, 0, 7, 0},
        {beats, "postgresql-11-duration.csv.log", 3, 0, 2, 0},
        {beats, "postgresql-11-ipv6.csv.log", 1, 0, 0, 0},
        {beats, "postgresql-11-multi-line.csv.log", 1, 0, 1, 0},
        {beats, "postgresql-11-parse-bind.csv.log", 3, 0, 1, 0},
        {beats, "postgresql-11-start-stop.csv.log", 13, 0, 1, 0},
        {beats, "postgresql-11-tempfile.csv.log", 5, 0, 2, 0},
        {beats, "postgresql-13-error-code.csv.log", 4, 0, 2, 0},
        {beats, "postgresql-13.csv.log", 25, 0, 11, 0},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        char name[300];
        struct rh_probe p;
        snprintf(name, sizeof name, "%s/%s", rows[i].folder, rows[i].name);
        capture(&p, name);
        uint64_t bad = rh_log_reader_bad(&p.counts);
        uint64_t statements = rh_capture_stats_statements(&p.stats);
        if (p.counts.records != rows[i].records || bad != rows[i].bad ||
            statements != rows[i].statements || p.stats.failed != rows[i].failed) {
            fail_msg("%s: %u records, %u bad, %u statements, %u failed", rows[i].name,
                     (unsigned) p.counts.records, (unsigned) bad, (unsigned) statements,
                     (unsigned) p.stats.failed);
        }
        rh_probe_release(&p);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_all_settings_give_the_same_statements),
        cmocka_unit_test(test_every_language_gives_the_same_statements),
        cmocka_unit_test(test_settings_that_log_less),
        cmocka_unit_test(test_cut_parameters),
        cmocka_unit_test(test_sampling_counts_no_execution_twice),
        cmocka_unit_test(test_pgaudit_alone),
        cmocka_unit_test(test_rotated_files_are_one_log),
        cmocka_unit_test(test_logs_of_others),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
