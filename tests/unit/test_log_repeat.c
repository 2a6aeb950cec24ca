/* capture/log_repeat: what is read by comparing is what is read column by column. */
#include "rh_test.h"

#include <stdio.h>

#include "capture/log_repeat.h"
#include "common/alloc.h"
#include "log_maker.h"

enum { ROWS = 12000 };

/* Two readers of the same rows: one may compare, the other never does. */
struct fixture {
    struct rh_log_heads *heads;
    struct rh_log_clock clock;
    struct rh_logmsg_reader messages;
    struct rh_log_heads *plain_heads;
    struct rh_log_clock plain_clock;
    struct rh_logmsg_reader plain_messages;
    uint32_t repeats;
    uint32_t refused;
};

static void fixture_init(struct fixture *f)
{
    *f = (struct fixture){0};
    f->heads = rh_calloc(1, sizeof *f->heads);
    f->plain_heads = rh_calloc(1, sizeof *f->plain_heads);
    rh_log_clock_init(&f->clock);
    rh_log_clock_init(&f->plain_clock);
    rh_logmsg_reader_init(&f->messages);
    rh_logmsg_reader_init(&f->plain_messages);
}

static void fixture_release(struct fixture *f)
{
    rh_free(f->heads);
    rh_free(f->plain_heads);
}

/* 0 if these bytes are no entry. */
static size_t read_columns(char *data, size_t n, struct rh_log_clock *clock,
                           struct rh_logmsg_reader *messages, struct rh_log_heads *heads,
                           struct rh_log_entry *e, uint32_t *lines)
{
    struct rh_csvlog_row row;
    ptrdiff_t used = rh_csvlog_split(data, n, true, &row);
    if (used <= 0 || rh_log_entry_from_csv(e, &row, clock, messages, heads) != RH_CSVLOG_OK) {
        return 0;
    }
    *lines = row.lines;
    return (size_t) used;
}

static void check_span(struct rh_span a, struct rh_span b)
{
    assert_true(rh_span_equal(a, b));
}

static void check_entry(const struct rh_log_entry *a, const struct rh_log_entry *b)
{
    assert_int_equal(a->stamp.local_ns, b->stamp.local_ns);
    assert_int_equal(a->stamp.zone, b->stamp.zone);
    assert_int_equal(a->has_session_start, b->has_session_start);
    if (a->has_session_start) {
        assert_int_equal(a->session_start.local_ns, b->session_start.local_ns);
        assert_int_equal(a->session_start.zone, b->session_start.zone);
    }
    assert_int_equal(a->session_key, b->session_key);
    assert_int_equal(a->session_epoch_s, b->session_epoch_s);
    assert_int_equal(a->pid, b->pid);
    assert_int_equal(a->line, b->line);
    assert_int_equal(a->lxid, b->lxid);
    assert_int_equal(a->idle, b->idle);
    assert_int_equal(a->severity, b->severity);
    assert_int_equal(a->may_cut, b->may_cut);
    check_span(a->user, b->user);
    check_span(a->database, b->database);
    check_span(a->client, b->client);
    check_span(a->tag, b->tag);
    check_span(a->sqlstate, b->sqlstate);
    check_span(a->message, b->message);
    check_span(a->detail, b->detail);
    check_span(a->context, b->context);
    check_span(a->query, b->query);
    check_span(a->application, b->application);
    check_span(a->backend_type, b->backend_type);
}

/* Read the bytes both ways.  They are copied to blocks of just their size, so that the sanitizer
 * sees a byte read behind them. */
static void check_bytes(struct fixture *f, const char *data, size_t n)
{
    struct rh_log_entry fast, plain;
    uint32_t lines = 0, plain_lines = 0;
    char *copy = rh_memdup(data, n), *other = rh_memdup(data, n), *third = rh_memdup(data, n);
    size_t used = rh_log_repeat_read(f->heads, copy, n, &f->clock, &fast, &lines);
    size_t wanted = read_columns(other, n, &f->plain_clock, &f->plain_messages, f->plain_heads,
                                 &plain, &plain_lines);
    if (used > 0) {
        assert_int_equal(used, wanted);
        assert_int_equal(lines, plain_lines);
        check_entry(&fast, &plain);
        f->repeats++;
    } else {
        assert_memory_equal(copy, data, n);
        (void) read_columns(third, n, &f->clock, &f->messages, f->heads, &fast, &lines);
        f->refused += wanted > 0;
    }
    rh_free(copy);
    rh_free(other);
    rh_free(third);
}

static uint32_t pick(uint32_t n)
{
    static uint64_t state = 88172645463325252u;
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return (uint32_t) (state % n);
}

