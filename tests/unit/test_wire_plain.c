/*
 * Requests and answers that come whole are read in one go (formats/pg_wire_asked.c,
 * pg_wire_plain.c), those that come in pieces message by message.  Whatever the conversation is,
 * both ways tell the same: records, times, bytes, and how many messages there were.
 */
#include "rh_test.h"

#include <string.h>

#include "wire_script.h"

static struct rh_script s;
static uint64_t seed;
static bool odd; /* answers may be such as no server gives */

static uint32_t below(uint32_t n)
{
    seed = seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (uint32_t) (seed >> 33) % n;
}

static bool one_in(uint32_t n)
{
    return below(n) == 0;
}

static bool odd_one_in(uint32_t n)
{
    return odd && one_in(n);
}

/* What may stand anywhere in an answer. */
static void say_unasked(void)
{
    switch (below(12)) {
    case 0:
        s_m(&s, 'N', "SNOTICE\0C00000\0Mtext\0", 22);
        break;
    case 1:
        s_parameter(&s, "application_name", one_in(2) ? "this" : "that");
        break;
    case 2:
        s_m(&s, 'A', "\0\0\0\1c\0\0", 7);
        break;
    case 3:
        s_m(&s, 'y', "new", 3);
        break;
    default:
        break;
    }
}

static void answer_result(bool described)
{
    static const char *const tags[] = {"SELECT 3",    "INSERT 0 7",      "BEGIN",  "COMMIT",
                                       "DISCARD ALL", "DEALLOCATE",      "UPDATE", "SELECT",
                                       "ROLLBACK",    "CREATE TABLE AS", "",       "PREPARE"};
    if (described) {
        s_list(&s, "T");
    }
    if (one_in(10) && !described) {
        s_list(&s, "I");
        return;
    }
    s_rows(&s, (int) below(4));
    if (one_in(10)) {
        s_m(&s, 'C', "no end", 6);
    } else {
        s_c(&s, tags[below(sizeof tags / sizeof *tags)]);
    }
}

static char some_status(void)
{
    return "ITEIIx"[below(6)];
}

/* False: the session is over. */
static bool talk_query(void)
{
    c_q(&s, one_in(3) ? "deallocate a" : "select 1; select 2");
    say_unasked();
    if (one_in(60)) {
        s_e(&s, "FATAL", "57P01");
        return false;
    }
    if (one_in(8)) {
        s_e(&s, "ERROR", "22012");
    } else {
        for (uint32_t i = 1 + below(8) / 7; i > 0; i--) {
            answer_result(one_in(2));
        }
    }
    s_z(&s, some_status());
    return true;
}

static void ask_extended(bool parse, bool describe, bool named)
{
    if (parse) {
        c_p(&s, named ? "a" : "", "select $1");
    }
    c_b(&s, "", named ? "a" : "", one_in(5) ? NULL : "value");
    if (describe) {
        c_d(&s, 'P', "");
    }
    c_e(&s, "", one_in(6) ? 2 : 0);
}

/* False: the server looks at nothing up to Sync. */
static bool answer_extended(bool parse, bool describe)
{
    if (parse) {
        s_list(&s, "1");
    }
    if (one_in(12)) {
        s_e(&s, "ERROR", "23505");
        return odd;
    }
    s_list(&s, "2");
    say_unasked();
    if (describe) {
        s_list(&s, one_in(2) ? "T" : "n");
    }
    if (one_in(10)) {
        s_rows(&s, 2);
        s_list(&s, "s");
    } else {
        answer_result(odd_one_in(20));
    }
    return true;
}

