/* common/sql_template, common/sql_literal */
#include "rh_test.h"

#include <stdio.h>
#include <string.h>

#include "common/alloc.h"
#include "sql_corpus.h"
#include "sql_property.h"

static struct sql_property property;

static int set_up(void **state)
{
    (void) state;
    sql_property_init(&property);
    return 0;
}

static int tear_down(void **state)
{
    (void) state;
    sql_property_release(&property);
    return 0;
}

static void check_text(struct rh_span text)
{
    const char *wrong = sql_property_check(&property, text);
    if (wrong) {
        fail_msg("%s: %.*s\ntext:     %s\ntemplate: %s", wrong,
                 (int) (text.len > 2000 ? 2000 : text.len), text.data,
                 rh_buf_cstr(&property.of_text), rh_buf_cstr(&property.of_template));
    }
}

/* The template of a text, with ~ for a constant and # for a comment. */
static void check_split(const char *sql, const char *want)
{
    check_text(rh_span_cstr(sql));
    struct rh_buf *tmpl = &property.tmpl;
    for (size_t i = 0; i < tmpl->len; i++) {
        if (tmpl->data[i] == RH_TEMPLATE_CONSTANT) {
            tmpl->data[i] = '~';
        } else if (tmpl->data[i] == RH_TEMPLATE_COMMENT) {
            tmpl->data[i] = '#';
        }
    }
    assert_string_equal(rh_buf_cstr(tmpl), want);
}

static void test_literals_become_slots(void **state)
{
    (void) state;
    check_split("select 'a', 1, 1.5e3 from t1 /* c */ where b = $1 -- end",
                "select ~, ~, ~ from t1 # where b = $1 #");
    check_split("x = E'\\'' and y = $q$ ' $q$ and \"col 1\" = b'01'",
                "x = ~ and y = ~ and \"col 1\" = ~");
    check_split("a\n'b'\n'c'", "a\n~");
    check_split("'open", "~");
    check_split("", "");
    rh_template_split(RH_SPAN_NONE, &property.tmpl, &property.literals);
    assert_int_equal(property.tmpl.len, 0);
    assert_int_equal(property.literals.count, 0);
    rh_template_split(RH_SPAN_LITERAL("f(-5, 'x')"), &property.tmpl, &property.literals);
    assert_int_equal(property.literals.count, 2);
    rh_assert_span(property.literals.items[0], "-5");
    rh_assert_span(property.literals.items[1], "'x'");
}

static void test_a_sign_is_part_of_a_number_only_where_no_operator_can_be(void **state)
{
    (void) state;
    check_split("a -1", "a -~");
    check_split("a-1", "a-~");
    check_split("a - 1", "a - ~");
    check_split("\"a\"-1", "\"a\"-~");
    check_split("(a)-1 b[1]-1 $1-1 'x'-1 2-1", "(a)-~ b[~]-~ $1-~ ~-~ ~-~");
    check_split("case when a then b end -1", "case when a then b end -~");
    check_split("null -1, current_date -1, count(*) -1", "null -~, current_date -~, count(*) -~");
    check_split("t.limit -1, t . select -1", "t.limit -~, t . select -~");
    check_split("a::int -1", "a::int -~");
    check_split("a /* c */ -1", "a # -~");
    check_split("-1", "~");
    check_split("x = -1", "x = ~");
    check_split("x=-1", "x=~");
    check_split("x=+1", "x=~");
    check_split("(-1, -2.5, -.5)", "(~, ~, ~)");
    check_split("a[-1] a[1:-1]", "a[~] a[~:~]");
    check_split("+ -1", "+ ~");
    check_split("- 1", "- ~");
    check_split("-/**/1", "-#~");
    check_split("x = -a", "x = -a");
    check_split("a@-1", "a@-~");
    check_split("a @ -1", "a @ ~");
    check_split("select -1 where -1 and -1 limit -1", "select ~ where ~ and ~ limit ~");
    check_split("x between -1 and -2", "x between ~ and ~");
    check_split("x not between -1 and -2", "x not between ~ and ~");
    check_split("select between -1", "select between -~");
    check_split("; -1", "; ~");
    check_split("x := -1", "x := ~");
    check_split("fetch -1 from c", "fetch ~ from c");
}

