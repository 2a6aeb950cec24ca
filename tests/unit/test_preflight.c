#include "rh_test.h"

#include <stdlib.h>
#include <string.h>

#include "common/clock.h"
#include "replay/dry_run.h"
#include "replay/finding.h"
#include "replay/identity.h"
#include "replay/inquiry.h"
#include "replay/preflight.h"

#define S RH_NS_PER_SEC

static void test_findings(void **state)
{
    (void) state;
    struct rh_findings f;
    struct rh_buf out;
    rh_findings_init(&f);
    rh_buf_init(&out, 10000);
    rh_findings_add(&f, RH_GRADE_NOTE, "first", "a \"%s\"", "no\nte\x7f");
    rh_findings_add(&f, RH_GRADE_STOP, "second", "b");
    rh_findings_advise(&f, "do %d", 7);
    rh_findings_note_loss(&f, 3, 0);
    rh_findings_add(&f, RH_GRADE_WARNING, "third", "c");
    rh_findings_add(&f, RH_GRADE_STOP, "fourth", "d");
    assert_int_equal(f.graded[RH_GRADE_STOP], 2);
    assert_int_equal(f.graded[RH_GRADE_WARNING], 1);
    assert_int_equal(f.graded[RH_GRADE_NOTE], 1);
    rh_findings_sort(&f);
    rh_findings_print(&f, &out);
    assert_string_equal(rh_buf_cstr(&out), "stop         b; do 7\n"
                                           "stop         d\n"
                                           "warning      c\n"
                                           "note         a \"no?te?\"\n");
    rh_findings_add(&f, RH_GRADE_NOTE, "fifth", "e"); /* after a sort too */
    assert_int_equal(f.count, 5);

    struct rh_json j;
    rh_buf_clear(&out);
    rh_json_init(&j, &out, false);
    rh_findings_print_json(&f, &j);
    const char *wanted = "[{\"grade\":\"stop\",\"name\":\"second\",\"text\":\"b\",\"advice\":\"do "
                         "7\",\"sessions\":3,\"statements\":0},{\"grade\":\"stop\",\"name\":"
                         "\"fourth\",\"text\":\"d\",\"advice\":null,\"sessions\":null,"
                         "\"statements\":null}";
    assert_memory_equal(rh_buf_cstr(&out), wanted, strlen(wanted));
    rh_buf_release(&out);
    rh_findings_release(&f);
}

static void test_long_finding(void **state)
{
    (void) state;
    struct rh_findings f;
    char *text = malloc(5001);
    memset(text, 'x', 5000);
    text[5000] = '\0';
    rh_findings_init(&f);
    rh_findings_add(&f, RH_GRADE_NOTE, "long", "%s", text);
    assert_int_equal(f.items[0].text.len, 999);
    rh_findings_release(&f);
    free(text);
}

static void test_values(void **state)
{
    (void) state;
    assert_int_equal(rh_inquiry_int(rh_span_cstr("0")), 0);
    assert_int_equal(rh_inquiry_int(rh_span_cstr("700")), 700);
    assert_int_equal(rh_inquiry_int(rh_span_cstr("-1")), -1);
    assert_int_equal(rh_inquiry_int(rh_span_cstr("xxxxxxxx")), -1);
    assert_int_equal(rh_inquiry_int(rh_span_cstr("")), -1);
    assert_int_equal(rh_inquiry_int(RH_SPAN_NONE), -1);
    assert_int_equal(rh_inquiry_int(rh_span_cstr("9999999999999999999")), -1);
    assert_true(rh_inquiry_bool(rh_span_cstr("t")));
    assert_false(rh_inquiry_bool(rh_span_cstr("true")));
    assert_false(rh_inquiry_bool(RH_SPAN_NONE));

    struct rh_buf sql;
    rh_buf_init(&sql, 1000);
    const struct rh_span names[] = {RH_SPAN_LITERAL("a'b\\"), RH_SPAN_LITERAL("c")};
    rh_inquiry_add_list(&sql, names, 2);
    assert_string_equal(rh_buf_cstr(&sql), "( E'a''b\\\\', E'c')");
    rh_buf_clear(&sql);
    rh_inquiry_add_list(&sql, names, 0);
    assert_string_equal(rh_buf_cstr(&sql), "(NULL)");
    rh_buf_release(&sql);
}

