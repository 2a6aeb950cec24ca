/* common/sql_scan, common/sql_word */
#include "rh_test.h"

#include <stdio.h>
#include <string.h>

#include "common/buf.h"
#include "common/sql_scan.h"
#include "common/sql_word.h"

/* Tokens as "kind:text", parted by a line break; blanks are left out. */
static const char *render(const char *sql, struct rh_buf *out)
{
    static const char *const KINDS[] = {
        [RH_SQL_COMMENT] = "comment",       [RH_SQL_WORD] = "word",
        [RH_SQL_QUOTED_WORD] = "quoted",    [RH_SQL_NUMBER] = "number",
        [RH_SQL_STRING] = "string",         [RH_SQL_PARAM] = "param",
        [RH_SQL_OPERATOR] = "op",           [RH_SQL_PUNCT] = "punct",
        [RH_SQL_OTHER] = "other",           [RH_SQL_SLOT_CONSTANT] = "constant",
        [RH_SQL_SLOT_COMMENT] = "comment?",
    };
    struct rh_sql_scan scan;
    rh_sql_scan_init(&scan, rh_span_cstr(sql), false);
    rh_buf_clear(out);
    struct rh_sql_token t;
    while ((t = rh_sql_scan_next(&scan)).kind != RH_SQL_END) {
        if (t.kind == RH_SQL_SPACE) {
            continue;
        }
        rh_buf_addf(out, "%s%s%s:%.*s", out->len ? "\n" : "", t.broken ? "broken " : "",
                    KINDS[t.kind], (int) t.len, sql + t.start);
    }
    return rh_buf_cstr(out);
}

struct scan_case {
    const char *sql;
    const char *tokens;
};

static void check_cases(const struct scan_case *cases, size_t count)
{
    struct rh_buf out;
    rh_buf_init(&out, 10000);
    for (size_t i = 0; i < count; i++) {
        if (strcmp(render(cases[i].sql, &out), cases[i].tokens) != 0) {
            fail_msg("%s gave\n%s\nnot\n%s", cases[i].sql, rh_buf_cstr(&out), cases[i].tokens);
        }
    }
    rh_buf_release(&out);
}

#define CHECK(cases) check_cases(cases, sizeof(cases) / sizeof(cases)[0])

static void test_strings(void **state)
{
    (void) state;
    static const struct scan_case CASES[] = {
        {"'it''s'x", "string:'it''s'\nword:x"},
        {"'a\\'b", "string:'a\\'\nword:b"},
        {"e'a\\'b' E'\\\\'", "string:e'a\\'b'\nstring:E'\\\\'"},
        {"b'01' X'1f' n'a''b' U&'d\\0061'", "string:b'01'\nstring:X'1f'\nstring:n'a''b'\n"
                                            "string:U&'d\\0061'"},
        {"b'0''1'", "string:b'0'\nstring:'1'"},
        {"'a'\n'b' 'c' 'd'", "string:'a'\n'b'\nstring:'c'\nstring:'d'"},
        {"'a' -- c\n  -- d\n 'b'", "string:'a' -- c\n  -- d\n 'b'"},
        {"'a' -- c\n x", "string:'a'\ncomment:-- c\nword:x"},
        {"'a' /* c */\n 'b'", "string:'a'\ncomment:/* c */\nstring:'b'"},
        {"e'a'\n'\\''", "string:e'a'\n'\\''"},
        {"'open", "broken string:'open"},
        {"e'open\\", "broken string:e'open\\"},
        {"'a'\n'open", "broken string:'a'\n'open"},
        {"le'x' u&x u & 'x'",
         "word:le\nstring:'x'\nword:u\nop:&\nword:x\nword:u\nop:&\nstring:'x'"},
    };
    CHECK(CASES);
}