static void test_positions_of_columns_are_no_literals(void **state)
{
    (void) state;
    check_split("select a, 1 from t order by 1, 2 desc limit 3",
                "select a, ~ from t order by 1, 2 desc limit ~");
    check_split("select 1 group by 1, b, 3 having x > 3", "select ~ group by 1, b, 3 having x > ~");
    check_split("order by 1 + a, f(1, 2), -1, 1.5, 12345", "order by ~ + a, f(~, ~), ~, ~, ~");
    check_split("(select a order by 1), 2", "(select a order by 1), ~");
    check_split("group by a union select b, 2", "group by a union select b, ~");
    check_split("order by a; select 1, 2", "order by a; select ~, ~");
    check_split("order by 1 -- c", "order by 1 #");
    check_split("order by x[1, 2], 3", "order by x[~, ~], 3");
    check_split("increment by 5 cache 10", "increment by ~ cache ~");
    check_split("t.order by 1", "t.order by ~");
}

static void test_raw_slot_bytes_are_literals(void **state)
{
    (void) state;
    static const char TEXT[] = "a\0b\1\"q\0q\1\" \0'x\0y\1z' /*\0\1*/ 1\0";
    struct rh_span text = {TEXT, sizeof TEXT - 1};
    check_text(text);
    assert_int_equal(property.literals.count, 9);
    static const char TMPL[] = "a\1b\1\"q\1q\1\" \1\0 \1 \0\1";
    assert_int_equal(property.tmpl.len, sizeof TMPL - 1);
    assert_memory_equal(property.tmpl.data, TMPL, sizeof TMPL - 1);
}

static void test_slots_are_bounded(void **state)
{
    (void) state;
    struct rh_buf text;
    rh_buf_init(&text, 1 << 20);
    for (int n = 250; n < 270; n++) {
        rh_buf_clear(&text);
        rh_buf_add_cstr(&text, "select * from t where a in (");
        for (int i = 0; i < n; i++) {
            rh_buf_addf(&text, "%s%d", i ? ", " : "", i);
        }
        rh_buf_add_cstr(&text, ")");
        check_text(rh_buf_span(&text));
        assert_int_equal(property.literals.capped, n >= RH_TEMPLATE_SLOTS_MAX);
        assert_int_equal(property.literals.count, n < 256 ? n : 256);
        /* Capped or not, both ways, it is the same query. */
        assert_string_equal(rh_buf_cstr(&property.of_text), "select * from t where a in (?+)");
        assert_string_equal(rh_buf_cstr(&property.of_template), "select * from t where a in (?+)");
    }
    struct rh_span last = property.literals.items[255];
    rh_assert_span(last, "255, 256, 257, 258, 259, 260, 261, 262, 263, 264, 265, 266, 267, 268)");
    rh_buf_release(&text);
}

static void test_join_refuses_what_does_not_fit(void **state)
{
    (void) state;
    struct rh_span items[3] = {RH_SPAN_LITERAL("1"), RH_SPAN_LITERAL("2"), RH_SPAN_LITERAL("3")};
    struct rh_span tmpl = {"a\0b\1", 4};
    struct rh_buf out;
    rh_buf_init(&out, 5);
    assert_int_equal(rh_template_slot_count(tmpl), 2);
    assert_int_equal(rh_template_join(tmpl, items, 1, &out), -1);
    rh_buf_clear(&out);
    assert_int_equal(rh_template_join(tmpl, items, 3, &out), -1);
    rh_buf_clear(&out);
    assert_int_equal(rh_template_join(tmpl, items, 2, &out), 0);
    assert_string_equal(rh_buf_cstr(&out), "a1b2");
    assert_int_equal(rh_template_join(tmpl, items, 2, &out), -1); /* past the maximum */
    rh_buf_release(&out);
}

static void test_split_takes_no_memory_for_each_statement(void **state)
{
    (void) state;
    static const char *const SQL[] = {
        "UPDATE pgbench_accounts SET abalance = abalance + -2211 WHERE aid = 81412;",
        "INSERT INTO h (a, b) VALUES (7, 'x'), (8, $$y$$) /* c */",
        "BEGIN;",
    };
    rh_template_split(rh_span_cstr(SQL[0]), &property.tmpl, &property.literals);
    uint64_t before = rh_alloc_count();
    for (int i = 0; i < 300; i++) {
        struct rh_span text = rh_span_cstr(SQL[i % 3]);
        uint32_t all;
        rh_template_split(text, &property.tmpl, &property.literals);
        rh_sql_classify(text, false, &all);
    }
    assert_int_equal(rh_alloc_count(), before);
}