/* A plan of sessions that open and close at these seconds. */
struct made {
    struct rh_plan plan;
    struct rh_session sessions[8];
    struct rh_plan_session planned[8];
    uint32_t by_close[8];
};

static void add_session(struct made *m, const char *user, const char *database, int open_s,
                        int close_s)
{
    uint32_t i = m->plan.session_count++;
    m->sessions[i] = (struct rh_session){
        .number = i + 1, .user = rh_span_cstr(user), .database = rh_span_cstr(database)};
    m->planned[i] = (struct rh_plan_session){
        .session = &m->sessions[i], .open_ns = open_s * S, .close_ns = close_s * S};
    m->plan.sessions = m->planned;
    m->plan.openable_count++;
    /* In order of closing. */
    uint32_t at = m->plan.close_count++;
    for (; at > 0 && m->planned[m->by_close[at - 1]].close_ns > close_s * S; at--) {
        m->by_close[at] = m->by_close[at - 1];
    }
    m->by_close[at] = i;
    m->plan.by_close = m->by_close;
}

static void test_identities(void **state)
{
    (void) state;
    struct made m = {0};
    struct rh_replay_options options;
    struct rh_identities ids;
    add_session(&m, "a", "x", 0, 10);
    add_session(&m, "b", "x", 1, 3);
    add_session(&m, "a", "y", 2, 9);
    add_session(&m, "b", "x", 4, 5);
    add_session(&m, "c", "x", 6, 8);
    m.planned[4].unsent = RH_REASON_REPLICATION;
    rh_replay_options_init(&options);
    const char *map[] = {"b=a"};
    options.map_users = (struct rh_str_list){map, 1, 1};

    rh_identities_init(&ids, &m.plan, &options);
    assert_int_equal(ids.count, 3); /* a in x, b in x, a in y */
    assert_int_equal(ids.leader_count, 2);
    assert_int_equal(ids.leaders[0], 0); /* a in x, for b too */
    assert_int_equal(ids.items[0].all_sessions, 3);
    assert_int_equal(ids.items[1].leader, 0);
    assert_int_equal(ids.items[1].sessions, 2);
    rh_assert_span(ids.items[1].user, "a");
    rh_assert_span(ids.items[1].captured_user, "b");
    assert_int_equal(ids.of_session[4], UINT32_MAX);
    assert_int_equal(rh_identities_peak(&ids, &m.plan, rh_span_cstr("a"), RH_SPAN_NONE), 3);
    assert_int_equal(rh_identities_peak(&ids, &m.plan, RH_SPAN_NONE, rh_span_cstr("x")), 2);
    assert_int_equal(rh_identities_peak(&ids, &m.plan, RH_SPAN_NONE, rh_span_cstr("y")), 1);
    assert_int_equal(rh_identities_peak(&ids, &m.plan, rh_span_cstr("b"), RH_SPAN_NONE), 0);
    rh_identities_release(&ids);
    options.map_users = (struct rh_str_list){0};
    rh_replay_options_release(&options);
}