static void add_row(struct rh_log_maker *m)
{
    static const char *const sessions[] = {"6955b900.fa1", "6955b900.fa2", "6955b901.1000f"};
    static const char *const messages[] = {
        "statement: SELECT \"a\".\"b\" FROM \"a\"",
        "statement: select 1",
        "duration: 0.123 ms",
        "statement: select\n  1,\n  'a, b'",
        "",
        "duration: 1.000 ms  execute <unnamed>: select $1",
        "statement: select '\xc3\xa9', E'\\'' -- a long comment, so that several steps are taken",
    };
    static const char *const details[] = {NULL, NULL, NULL, "parameters: $1 = 'it''s \"x\"'",
                                          "parameters: $1 = 'a\nb'"};
    static const char *const applications[] = {"app", "app", "app", "my \"app\"", "", "two\nlines"};
    static const char *const vxids[] = {"3/5", "123/4567890", "3/0"};
    static const char *const tags[] = {"SELECT", "idle", "idle in transaction"};
    static const int columns[] = {26, 26, 26, 24, 23, 22, 27};
    uint32_t session = pick(3);
    char stamp[32];
    snprintf(stamp, sizeof stamp, "00:0%u:%02u.%03u", pick(16) == 0, pick(61), pick(1000));
    LOG(m, .stamp = stamp, .session = sessions[session],
        .pid = session == 2 ? 65551 : 4001 + session, .line = 1 + pick(100000),
        .tag = tags[pick(3)], .vxid = vxids[pick(3)], .message = messages[pick(7)],
        .detail = details[pick(5)], .application = applications[pick(8) == 0 ? pick(6) : session],
        .severity = pick(20) == 0 ? "ERROR" : "LOG", .query = pick(20) == 0 ? "select 2" : NULL,
        .columns = columns[pick(10) == 0 ? pick(7) : 0], .user = pick(30) == 0 ? "\"u\"" : "u");
}

static void test_rows_of_servers(void **state)
{
    (void) state;
    struct fixture f;
    struct rh_log_maker m;
    fixture_init(&f);
    rh_log_maker_init(&m);
    for (int i = 0; i < ROWS; i++) {
        rh_buf_clear(&m.out);
        add_row(&m);
        size_t one = m.out.len;
        add_row(&m); /* what follows must not matter, but for how much it is */
        check_bytes(&f, m.out.data, pick(8) == 0 ? one : m.out.len);
    }
    assert_in_range(f.repeats, ROWS / 8, ROWS);
    assert_int_not_equal(f.refused, 0);
    rh_log_maker_release(&m);
    fixture_release(&f);
}

static void test_damaged_rows(void **state)
{
    (void) state;
    static const char bytes[] = "\",\n\0 -09a/:.LT";
    struct fixture f;
    struct rh_log_maker m;
    fixture_init(&f);
    rh_log_maker_init(&m);
    for (int i = 0; i < ROWS; i++) {
        rh_buf_clear(&m.out);
        add_row(&m);
        if (pick(4) > 0) {
            uint32_t count = 1 + pick(2);
            for (uint32_t j = 0; j < count; j++) {
                m.out.data[pick((uint32_t) m.out.len)] = bytes[pick(sizeof bytes - 1)];
            }
        }
        add_row(&m);
        size_t n = pick(8) == 0 ? pick((uint32_t) m.out.len) : m.out.len;
        check_bytes(&f, m.out.data, n);
    }
    assert_in_range(f.repeats, ROWS / 8, ROWS);
    rh_log_maker_release(&m);
    fixture_release(&f);
}

/* Sessions whose columns have other lengths, more of them than there are places. */
static void test_many_sessions(void **state)
{
    (void) state;
    struct fixture f;
    struct rh_log_maker m;
    fixture_init(&f);
    rh_log_maker_init(&m);
    for (int i = 0; i < ROWS; i++) {
        uint32_t who = pick(2 * RH_LOG_HEADS);
        char session[24], user[16];
        snprintf(session, sizeof session, "6955b900.%x", 1 + who * who);
        snprintf(user, sizeof user, "%.*s", (int) (1 + who % 11), "abcdefghijkl");
        rh_buf_clear(&m.out);
        LOG(&m, .session = session, .pid = 1 + who * who, .user = user,
            .message = "duration: 1.000 ms");
        add_row(&m);
        check_bytes(&f, m.out.data, m.out.len);
    }
    assert_in_range(f.repeats, 1, ROWS);
    rh_log_maker_release(&m);
    fixture_release(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_rows_of_servers),
        cmocka_unit_test(test_damaged_rows),
        cmocka_unit_test(test_many_sessions),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
