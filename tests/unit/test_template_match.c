/* common/template_match: what it splits, it splits as rh_template_split() does. */
#include "rh_test.h"

#include <stdio.h>

#include "common/alloc.h"
#include "common/intern.h"
#include "common/template_match.h"

enum { TEXT_MAX = 512, LITERAL_MAX = 32, TEMPLATES_MAX = 4096 };

static uint64_t seed = 42;

static uint32_t below(uint32_t n)
{
    seed ^= seed << 13;
    seed ^= seed >> 7;
    seed ^= seed << 17;
    return (uint32_t) ((seed * UINT64_C(2685821657736338717) >> 33) % n);
}

/* What was learned of each template. */
struct known {
    struct rh_arena arena;
    struct rh_intern templates;
    struct rh_template_match matches[TEMPLATES_MAX];
    struct rh_buf tmpl;
    struct rh_literals split;
    struct rh_literals matched;
    uint32_t matched_count;
};

static struct known *known_new(void)
{
    struct known *k = rh_calloc(1, sizeof *k);
    rh_arena_init(&k->arena, 64 * 1024);
    rh_intern_init(&k->templates);
    rh_buf_init(&k->tmpl, TEXT_MAX);
    return k;
}

static void known_free(struct known *k)
{
    rh_arena_release(&k->arena);
    rh_intern_release(&k->templates);
    rh_buf_release(&k->tmpl);
    rh_free(k);
}

static void assert_same_split(const struct known *k, uint32_t id, struct rh_span text)
{
    struct rh_span tmpl = k->templates.items[id];
    if (!rh_span_equal(tmpl, rh_buf_span(&k->tmpl)) || k->matched.count != k->split.count) {
        fail_msg("\"%.*s\" was matched with \"%.*s\"", (int) text.len, text.data, (int) tmpl.len,
                 tmpl.data);
    }
    for (uint32_t i = 0; i < k->split.count; i++) {
        if (k->split.items[i].data != k->matched.items[i].data ||
            k->split.items[i].len != k->matched.items[i].len) {
            fail_msg("\"%.*s\": literal %u differs", (int) text.len, text.data, i);
        }
    }
}

/* Match the text with everything that is known, then learn it.  Whether a match was found. */
static bool check(struct known *k, const char *data, size_t len)
{
    struct rh_span text = rh_span(data, len);
    bool found = false;
    rh_template_split(text, &k->tmpl, &k->split);
    for (uint32_t id = 0; id < k->templates.count; id++) {
        if (rh_template_match_split(&k->matches[id], k->templates.items[id], text, &k->matched)) {
            assert_same_split(k, id, text);
            found = true;
            k->matched_count++;
        }
    }
    if (k->templates.count < TEMPLATES_MAX ||
        rh_intern_find(&k->templates, rh_buf_span(&k->tmpl)) >= 0) {
        uint32_t id = rh_intern_put(&k->templates, rh_buf_span(&k->tmpl), NULL);
        rh_template_match_learn(&k->matches[id], k->templates.items[id], k->split.items,
                                k->split.count, &k->arena);
    }
    return found;
}

static bool check_text(struct known *k, const char *text)
{
    return check(k, text, strlen(text));
}

static void test_what_programs_send_is_matched(void **state)
{
    (void) state;
    struct known *k = known_new();
    assert_false(check_text(k, "BEGIN"));
    assert_true(check_text(k, "BEGIN"));
    assert_false(check_text(k, "UPDATE t SET a = a + 17 WHERE id = 1;"));
    assert_true(check_text(k, "UPDATE t SET a = a + 4 WHERE id = 123456;"));
    assert_false(check_text(k, "UPDATE t SET a = a + -4 WHERE id = 123456;"));
    assert_true(check_text(k, "UPDATE t SET a = a + -999 WHERE id = 0;"));
    assert_true(check_text(k, "UPDATE t SET a = a + 999 WHERE id = 0;"));
    assert_false(check_text(k, "SELECT 'a' AS x, 'b'"));
    assert_true(check_text(k, "SELECT '' AS x, '\n-- :)'"));
    assert_false(check_text(k, "SELECT 'a''' AS x, 'b'"));
    assert_false(check_text(k, "SELECT 1.5 AS x, 'b'"));
    assert_false(check_text(k, "SELECT 'a' AS x, 'b' "));
    known_free(k);
}