static void test_what_is_moved(void **state)
{
    (void) state;
    struct rh_findings f;
    struct rh_preflight p;
    struct rh_preflight_role roles[] = {{.is_superuser = true}, {.is_superuser = false}};
    struct rh_identity items[16];
    char users[10][8];
    struct rh_identities ids = {.items = items};
    for (uint32_t i = 0; i < 10; i++) { /* each in a database of its name */
        snprintf(users[i], sizeof users[i], "u%u", i);
        struct rh_span name = rh_span_cstr(users[i]);
        items[ids.count++] = (struct rh_identity){.captured_user = name,
                                                  .captured_database = name,
                                                  .user = RH_SPAN_LITERAL("root"),
                                                  .database = RH_SPAN_LITERAL("shop")};
    }
    items[ids.count++] = items[0]; /* no name twice */
    items[ids.count] = items[0];   /* as it was */
    items[ids.count].captured_user = RH_SPAN_LITERAL("root");
    items[ids.count].captured_database = RH_SPAN_LITERAL("shop");
    ids.count++;
    items[ids.count] = items[0];
    items[ids.count].captured_user = items[ids.count].captured_database = RH_SPAN_NONE;
    ids.count++;
    items[ids.count++] = (struct rh_identity){.captured_user = RH_SPAN_LITERAL("u0"),
                                              .captured_database = RH_SPAN_LITERAL("x"),
                                              .user = RH_SPAN_LITERAL("plain"),
                                              .database = RH_SPAN_LITERAL("y")};
    rh_findings_init(&f);
    rh_preflight_init(&p);
    p.ids = &ids;
    p.findings = &f;
    p.roles_known = true;
    p.roles = roles;
    rh_intern_put(&p.role_names, RH_SPAN_LITERAL("root"), NULL);
    rh_intern_put(&p.role_names, RH_SPAN_LITERAL("plain"), NULL);
    rh_preflight_superusers(&p);
    rh_preflight_merged(&p);
    assert_int_equal(f.count, 2);
    assert_int_equal(f.graded[RH_GRADE_WARNING], 2);
    rh_assert_span(f.items[0].text,
                   "sessions of \"u0\", \"u1\", \"u2\", \"u3\", \"u4\", \"u5\", \"u6\", "
                   "\"u7\" and 2 more connect as superuser \"root\": permissions and row "
                   "security do not hold for them");
    assert_string_equal(f.items[1].name, "databases-merged");
    rh_assert_span(f.items[1].text,
                   "11 databases of the trace become one, \"shop\": \"u0\", \"u1\", \"u2\", "
                   "\"u3\", \"u4\", \"u5\", \"u6\", \"u7\" and 3 more");
    p.roles = NULL;
    rh_preflight_release(&p);
    rh_findings_release(&f);
}

static struct rh_identity failed(const char *user, const char *state, const char *why,
                                 uint64_t sessions, uint64_t statements, uint32_t place)
{
    struct rh_identity id = {
        .user = rh_span_cstr(user),
        .database = RH_SPAN_LITERAL("db"),
        .sessions = sessions,
        .statements = statements,
        .leader = place,
        .login = state ? RH_LOGIN_FAILED : RH_LOGIN_DONE,
        .why = (char *) why,
    };
    if (state) {
        memcpy(id.sqlstate, state, strlen(state) + 1);
    }
    return id;
}

static void judge(struct rh_findings *f, struct rh_identity *items, uint32_t count,
                  bool roles_known)
{
    uint32_t leaders[8];
    struct rh_preflight_role roles[] = {{.can_login = true}, {.can_login = false}};
    struct rh_preflight p;
    for (uint32_t i = 0; i < count; i++) {
        leaders[i] = i;
    }
    struct rh_identities ids = {
        .items = items, .count = count, .leaders = leaders, .leader_count = count};
    rh_preflight_init(&p);
    rh_findings_init(f);
    p.ids = &ids;
    p.findings = f;
    p.roles_known = roles_known;
    p.roles = roles;
    rh_intern_put(&p.role_names, RH_SPAN_LITERAL("known"), NULL);
    rh_intern_put(&p.role_names, RH_SPAN_LITERAL("group"), NULL);
    rh_preflight_judge_logins(&p);
    p.roles = NULL;
    rh_preflight_release(&p);
}

static void test_refusals(void **state)
{
    (void) state;
    struct rh_findings f;
    struct rh_identity items[] = {
        failed("fine", NULL, NULL, 10, 10000, 0),
        failed("absent", "28P01", "x", 1, 20, 1),
        failed("known", "28P01", "x", 1, 5, 2),
        failed("group", "28000", "x", 1, 5, 3),
        failed("known", "28000", "x", 1, 5, 4),
        failed("known", "", "fe_sendauth: no password supplied", 1, 5, 5),
        failed("u", "", "timeout", 1, 5, 6),
        failed("v", "", "timeout", 2, 6, 7),
    };
    judge(&f, items, 8, true);
    const char *names[] = {"role-missing",   "password-wrong",   "role-without-login",
                           "access-refused", "password-missing", "login-failed"};
    assert_int_equal(f.count, 6);
    for (uint32_t i = 0; i < f.count; i++) {
        assert_string_equal(f.items[i].name, names[i]);
        assert_int_equal(f.items[i].grade, RH_GRADE_WARNING); /* 51 of 10,051 */
    }
    rh_assert_span(f.items[5].text, "cannot log in: \"u\" in \"db\", \"v\" in \"db\" (timeout); 3 "
                                    "sessions with 11 statements would be lost");
    assert_int_equal(f.items[5].sessions, 3);
    assert_int_equal(f.items[5].statements, 11);
    rh_findings_release(&f);

    items[1].statements = 80; /* 111 of 10,111 */
    judge(&f, items, 8, true);
    assert_int_equal(f.graded[RH_GRADE_STOP], f.count);
    rh_findings_release(&f);

    /* Nothing could be asked: the server's own words. */
    items[4].leader = 0;
    judge(&f, &items[4], 1, false);
    assert_string_equal(f.items[0].name, "login-failed");
    assert_int_equal(f.items[0].grade, RH_GRADE_STOP);
    rh_findings_release(&f);
}

