#include "common/sql_word.h"

#include <stdint.h>
#include <string.h>

struct word {
    char text[RH_SQL_WORD_LEN_MAX + 1];
    uint8_t len;
    uint8_t flags;
};

#define WORD(id, word_text, word_flags) {word_text, sizeof(word_text) - 1, word_flags},
static const struct word WORDS[] = {{"", 0, 0}, RH_SQL_WORDS(WORD)};
#undef WORD

static int word_compare(const char *text, size_t len, const struct word *w)
{
    int c = memcmp(text, w->text, len < w->len ? len : w->len);
    return c ? c : (int) len - (int) w->len;
}

enum rh_sql_word rh_sql_word_find(struct rh_span word)
{
    char text[RH_SQL_WORD_LEN_MAX];
    if (word.len > sizeof text) {
        return RH_W_UNKNOWN;
    }
    for (size_t i = 0; i < word.len; i++) {
        char c = word.data[i];
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