/* Texts in which the place of a literal, or of its end, depends on the literal. */
static void test_traps_are_split_alike(void **state)
{
    (void) state;
    static const char *const families[][6] = {
        {"SELECT a - 1", "SELECT a - -1", "SELECT a --1", "SELECT a -1", "SELECT a -+1", NULL},
        {"SELECT a -1", "SELECT a --1", "SELECT a +1", "SELECT a *-1", "SELECT a *--1", NULL},
        {"x ORDER BY 1234, 5", "x ORDER BY 12, 5", "x ORDER BY 1", "x GROUP BY 1234", NULL},
        {"SELECT 1x", "SELECT 0x", "SELECT 0x1", "SELECT 1e5", "SELECT 1e", NULL},
        {"SELECT 1..10", "SELECT 1.", "SELECT 1.5", "SELECT 1.5.5", "SELECT 15..5", NULL},
        {"SELECT 'a'\n'b'", "SELECT 'a' \n 'c'", "SELECT 'a''b'", "SELECT 'a'", "SELECT 'a'\n5",
         NULL},
        {"SELECT 'a' -- x\n'b'", "SELECT 'a' -1", "SELECT 'a' - 1", "SELECT 'a' --", NULL},
        {"SELECT E'a\\'b'", "SELECT E'a'", "SELECT 'a\\'", "SELECT e 'a'", "SELECT b'1'", NULL},
        {"SELECT $1", "SELECT $12", "SELECT $$1$$", "SELECT $a$1$a$", "SELECT $a$2", NULL},
        {"SELECT a[1:2]", "SELECT a[1:22]", "SELECT a[1::2]", "SELECT 1::int", "SELECT 2::int",
         NULL},
        {"SELECT 1_000", "SELECT 1_", "SELECT 1", "SELECT 10", NULL},
        {"SELECT 'open", "SELECT 'closed'", "SELECT '", "SELECT ''", NULL},
        {"SELECT /* 1 */ 2", "SELECT /* 3 */ 4", "SELECT 5 /* 6 */", NULL},
        {"SELECT \"a 1\" 2", "SELECT \"a 3\" 4", "SELECT \"a 1\" 77", NULL},
    };
    for (size_t f = 0; f < sizeof families / sizeof families[0]; f++) {
        struct known *k = known_new();
        for (int round = 0; round < 3; round++) {
            for (size_t i = 0; families[f][i]; i++) {
                check_text(k, families[f][i]);
            }
        }
        known_free(k);
    }
}

static size_t add_literal(char *at)
{
    static const char *const rare[] = {"1.5",     "-7",       "+7",   "E'x'", "0x1f",
                                       "'it''s'", "'a'\n'b'", ".5",   "1e10", "$$q$$",
                                       "''",      "-",        "'\\'", "--c\n"};
    switch (below(5)) {
    case 0:
        return (size_t) snprintf(at, LITERAL_MAX, "%u", below(1000000));
    case 1:
        return (size_t) snprintf(at, LITERAL_MAX, "%u", below(10));
    case 2:
        return (size_t) snprintf(at, LITERAL_MAX, "-%u", below(5000));
    case 3:
        return (size_t) snprintf(at, LITERAL_MAX, "'%c%u'", 'a' + (char) below(26), below(100));
    default:
        return (size_t) snprintf(at, LITERAL_MAX, "%s", rare[below(sizeof rare / sizeof rare[0])]);
    }
}

/* Many texts for each of many skeletons, so that what was learned of one meets the others. */
static void test_any_mix_is_split_alike(void **state)
{
    (void) state;
    static const char *const parts[] = {
        "SELECT", "x",          "=",   " = ",   " ",  "\n",    "(",    ")",   ",",   ";",
        "+",      "-",          "*",   "/",     "--", ".",     "..",   ":",   "::",  "[",
        "]",      "$1",         "$",   "\"q\"", "E",  "b",     "u&",   "and", "not", "between",
        "limit ", " order by ", "$a$", "<",     "e",  "/*c*/", " in ", "''",  "\t",  "_",
    };
    struct known *k = known_new();
    for (int i = 0; i < 1500; i++) {
        const char *pieces[12];
        size_t n = 1 + below(12);
        for (size_t j = 0; j < n; j++) {
            pieces[j] = below(3) ? parts[below(sizeof parts / sizeof parts[0])] : NULL;
        }
        for (int variant = 0; variant < 12; variant++) {
            char text[TEXT_MAX];
            size_t len = 0;
            for (size_t j = 0; j < n; j++) {
                len += pieces[j] ? (size_t) snprintf(text + len, TEXT_MAX - len, "%s", pieces[j])
                                 : add_literal(text + len);
            }
            check(k, text, len);
        }
        if (k->templates.count > 400) {
            rh_intern_clear(&k->templates);
            rh_arena_clear(&k->arena);
            memset(k->matches, 0, sizeof k->matches);
        }
    }
    assert_true(k->matched_count > 3000);
    known_free(k);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_what_programs_send_is_matched),
        cmocka_unit_test(test_traps_are_split_alike),
        cmocka_unit_test(test_any_mix_is_split_alike),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