static void test_dollar_quotes(void **state)
{
    (void) state;
    static const struct scan_case CASES[] = {
        {"$$a$b$$c", "string:$$a$b$$\nword:c"},
        {"$t$ $$ $tt$ $t$;", "string:$t$ $$ $tt$ $t$\npunct:;"},
        {"$t$a$t$t$", "string:$t$a$t$\nword:t$"},
        {"a$t$b$t$", "word:a$t$b$t$"},
        {"1$t$b$t$", "number:1\nstring:$t$b$t$"},
        {"$1 $12abc $1.5", "param:$1\nparam:$12\nword:abc\nparam:$1\nnumber:.5"},
        {"$1$x$1$", "param:$1\nbroken string:$x$1$"},
        {"$x $ $", "other:$\nword:x\nother:$\nother:$"},
        {"$x$open $x", "broken string:$x$open $x"},
        {"$é$a$é$", "string:$é$a$é$"},
        {"$$", "broken string:$$"},
        {"$$$$", "string:$$$$"},
    };
    CHECK(CASES);
}

static void test_numbers(void **state)
{
    (void) state;
    static const struct scan_case CASES[] = {
        {"1..10", "number:1\npunct:..\nnumber:10"},
        {"1...5", "number:1\npunct:..\nnumber:.5"},
        {"5. .5 1.5e-3 1e5 1e+5", "number:5.\nnumber:.5\nnumber:1.5e-3\nnumber:1e5\nnumber:1e+5"},
        {"1e 1e+ 1ex", "number:1\nword:e\nnumber:1\nword:e\nop:+\nnumber:1\nword:ex"},
        {"1e'x'", "number:1\nstring:e'x'"},
        {"0x1F 0X_1 0o17 0b1_0 0xg 0b2", "number:0x1F\nnumber:0X_1\nnumber:0o17\nnumber:0b1_"
                                         "0\nnumber:0\nword:xg\nnumber:0\nword:b2"},
        {"1_000 1__0 1_ 1_000.5_0", "number:1_000\nnumber:1\nword:__0\nnumber:1\nword:_\n"
                                    "number:1_000.5_0"},
        {"1.2.3", "number:1.2\nnumber:.3"},
        {"a1 t.1 t.a", "word:a1\nword:t\nnumber:.1\nword:t\npunct:.\nword:a"},
        {"$1::int x:=1 a[1:2]", "param:$1\npunct:::\nword:int\nword:x\npunct::=\nnumber:1\n"
                                "word:a\npunct:[\nnumber:1\npunct::\nnumber:2\npunct:]"},
    };
    CHECK(CASES);
}

static void test_operators(void **state)
{
    (void) state;
    static const struct scan_case CASES[] = {
        {"a=-1", "word:a\nop:=\nop:-\nnumber:1"},
        {"a@-1", "word:a\nop:@-\nnumber:1"},
        {"+-+x", "op:+\nop:-\nop:+\nword:x"},
        {"@+-x", "op:@+-\nword:x"},
        {"*-/**/", "op:*\nop:-\ncomment:/**/"},
        {"a<--b\nc", "word:a\nop:<\ncomment:--b\nword:c"},
        {"a-/*x*/-1", "word:a\nop:-\ncomment:/*x*/\nop:-\nnumber:1"},
        {"a @? b @@ c ?| d ?& e #- f ->> g #>> h", "word:a\nop:@?\nword:b\nop:@@\nword:c\nop:?|\n"
                                                   "word:d\nop:?&\nword:e\nop:#-\nword:f\nop:->>\n"
                                                   "word:g\nop:#>>\nword:h"},
        {"!=-1", "op:!=-\nnumber:1"},
        {"<>-1 >=+1", "op:<>\nop:-\nnumber:1\nop:>=\nop:+\nnumber:1"},
        {"a->'x'", "word:a\nop:->\nstring:'x'"},
        {"*/", "op:*/"},
        {"{\\}", "other:{\nother:\\\nother:}"},
    };
    CHECK(CASES);
}