static void test_dry_run(void **state)
{
    (void) state;
    struct made m = {0};
    struct rh_findings f;
    struct rh_replay_options options;
    struct rh_buf out;
    add_session(&m, "a", "x", 1000, 1010);
    m.plan.peak_count = 1;
    m.plan.login_failed_count = 2;
    rh_time_map_init(&m.plan.map, 1000 * S, 4);
    m.plan.end_ns = 1010 * S;
    rh_findings_init(&f);
    rh_findings_add(&f, RH_GRADE_STOP, "x", "bad");
    rh_replay_options_init(&options);
    options.speed.factor = 4;
    rh_buf_init(&out, 100000);
    struct rh_preview preview = {.statements = 5};
    preview.held[RH_REASON_CUT_TEXT] = 2;
    struct rh_target target = {.version = "17.2",
                               .address = "192.0.2.7:5432",
                               .round_trip_ns = 54321,
                               .max_connections = -1};
    struct rh_trace_header header = {.server_version = RH_SPAN_LITERAL("15.18")};
    const struct rh_identity asker = {.user = RH_SPAN_LITERAL("a"), .sight = RH_SIGHT_SUPERUSER};
    const struct rh_identity other = {.user = RH_SPAN_LITERAL("b"),
                                      .database = RH_SPAN_LITERAL("y")};
    const struct rh_identity *databases[] = {&asker, &other};
    struct rh_dry_run d = {.trace_path = "t.trace",
                           .trace = &header,
                           .plan = &m.plan,
                           .options = &options,
                           .target = &target,
                           .asker = &asker,
                           .database_askers = databases,
                           .database_count = 2,
                           .preview = &preview,
                           .findings = &f};
    rh_dry_run_write_text(&d, &out);
    assert_string_equal(rh_buf_cstr(&out),
                        "target       192.0.2.7:5432, PostgreSQL 17.2, empty round trip 54.3 us\n"
                        "asked as     \"a\" (superuser)\n"
                        "             \"b\" (sees its own) in database \"y\"\n"
                        "sessions     1, at most 1 at once\n"
                        "             2 logins failed in production, would not be repeated\n"
                        "statements   5 would be sent\n"
                        "not replayed         2  the text is cut\n"
                        "span         10.0 s from 1970-01-01T00:16:40.000000Z\n"
                        "takes        2.5 s at speed 4\n"
                        "stop         bad\n"
                        "result       1 stop, 0 warnings, 0 notes: a replay would be refused\n");
    /* Nobody was let in, and nothing was read. */
    d.target = NULL;
    d.asker = NULL;
    d.database_count = 0;
    d.preview = NULL;
    rh_buf_clear(&out);
    rh_dry_run_write_json(&d, &out);
    assert_non_null(strstr(rh_buf_cstr(&out), "\"target\": null"));
    assert_non_null(strstr(rh_buf_cstr(&out), "\"asked_as\": []"));
    assert_non_null(strstr(rh_buf_cstr(&out), "\"statements\": null"));
    assert_non_null(strstr(rh_buf_cstr(&out), "\"planned_s\": 2.500000"));
    assert_non_null(strstr(rh_buf_cstr(&out), "\"stops\": 1"));
    rh_buf_release(&out);
    rh_findings_release(&f);
    rh_time_map_release(&m.plan.map);
    rh_replay_options_release(&options);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_findings),      cmocka_unit_test(test_long_finding),
        cmocka_unit_test(test_values),        cmocka_unit_test(test_identities),
        cmocka_unit_test(test_refusals),      cmocka_unit_test(test_dry_run),
        cmocka_unit_test(test_what_is_moved),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
