#include "common/sql_word.h"

#include <stdint.h>

struct word {
    char text[RH_SQL_WORD_LEN_MAX + 1];
    uint8_t flags;
};

#define WORD(id, word_text, word_flags) {word_text, word_flags},
static const struct word WORDS[] = {{"", 0}, RH_SQL_WORDS(WORD)};
#undef WORD

/* By bytes: most comparisons end at the first one, where a call of memcmp() would cost more. */
static inline int word_compare(const char *text, size_t len, const struct word *w)
{
    for (size_t i = 0; i < len; i++) {
        /* The word's NUL makes a longer text the greater one. */
        int c = (unsigned char) text[i] - (unsigned char) w->text[i];
        if (c) {
            return c;
        }
    }
    return w->text[len] ? -1 : 0;
}

enum rh_sql_word rh_sql_word_find(struct rh_span word)
{
    char text[RH_SQL_WORD_LEN_MAX];
    if (word.len > RH_SQL_WORD_LEN_MAX) {
        return RH_W_UNKNOWN;
    }
    for (size_t i = 0; i < word.len; i++) {
        char c = word.data[i];
        if (!c) {
            return RH_W_UNKNOWN; /* it would pass for the end of a word */
        }
        text[i] = (char) (c >= 'A' && c <= 'Z' ? c | 0x20 : c);
    }
    int low = 1;
    int high = RH_W_COUNT - 1;
    while (low <= high) {
        int middle = (low + high) / 2;
        int c = word_compare(text, word.len, &WORDS[middle]);
        if (c == 0) {
            return (enum rh_sql_word) middle;
        }
        if (c < 0) {
            high = middle - 1;
        } else {
            low = middle + 1;
        }
    }
    return RH_W_UNKNOWN;
}

unsigned rh_sql_word_flags(enum rh_sql_word word)
{
    return WORDS[word].flags;
}

const char *rh_sql_word_text(enum rh_sql_word word)
{
    return WORDS[word].text;
}