static void test_comments_and_names(void **state)
{
    (void) state;
    static const struct scan_case CASES[] = {
        {"/* a /* b */ c */d", "comment:/* a /* b */ c */\nword:d"},
        {"/*/ x */y", "comment:/*/ x */\nword:y"},
        {"/**/x/***/", "comment:/**/\nword:x\ncomment:/***/"},
        {"/* open /* */", "broken comment:/* open /* */"},
        {"/*", "broken comment:/*"},
        {"-- a\r-- b", "comment:-- a\ncomment:-- b"},
        {"'--' -- '", "string:'--'\ncomment:-- '"},
        {"\"a\"\"b\" U&\"x\" \"\"", "quoted:\"a\"\"b\"\nquoted:U&\"x\"\nquoted:\"\""},
        {"\"open", "broken quoted:\"open"},
        {"h\xc3\xa9llo _a$1 \xff", "word:h\xc3\xa9llo\nword:_a$1\nword:\xff"},
        {"a/*$$*/$$b$$", "word:a\ncomment:/*$$*/\nstring:$$b$$"},
    };
    CHECK(CASES);
}

static void test_slots_are_bytes_of_a_template_only(void **state)
{
    (void) state;
    struct rh_sql_scan scan;
    struct rh_span text = {"\0\1\0a", 4};
    rh_sql_scan_init(&scan, text, true);
    assert_int_equal(rh_sql_scan_next(&scan).kind, RH_SQL_SLOT_CONSTANT);
    assert_int_equal(rh_sql_scan_next(&scan).kind, RH_SQL_SLOT_COMMENT);
    assert_int_equal(rh_sql_scan_next(&scan).kind, RH_SQL_SLOT_CONSTANT);
    assert_int_equal(rh_sql_scan_next(&scan).kind, RH_SQL_WORD);
    rh_sql_scan_init(&scan, text, false);
    assert_int_equal(rh_sql_scan_next(&scan).kind, RH_SQL_OTHER);
    assert_int_equal(rh_sql_scan_next(&scan).kind, RH_SQL_OTHER);
    rh_sql_scan_init(&scan, RH_SPAN_NONE, false);
    assert_int_equal(rh_sql_scan_next(&scan).kind, RH_SQL_END);
}

static void test_words_are_found_whatever_their_case(void **state)
{
    (void) state;
    for (int i = 1; i < RH_W_COUNT; i++) {
        const char *text = rh_sql_word_text((enum rh_sql_word) i);
        assert_int_equal(rh_sql_word_find(rh_span_cstr(text)), i);
        if (i > 1) {
            assert_true(strcmp(rh_sql_word_text((enum rh_sql_word)(i - 1)), text) < 0);
        }
    }
    assert_int_equal(rh_sql_word_find(RH_SPAN_LITERAL("SeLeCt")), RH_W_SELECT);
    assert_int_equal(rh_sql_word_find(RH_SPAN_LITERAL("selec")), RH_W_UNKNOWN);
    assert_int_equal(rh_sql_word_find(RH_SPAN_LITERAL("selects")), RH_W_UNKNOWN);
    assert_int_equal(rh_sql_word_find(RH_SPAN_LITERAL("")), RH_W_UNKNOWN);
    assert_int_equal(rh_sql_word_find(RH_SPAN_LITERAL("select\0")), RH_W_UNKNOWN);
    assert_int_equal(rh_sql_word_find(RH_SPAN_LITERAL("a_word_longer_than_all_keywords")),
                     RH_W_UNKNOWN);
    assert_int_equal(rh_sql_word_find(RH_SPAN_LITERAL("CURRENT_TIMESTAMP")),
                     RH_W_CURRENT_TIMESTAMP);
    assert_true(rh_sql_word_flags(RH_W_SELECT) & RH_WORD_SIGN);
    assert_false(rh_sql_word_flags(RH_W_END) & RH_WORD_SIGN);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_strings),
        cmocka_unit_test(test_dollar_quotes),
        cmocka_unit_test(test_numbers),
        cmocka_unit_test(test_operators),
        cmocka_unit_test(test_comments_and_names),
        cmocka_unit_test(test_slots_are_bytes_of_a_template_only),
        cmocka_unit_test(test_words_are_found_whatever_their_case),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
