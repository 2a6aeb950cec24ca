/*
 * Why a match is a split.  The scanner knows of what came before only the last two tokens (of
 * numbers and strings only that they are operands) and whether it is within ORDER BY or GROUP BY;
 * templates with BY do not take part.  So with equal pieces, and in each slot a literal of a shape
 * that the scanner has found there, it reads the same tokens, if each literal ends where it did
 * before.  The piece behind a slot makes sure of that: a number does not go on with a letter or a
 * point, and what follows a string (a quote behind blanks with a newline would continue it) is
 * decided within the piece.  A sign must be the one that was seen: behind "-" another "-" begins a
 * comment, "+" does not.
 */
#include "common/template_match.h"

#include "common/sql_lex.h"

enum shape { SHAPE_DIGITS = 1, SHAPE_MINUS = 2, SHAPE_PLUS = 4, SHAPE_STRING = 8 };

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static bool all_digits(const char *p, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        if (!is_digit(p[i])) {
            return false;
        }
    }
    return n > 0;
}

/* 0: of no shape that is known here. */
static unsigned shape_of(struct rh_span s)
{
    if (s.len == 0) {
        return 0;
    }
    switch (s.data[0]) {
    case '-':
        return all_digits(s.data + 1, s.len - 1) ? SHAPE_MINUS : 0;
    case '+':
        return all_digits(s.data + 1, s.len - 1) ? SHAPE_PLUS : 0;
    case '\'':
        return s.len >= 2 && memchr(s.data + 1, '\'', s.len - 1) == s.data + s.len - 1
                   ? SHAPE_STRING
                   : 0;
    default:
        return all_digits(s.data, s.len) ? SHAPE_DIGITS : 0;
    }
}

static bool has_by(struct rh_span tmpl)
{
    for (size_t i = 0; i + 1 < tmpl.len; i++) {
        if ((tmpl.data[i] | 0x20) == 'b' && (tmpl.data[i + 1] | 0x20) == 'y') {
            return true;
        }
    }
    return false;
}

/* Whether the end of any literal is plain from this piece behind it. */
static bool ends_literal(struct rh_span piece, bool is_last)
{
    if (piece.len == 0) {
        return is_last;
    }
    char first = piece.data[0];
    if (rh_lex_table[(uint8_t) first] & RH_LEX_IN_WORD || first == '.' || first == '\'') {
        return false;
    }
    size_t i = 0;
    while (i < piece.len && rh_lex_class_of(piece.data[i]) == RH_LEX_SPACE) {
        i++;
    }
    return i < piece.len ? piece.data[i] != '-' : is_last;
}

static bool cut_pieces(struct rh_template_match *m, struct rh_span tmpl)
{
    uint32_t slot = 0;
    size_t begin = 0;
    for (size_t i = 0; i <= tmpl.len; i++) {
        if (i < tmpl.len && rh_lex_class_of(tmpl.data[i]) != RH_LEX_SLOT) {
            continue;
        }
        struct rh_span piece = rh_span(tmpl.data + begin, i - begin);
        if (slot > 0 && !ends_literal(piece, i == tmpl.len)) {
            return false;
        }
        if (i < tmpl.len && tmpl.data[i] != RH_TEMPLATE_CONSTANT) {
            return false;
        }
        m->piece_lens[slot++] = (uint32_t) piece.len;
        begin = i + 1;
    }
    return true;
}

void rh_template_match_learn(struct rh_template_match *m, struct rh_span tmpl,
                             const struct rh_span *literals, uint32_t count, struct rh_arena *arena)
{
    if (!m->learned) {
        m->learned = true;
        m->slot_count = count;
        if (count >= RH_TEMPLATE_SLOTS_MAX || tmpl.len > UINT32_MAX || has_by(tmpl)) {
            return;
        }
        m->piece_lens = rh_arena_alloc(arena, (count + 1) * sizeof *m->piece_lens);
        m->seen = rh_arena_alloc(arena, count + 1);
        memset(m->seen, 0, count + 1);
        m->usable = cut_pieces(m, tmpl);
    }
    for (uint32_t i = 0; m->usable && i < count; i++) {
        unsigned shape = shape_of(literals[i]);
        m->seen[i] |= (uint8_t) shape;
    }
}

/* To the first byte from p on that is no digit. */
static inline const char *skip_digits(const char *p, const char *end)
{
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
    /* Eight at a time: 0x80 in the lowest byte that is none, anything in those above it. */
    while (end - p >= 8) {
        uint64_t w;
        memcpy(&w, p, sizeof w);
        w ^= UINT64_C(0x3030303030303030);
        w = ((w + UINT64_C(0x7676767676767676)) | w) & UINT64_C(0x8080808080808080);
        if (w) {
            return p + __builtin_ctzll(w) / 8;
        }
        p += sizeof w;
    }
#endif
    while (p < end && is_digit(*p)) {
        p++;
    }
    return p;
}

/* From the start of a literal of a shape seen there to its end; NULL if there is none. */
static inline const char *literal_end(const char *p, const char *end, unsigned seen)
{
    if (p == end) {
        return NULL;
    }
    if (*p == '\'') {
        const char *quote =
            seen & SHAPE_STRING ? memchr(p + 1, '\'', (size_t) (end - p - 1)) : NULL;
        return quote ? quote + 1 : NULL;
    }
    unsigned shape = *p == '-' ? SHAPE_MINUS : *p == '+' ? SHAPE_PLUS : SHAPE_DIGITS;
    if (!(seen & shape)) {
        return NULL;
    }
    p += shape != SHAPE_DIGITS;
    const char *digits = p;
    p = skip_digits(p, end);
    return p > digits ? p : NULL;
}

bool rh_template_match_split(const struct rh_template_match *m, struct rh_span tmpl,
                             struct rh_span text, struct rh_literals *literals)
{
    if (!m->usable) {
        return false;
    }
    const char *from = tmpl.data;
    const char *p = text.data;
    const char *end = p + text.len;
    for (uint32_t i = 0; i < m->slot_count; i++) {
        size_t n = m->piece_lens[i];
        if (n > (size_t) (end - p) || memcmp(p, from, n) != 0) {
            return false;
        }
        p += n;
        from += n + 1;
        const char *stop = literal_end(p, end, m->seen[i]);
        if (!stop) {
            return false;
        }
        literals->items[i] = rh_span(p, (size_t) (stop - p));
        p = stop;
    }
    size_t n = m->piece_lens[m->slot_count];
    literals->count = m->slot_count;
    literals->capped = false;
    return n == (size_t) (end - p) && memcmp(p, from, n) == 0;
}
