/*
 * However the stream is cut in pieces the records are the same; whatever is missing of it is
 * marked, and no statement is made up.
 */
#include "rh_test.h"

#include <stdio.h>
#include <string.h>

#include "common/alloc.h"
#include "wire_script.h"

static uint64_t seed = 20260301;

static uint32_t chance(uint32_t below)
{
    seed = seed * UINT64_C(6364136223846793005) + 1442695040888963407U;
    return (uint32_t) (seed >> 33) % below;
}

/* One transaction of everything, with values that tell each statement from all others. */
static void add_round(struct rh_script *s, int round)
{
    char sql[100];
    char param[20];
    snprintf(param, sizeof param, "v%i", round);
    snprintf(sql, sizeof sql, "select %i from a where b = 'Q'", round);
    c_q(s, sql);
    s_list(s, "T");
    s_rows(s, 1 + (int) chance(20));
    s_c(s, "SELECT 1");
    s_z(s, 'I');
    snprintf(sql, sizeof sql, "update %i set a = $1", round);
    c_p(s, "", sql);
    c_b(s, "", "", param);
    c_d(s, 'P', "");
    c_e(s, "", 0);
    c_s(s);
    s_list(s, "12n");
    s_c(s, "UPDATE 1");
    s_z(s, 'I');
    snprintf(sql, sizeof sql, "S_%i", round % 3);
    if (round >= 3) {
        c_c(s, 'S', sql);
        c_s(s);
        s_list(s, "3");
        s_z(s, 'I');
    }
    char prepared[100];
    snprintf(prepared, sizeof prepared, "insert %i $1", round);
    c_p(s, sql, prepared);
    c_d(s, 'S', sql);
    c_s(s);
    s_list(s, "1tn");
    s_z(s, 'I');
    for (int i = 0; i < 2; i++) {
        c_b(s, "", sql, i ? "first" : param);
        c_e(s, "", 0);
        c_b(s, "", sql, i ? "second" : "third");
        c_e(s, "", 0);
        c_s(s);
        s_list(s, "2");
        if (round % 4 == 1 && i == 1) {
            s_e(s, "ERROR", "23505");
        } else {
            s_c(s, "INSERT 0 1");
            s_list(s, "2");
            s_c(s, "INSERT 0 1");
        }
        s_z(s, 'I');
    }
    c_q(s, "copy t from stdin");
    s_copy(s, 'G');
    c_copy(s, "Q\t1\n");
    c_copy(s, "S\t2\n");
    c_copy_done(s);
    s_c(s, "COPY 2");
    s_z(s, 'I');
}

static void make_conversation(struct rh_script *s)
{
    c_startup(s, 196608, "joe");
    s_login(s, 77, "key!", 4);
    for (int round = 0; round < 12; round++) {
        add_round(s, round);
    }
    c_x(s);
}

static char *play(struct rh_script *s, size_t piece, const struct rh_script_hole *hole)
{
    rh_script_play(s, piece, hole);
    return rh_memdup(rh_buf_cstr(&s->out), s->out.len);
}

static void test_pieces_make_no_difference(void **state)
{
    (void) state;
    static const size_t pieces[] = {1, 2, 3, 5, 7, 11, 64};
    struct rh_script s;
    rh_script_init(&s);
    make_conversation(&s);
    char *whole = play(&s, 0, NULL);
    for (size_t i = 0; i < sizeof pieces / sizeof pieces[0]; i++) {
        rh_script_play(&s, pieces[i], NULL);
        assert_string_equal(rh_buf_cstr(&s.out), whole);
        assert_int_equal(s.counts.anomalies, 0);
    }
    rh_free(whole);
    rh_script_release(&s);
}

/* A line's statement, "query |text|...", its end at " -> "; NULL for other lines. */
static const char *statement_of(const char *line, size_t *len)
{
    const char *kind = strchr(line, ' ');
    const char *end = strstr(line, " -> ");
    const char *newline = strchr(line, '\n');
    if (!kind || !end || !newline || end > newline ||
        (strncmp(kind, " query", 6) != 0 && strncmp(kind, " execute", 8) != 0)) {
        return NULL;
    }
    *len = (size_t) (end - kind);
    return kind;
}

static const char *next_line(const char *line)
{
    const char *newline = strchr(line, '\n');
    return newline ? newline + 1 : line + strlen(line);
}

static bool is_held(const char *line)
{
    const char *hold = strstr(line, " hold=");
    return hold && hold < strchr(line, '\n');
}

/* The lines from this one on that begin with this statement; the end of the text if there are none.
 */
static const char *seek_statement(const char *lines, const char *statement, size_t len)
{
    size_t other_len;
    for (; *lines; lines = next_line(lines)) {
        const char *other = statement_of(lines, &other_len);
        if (other && other_len == len && memcmp(other, statement, len) == 0) {
            break;
        }
    }
    return lines;
}

/* Every statement of found is one of whole, in that order, and with its SQLSTATE or none. */
static void check_nothing_made_up(const char *found, const char *whole)
{
    size_t len;
    for (const char *line = found; *line; line = next_line(line)) {
        const char *statement = statement_of(line, &len);
        if (!statement || is_held(line)) {
            continue;
        }
        whole = seek_statement(whole, statement, len);
        if (!*whole) {
            fail_msg("made up: %.*s in\n%s", (int) len, statement, found);
        }
        if (memcmp(strchr(whole, ' ') + len, statement + len, 9) != 0 &&
            memcmp(statement + len, " -> ?", 5) != 0) {
            fail_msg("not its outcome: %.*s\n%s", (int) len + 9, statement, found);
        }
        whole = next_line(whole);
    }
}

static uint32_t count_statements(const char *lines)
{
    uint32_t count = 0;
    size_t len;
    for (; *lines; lines = next_line(lines)) {
        count += statement_of(lines, &len) && !is_held(lines);
    }
    return count;
}

static void test_what_is_missing_is_marked(void **state)
{
    (void) state;
    struct rh_script s;
    rh_script_init(&s);
    make_conversation(&s);
    s.no_steps = true;
    char *whole = play(&s, 0, NULL);
    uint32_t all = count_statements(whole);
    uint64_t kept = 0;
    enum { ROUNDS = 300 };
    for (int i = 0; i < ROUNDS; i++) {
        struct rh_script_hole hole = {.turn = chance(s.turn_count)};
        hole.at = chance((uint32_t) s.turns[hole.turn].len);
        hole.len = 1 + (chance(3) ? chance(20) : chance(1000));
        char *found = play(&s, chance(2) ? 0 : 1 + chance(9), &hole);
        if (!strstr(found, " gap ")) {
            fail_msg("not marked: turn %u, %zu bytes at %zu\n%s", hole.turn, hole.len, hole.at,
                     found);
        }
        check_nothing_made_up(found, whole);
        kept += count_statements(found);
        rh_free(found);
    }
    /* A hole costs what it hits and what stands beside it. */
    assert_true(kept > (uint64_t) ROUNDS * all * 9 / 10);
    rh_free(whole);
    rh_script_release(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_pieces_make_no_difference),
        cmocka_unit_test(test_what_is_missing_is_marked),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
