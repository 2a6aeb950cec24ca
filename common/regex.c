#include "common/regex.h"

#include <stdio.h>

#define PCRE2_CODE_UNIT_WIDTH 8
#include <pcre2.h>

#include "common/alloc.h"

/*
 * Backtracking steps of one match.  A statement of the usual few hundred bytes takes thousands; a
 * pattern like (a+)+b on a long run of a's would take 2^n.
 */
enum { MATCH_LIMIT = 2 * 1000 * 1000, HEAP_LIMIT_KIB = 64 * 1024 };
enum { JIT_STACK_START_BYTES = 64 * 1024, JIT_STACK_MAX_BYTES = 4 * 1024 * 1024 };

struct rh_regex {
    char *pattern;
    pcre2_code *code;
    pcre2_match_data *match;
    pcre2_match_context *limits;
    pcre2_jit_stack *jit_stack;
};

static int regex_error(const struct rh_regex *re, int code, const char *what, struct rh_error *err)
{
    unsigned char reason[200];
    if (pcre2_get_error_message(code, reason, sizeof reason) < 0) {
        reason[0] = '\0';
    }
    return rh_error_set(err, RH_ERR_LIMIT, "%s \"%s\": %s", what, re->pattern,
                        (const char *) reason);
}

int rh_regex_new(struct rh_regex **out, const char *pattern, struct rh_error *err)
{
    int code;
    PCRE2_SIZE at;
    struct rh_regex *re = rh_calloc(1, sizeof *re);
    re->pattern = rh_strdup(pattern);
    /* NEVER_UTF: a pattern must not turn on the UTF mode, in which other bytes are errors. */
    re->code =
        pcre2_compile((PCRE2_SPTR) pattern, PCRE2_ZERO_TERMINATED,
                      PCRE2_DOTALL | PCRE2_NEVER_UTF | PCRE2_NEVER_BACKSLASH_C, &code, &at, NULL);
    if (!re->code) {
        char what[80];
        snprintf(what, sizeof what, "bad pattern at character %zu of", (size_t) at + 1);
        regex_error(re, code, what, err);
        if (err) {
            err->code = RH_ERR_USAGE;
        }
        rh_regex_free(re);
        return -1;
    }
    re->match = pcre2_match_data_create(1, NULL);
    re->limits = pcre2_match_context_create(NULL);
    if (!re->match || !re->limits) {
        rh_regex_free(re);
        return rh_error_set(err, RH_ERR_LIMIT, "no memory for the pattern \"%s\"", pattern);
    }
    pcre2_set_match_limit(re->limits, MATCH_LIMIT);
    pcre2_set_heap_limit(re->limits, HEAP_LIMIT_KIB);
    if (pcre2_jit_compile(re->code, PCRE2_JIT_COMPLETE) == 0) {
        re->jit_stack = pcre2_jit_stack_create(JIT_STACK_START_BYTES, JIT_STACK_MAX_BYTES, NULL);
        pcre2_jit_stack_assign(re->limits, NULL, re->jit_stack);
    }
    *out = re;
    return 0;
}

int rh_regex_match(struct rh_regex *re, struct rh_span text, struct rh_error *err)
{
    int code = pcre2_match(re->code, (PCRE2_SPTR) (text.data ? text.data : ""), text.len, 0, 0,
                           re->match, re->limits);
    if (code >= 0) {
        return 1;
    }
    if (code == PCRE2_ERROR_NOMATCH) {
        return 0;
    }
    return regex_error(re, code, "gave up on matching the pattern", err);
}

void rh_regex_free(struct rh_regex *re)
{
    if (re) {
        pcre2_jit_stack_free(re->jit_stack);
        pcre2_match_context_free(re->limits);
        pcre2_match_data_free(re->match);
        pcre2_code_free(re->code);
        rh_free(re->pattern);
        rh_free(re);
    }
}