static uint64_t seed = 88172645463325252ULL;

static uint32_t random_below(uint32_t n)
{
    seed ^= seed << 13;
    seed ^= seed >> 7;
    seed ^= seed << 17;
    return (uint32_t) (seed >> 32) % n;
}

static void test_any_bytes(void **state)
{
    (void) state;
    static const char BYTES[] = "'\"$/*-+ \n\\;,.()[]:=?@ae1_EuUxbN&0\0\1\x80";
    char text[200];
    for (int i = 0; i < 8000; i++) {
        size_t n = random_below(sizeof text);
        bool any = random_below(4) == 0;
        for (size_t j = 0; j < n; j++) {
            if (any) {
                text[j] = (char) (uint8_t) random_below(256);
            } else {
                text[j] = BYTES[random_below(sizeof BYTES)];
            }
        }
        check_text((struct rh_span){text, n});
    }
}

/* clang-format off */
static const char *const PARTS[] = {
    "select", "insert into t", "values", "in", "(", "(", "(", ")", ")", ")", ",", ",", ",", ";",
    "1", "-1", "- 1", "+2.5", "'a'", "E'\\''", "$$x$$", "$1", "null", "true", "is", "not", "a",
    "\"a\"", "\"A b\"", "U&\"x\"", "uescape", "'!'", "/* c */", "-- d\n", "array", "[", "]",
    "any", "= any(array[", "all", "cast", "as", "date", "interval", "day", "to", "second", "::",
    "int4", "varchar(10)", ".", "..", ":", ":=", "=", "!=", "~~", "!~~*", "?", "?|", "@", "*",
    "set", "session", "local", "default", "begin", "work", "end", "commit", "rollback",
    "savepoint", "release", "deallocate", "prepare", "transaction", "create", "atomic", "case",
    "order by", "group by", "asc", "desc", "inner", "outer", "join", "between", "pg_catalog",
    "row", "\n", "$x$", "\\", "{", "copy", "from stdin", "x$1", "0x1F", "1_0", "1..5", "5.",
};
/* clang-format on */

static void test_any_mix_of_tokens(void **state)
{
    (void) state;
    struct rh_buf text;
    rh_buf_init(&text, 1 << 16);
    for (int i = 0; i < 10000; i++) {
        rh_buf_clear(&text);
        uint32_t n = random_below(40);
        for (uint32_t j = 0; j < n; j++) {
            rh_buf_add_cstr(&text, PARTS[random_below(sizeof PARTS / sizeof PARTS[0])]);
            if (random_below(3)) {
                rh_buf_add_byte(&text, ' ');
            }
        }
        check_text(rh_buf_span(&text));
    }
    rh_buf_release(&text);
}

static void test_large_texts(void **state)
{
    (void) state;
    static const char *const UNITS[] = {"(",     "[",    "a,",         "'x',",  "/*", "$a$",
                                        "\"",    "- ",   "((1),(2)),", "'a'\n", ";",  "in (1,",
                                        "case ", "e'\\", "?",          "\1"};
    size_t size = 1 << 20;
    char *text = rh_malloc(size);
    for (size_t i = 0; i < sizeof UNITS / sizeof UNITS[0]; i++) {
        size_t unit = strlen(UNITS[i]);
        for (size_t j = 0; j < size; j++) {
            text[j] = UNITS[i][j % unit];
        }
        check_text((struct rh_span){text, i < 3 ? size : size / 8});
    }
    rh_free(text);
}

static void test_every_text_of_the_corpus(void **state)
{
    (void) state;
    if (sql_corpus_walk(check_text) == 0) {
        skip();
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_literals_become_slots),
        cmocka_unit_test(test_a_sign_is_part_of_a_number_only_where_no_operator_can_be),
        cmocka_unit_test(test_positions_of_columns_are_no_literals),
        cmocka_unit_test(test_raw_slot_bytes_are_literals),
        cmocka_unit_test(test_slots_are_bounded),
        cmocka_unit_test(test_join_refuses_what_does_not_fit),
        cmocka_unit_test(test_split_takes_no_memory_for_each_statement),
        cmocka_unit_test(test_any_bytes),
        cmocka_unit_test(test_any_mix_of_tokens),
        cmocka_unit_test(test_large_texts),
        cmocka_unit_test(test_every_text_of_the_corpus),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