static void talk_extended(void)
{
    bool parse = one_in(3), describe = one_in(2), named = one_in(2);
    bool twice = one_in(6);
    bool goes_on;
    char object = one_in(8) ? "SP"[below(2)] : '\0'; /* closed at the end */
    ask_extended(parse, describe, named);
    if (twice) {
        ask_extended(false, describe, named);
    }
    if (object) {
        c_c(&s, object, object == 'S' ? "a" : "");
    }
    if (one_in(12)) {
        c_h(&s); /* the answer comes before its Sync */
        goes_on = answer_extended(parse, describe);
        c_s(&s);
    } else {
        c_s(&s);
        goes_on = answer_extended(parse, describe);
    }
    if (twice && goes_on) {
        goes_on = answer_extended(false, describe);
    }
    if (object && goes_on) {
        s_list(&s, "3");
    }
    say_unasked();
    s_z(&s, some_status());
    if (odd_one_in(10)) {
        s_z(&s, 'I');
    }
}

static void make_conversation(void)
{
    c_startup(&s, 196608, "joe");
    s_login(&s, 77, "key!", 4);
    for (uint32_t n = 3 + below(10); n > 0; n--) {
        if (one_in(2)) {
            talk_extended();
        } else if (!talk_query()) {
            return;
        }
    }
    if (one_in(2)) {
        c_x(&s);
    }
}

static void test_whole_and_in_pieces(void **state)
{
    static const size_t pieces[] = {1, 7, 50};
    struct rh_buf whole;
    (void) state;
    rh_buf_init(&whole, 1 << 20);
    for (uint64_t i = 1; i <= 1500; i++) {
        seed = i;
        odd = i % 2;
        make_conversation();
        s.exact = !odd; /* to whom an answer's bytes count is a guess where nobody asked for it */
        rh_script_play(&s, 0, NULL);
        rh_buf_clear(&whole);
        rh_buf_add_span(&whole, rh_buf_span(&s.out));
        s.counts.anomalies = 0; /* rows that nobody asked for are one a piece */
        struct rh_wire_capture_counts counts = s.counts;
        for (size_t p = 0; p < sizeof pieces / sizeof *pieces; p++) {
            rh_script_play(&s, pieces[p], NULL);
            assert_string_equal(rh_buf_cstr(&s.out), rh_buf_cstr(&whole));
            s.counts.anomalies = 0;
            assert_memory_equal(&s.counts, &counts, sizeof counts);
        }
        rh_script_clear(&s);
    }
    rh_buf_release(&whole);
}

/* That the short way is taken at all is what its instructions tell (tests/count/wire.sh); that it
 * is right, these lines. */
static void test_plain_answers(void **state)
{
    (void) state;
    c_startup(&s, 196608, "joe");
    s_login(&s, 77, "key!", 4);
    c_q(&s, "begin");
    s_c(&s, "BEGIN");
    s_z(&s, 'T');
    c_p(&s, "a", "select $1");
    c_b(&s, "", "a", "x");
    c_d(&s, 'P', "");
    c_e(&s, "", 0);
    c_s(&s);
    s_list(&s, "12T");
    s_rows(&s, 3);
    s_c(&s, "SELECT 3");
    s_z(&s, 'T');
    c_q(&s, "commit");
    s_c(&s, "COMMIT");
    s_z(&s, 'I');
    c_x(&s);
    s.exact = true;
    rh_script_expect(&s,
                     "1 open\n"
                     "1/1 query |begin| -> 00000 BEGIN T first=5000 done=5000 bytes=17 [bk] {Q}\n"
                     "1/2 execute s:a |select $1| (x) -> 00000 SELECT rows=3 T first=7000 "
                     "done=7000 bytes=76 [k] {PB1D2E3S4}\n"
                     "1/3 query |commit| -> 00000 COMMIT I first=9000 done=9000 bytes=18 [ke] "
                     "{Q}\n"
                     "1 close disconnected\n");
}

static int setup(void **state)
{
    (void) state;
    rh_script_init(&s);
    return 0;
}

static int teardown(void **state)
{
    (void) state;
    rh_script_release(&s);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_plain_answers),
        cmocka_unit_test(test_whole_and_in_pieces),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
