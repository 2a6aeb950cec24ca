#include "tests/wire/wire_variants.h"

#include <stdio.h>

#include "tests/wire/wire_mangle.h"

static const struct wire_records_options plain = {.link = &wire_links[0], .format = WIRE_PCAP_NS};

static void fault(struct wire_variants *v, const char *variant, const char *what,
                  const char *wanted, const char *found)
{
    if (!v->fault[0]) {
        snprintf(v->fault, sizeof v->fault, "%s: %s\n  wanted: %.1500s\n  found:  %.1500s", variant,
                 what, wanted, found);
    }
}

static const char *line_or_end(const struct wire_records *r, size_t i)
{
    return i < r->count ? wire_records_line(r, i) : "(no more)";
}

static void expect_same(struct wire_variants *v, const char *variant,
                        const struct wire_records *wanted, const struct wire_records *found)
{
    size_t i = 0;
    while (i < wanted->count && i < found->count &&
           strcmp(wire_records_line(wanted, i), wire_records_line(found, i)) == 0) {
        i++;
    }
    if (i < wanted->count || i < found->count) {
        fault(v, variant, "another record", line_or_end(wanted, i), line_or_end(found, i));
    }
}

/* A later fetch is an execution where a loss has made its portal unknown: all count alike. */
static bool is_counted(enum rh_kind kind)
{
    return rh_kind_is_statement(kind) || kind == RH_KIND_FETCH;
}

void wire_variants_open(struct wire_variants *v, const char *path, uint16_t port)
{
    struct rh_error err = {0};
    struct wire_records_options timeless = plain;
    *v = (struct wire_variants){0};
    timeless.without_times = true;
    if (wire_recorded_read(&v->conversations, path, port, &err) != 0) {
        fault(v, path, err.text, "", "");
        return;
    }
    wire_records_make(&v->whole, &v->conversations, &plain);
    wire_records_make(&v->timeless, &v->conversations, &timeless);
    for (size_t i = 0; i < v->whole.count; i++) {
        v->statements += is_counted(v->whole.list[i].kind);
    }
}

void wire_variants_release(struct wire_variants *v)
{
    wire_recorded_release(&v->conversations);
    wire_records_release(&v->whole);
    wire_records_release(&v->timeless);
}

/* ------------------------------------------------------------------------------------------------
 * Without loss
 */

/* Whether packets keep their times, and bytes the packets that brought them: then times are the
 * same too. */
static bool keeps_times(enum wire_mangling how)
{
    switch (how) {
    case WIRE_MANGLE_NONE:
    case WIRE_MANGLE_DUPLICATE:
    case WIRE_MANGLE_SPLIT:
    case WIRE_MANGLE_SPLIT_SMALL:
    case WIRE_MANGLE_KEEPALIVE:
    case WIRE_MANGLE_SYN_AGAIN:
    case WIRE_MANGLE_WRAP:
        return true;
    default:
        return false;
    }
}

/* Where one that was joined midway begins is told by its first segments: those stay. */
static bool is_joined_midway(const struct wire_talk *t)
{
    return t->segments[0].flags != RH_TCP_SYN;
}

static bool is_cancel(const struct wire_talk *t)
{
    const struct rh_buf *b = &t->stream[RH_TCP_CLIENT];
    return b->len >= 16 && memcmp(b->data + 4, "\x04\xd2\x16\x2e", 4) == 0;
}

/* A cancel request and the statement that it hits are of two connections, which have nothing but
 * the clock in common: where times are moved the two stay as they are. */
static bool is_cancelled(const struct wire_variants *v, const struct wire_talk *t)
{
    for (size_t i = 0; i < v->whole.count; i++) {
        if (v->whole.list[i].kind == RH_KIND_CANCEL &&
            v->whole.list[i].session == t->port[RH_TCP_CLIENT]) {
            return true;
        }
    }
    return is_cancel(t);
}

static bool may_be_mangled(const struct wire_variants *v, const struct wire_talk *t,
                           enum wire_mangling how)
{
    bool keeps_order = how == WIRE_MANGLE_NONE || how == WIRE_MANGLE_DUPLICATE ||
                       how == WIRE_MANGLE_JOIN || how == WIRE_MANGLE_KEEPALIVE ||
                       how == WIRE_MANGLE_WRAP;
    return (keeps_order || !is_joined_midway(t)) && (keeps_times(how) || !is_cancelled(v, t));
}

static void try_one(struct wire_variants *v, const char *variant, uint64_t seed,
                    enum wire_mangling how, const struct wire_records_options *options)
{
    struct wire_random r = {seed};
    struct wire_recorded mangled;
    struct wire_records found;
    struct wire_records_options own = *options;
    own.without_times = own.without_times || !keeps_times(how);
    wire_recorded_copy(&mangled, &v->conversations);
    for (size_t i = 0; i < mangled.count; i++) {
        if (may_be_mangled(v, &mangled.talks[i], how)) {
            wire_mangle(&mangled.talks[i], how, &r);
        }
    }
    wire_records_make(&found, &mangled, &own);
    expect_same(v, variant, own.without_times ? &v->timeless : &v->whole, &found);
    v->tried++;
    wire_records_release(&found);
    wire_recorded_release(&mangled);
}

void wire_variants_try_lossless(struct wire_variants *v, uint64_t seed, bool small)
{
    for (enum wire_mangling how = 0; how < WIRE_MANGLE_COUNT; how++) {
        char name[100];
        snprintf(name, sizeof name, "mangling %d, seed %llu", how, (unsigned long long) seed);
        if (small || how != WIRE_MANGLE_SPLIT_SMALL) {
            try_one(v, name, seed, how, &plain);
        }
    }
}

void wire_variants_try_links(struct wire_variants *v, uint64_t seed)
{
    for (unsigned i = 0; i < WIRE_LINK_COUNT; i++) {
        struct wire_records_options o = {
            .link = &wire_links[i], .format = WIRE_PCAP_NS, .swapped = i % 2 == 1};
        try_one(v, wire_links[i].name, seed + i, WIRE_MANGLE_NONE, &o);
        o.format = WIRE_NG_NS;
        try_one(v, wire_links[i].name, seed + i, WIRE_MANGLE_ALL, &o);
    }
    for (enum wire_format format = 0; format < WIRE_FORMAT_COUNT; format++) {
        struct wire_records_options o = {
            .link = &wire_links[0], .format = format, .without_times = true};
        char name[40];
        snprintf(name, sizeof name, "file format %d", format);
        try_one(v, name, seed, WIRE_MANGLE_NONE, &o);
    }
}

/* ------------------------------------------------------------------------------------------------
 * With loss
 */

static bool is_comparable(const struct wire_record *r)
{
    return rh_kind_is_statement(r->kind) && r->hold == RH_REASON_NONE;
}

static bool outcome_fits(const struct wire_record *whole, const struct wire_record *found)
{
    if (found->sqlstate == RH_SQLSTATE_UNKNOWN) {
        return found->rows == RH_COUNT_UNKNOWN ||
               found->rows <= whole->rows; /* those that were seen */
    }
    return found->sqlstate == whole->sqlstate && found->rows == whole->rows;
}

/* The first record from `at` on of the same session that says the same, with that outcome. */
static size_t seek(const struct wire_records *whole, size_t at, const struct wire_records *found,
                   size_t i)
{
    const struct wire_record *r = &found->list[i];
    while (at < whole->count &&
           (whole->list[at].session != r->session || !is_comparable(&whole->list[at]) ||
            !outcome_fits(&whole->list[at], r) ||
            strcmp(wire_records_said(whole, at), wire_records_said(found, i)) != 0)) {
        at++;
    }
    return at;
}

/* Every statement is one that was said, in its order, with its outcome or none. */
static void expect_nothing_invented(struct wire_variants *v, const char *variant,
                                    const struct wire_records *found)
{
    size_t at = 0;
    uint32_t statements = 0;
    uint64_t ordinal = 0;
    for (size_t i = 0; i < found->count; i++) {
        const struct wire_record *r = &found->list[i];
        statements += is_counted(r->kind);
        if (i == 0 || r->session != r[-1].session) {
            ordinal = 0;
        }
        if (r->ordinal > 0 && r->ordinal != ++ordinal) {
            fault(v, variant, "not its ordinal", "the next one", wire_records_line(found, i));
        }
        if (!is_comparable(r)) {
            continue;
        }
        size_t twin = seek(&v->whole, at, found, i);
        if (twin == v->whole.count) {
            fault(v, variant, "made up, not in its place, or not its outcome",
                  line_or_end(&v->whole, at), wire_records_line(found, i));
            return;
        }
        at = twin + 1;
    }
    if (statements > v->statements) {
        fault(v, variant, "more statements than there were", "", "");
    }
    v->kept += statements;
    v->could_keep += v->statements;
}

static void expect_marked(struct wire_variants *v, const char *variant,
                          const struct wire_records *found)
{
    for (size_t i = 0; i < found->count; i++) {
        if (found->list[i].kind == RH_KIND_GAP || found->list[i].joined_midway) {
            return;
        }
    }
    fault(v, variant, "loss that is not marked", "a gap", "none");
}

/* A later segment tells that these bytes were sent, and no other copy of them is there. */
static bool is_noticeable(const struct wire_talk *t, const struct wire_segment *lost)
{
    bool told = false;
    bool joined = is_joined_midway(t);
    uint64_t from = lost->offset;
    for (size_t i = 0; i < t->count; i++) {
        const struct wire_segment *s = &t->segments[i];
        if (s->side != lost->side) {
            told = told || s->ack > lost->offset;
            continue;
        }
        told = told || s->offset + s->len > lost->offset + lost->len;
        joined = joined && s->offset >= lost->offset; /* what was said before is not missed */
        if (s->offset <= from && s->offset + s->len > from) {
            from = s->offset + s->len; /* copies in order, as they are in most captures */
        }
    }
    return told && !joined && from < lost->offset + lost->len;
}

static void check_lossy(struct wire_variants *v, const char *variant,
                        const struct wire_recorded *mangled,
                        const struct wire_records_options *options, bool noticeable)
{
    struct wire_records found;
    wire_records_make(&found, mangled, options);
    expect_nothing_invented(v, variant, &found);
    if (noticeable) {
        expect_marked(v, variant, &found);
    }
    v->tried++;
    wire_records_release(&found);
}

static bool has_payload(const struct wire_talk *t)
{
    for (size_t i = 0; i < t->count; i++) {
        if (t->segments[i].len > 0) {
            return true;
        }
    }
    return false;
}

static void drop_segments(struct wire_variants *v, uint64_t seed)
{
    enum { MOST = 3 };
    struct wire_random r = {seed};
    struct wire_recorded mangled;
    struct wire_segment lost[MOST];
    const struct wire_talk *of[MOST];
    uint32_t count = 0;
    bool noticeable = false;
    char name[60];
    snprintf(name, sizeof name, "segments missing, seed %llu", (unsigned long long) seed);
    wire_recorded_copy(&mangled, &v->conversations);
    for (uint32_t n = 1 + wire_random_below(&r, MOST); n > 0; n--) {
        struct wire_talk *t = &mangled.talks[wire_random_below(&r, (uint32_t) mangled.count)];
        if (!has_payload(t)) {
            continue;
        }
        if (n % 2) {
            wire_mangle_split(t, &r, 300);
        }
        of[count] = t;
        lost[count++] = wire_mangle_drop(t, &r);
    }
    for (uint32_t i = 0; i < count; i++) {
        noticeable = noticeable || is_noticeable(of[i], &lost[i]);
    }
    check_lossy(v, name, &mangled, &plain, noticeable);
    wire_recorded_release(&mangled);
}

static void cut_packets(struct wire_variants *v)
{
    static const uint32_t snaplens[] = {66, 90, 128, 500};
    for (size_t i = 0; i < sizeof snaplens / sizeof *snaplens; i++) {
        struct wire_records_options options = plain;
        char name[60];
        bool cut = false;
        options.snaplen = snaplens[i];
        for (size_t k = 0; k < v->conversations.count; k++) {
            const struct wire_talk *t = &v->conversations.talks[k];
            for (size_t n = 0; n < t->count; n++) {
                cut = cut || t->segments[n].len + 66 > snaplens[i];
            }
        }
        snprintf(name, sizeof name, "packets cut at %u bytes", (unsigned) snaplens[i]);
        check_lossy(v, name, &v->conversations, &options, cut);
    }
}

/* Each session that has statements is marked. */
static void expect_all_marked(struct wire_variants *v, const char *variant,
                              const struct wire_records *found)
{
    bool marked = false;
    for (size_t i = found->count; i-- > 0;) {
        const struct wire_record *r = &found->list[i];
        bool is_last = i + 1 == found->count || r->session != r[1].session;
        marked = (marked && !is_last) || r->kind == RH_KIND_GAP || r->joined_midway;
        if (!marked && rh_kind_is_statement(r->kind)) {
            fault(v, variant, "loss that is not marked", "a mark", wire_records_line(found, i));
        }
    }
}

/* Each conversation is joined somewhere behind its handshake. */
static void drop_beginnings(struct wire_variants *v, uint64_t seed)
{
    struct wire_random r = {seed};
    struct wire_recorded mangled;
    struct wire_records found;
    char name[60];
    snprintf(name, sizeof name, "joined midway, seed %llu", (unsigned long long) seed);
    wire_recorded_copy(&mangled, &v->conversations);
    for (size_t i = 0; i < mangled.count; i++) {
        struct wire_talk *t = &mangled.talks[i];
        size_t most = t->count > WIRE_HANDSHAKE ? t->count - WIRE_HANDSHAKE : 1;
        wire_mangle_drop_first(t, t->count - most + wire_random_below(&r, (uint32_t) most));
    }
    wire_records_make(&found, &mangled, &plain);
    expect_nothing_invented(v, name, &found);
    expect_all_marked(v, name, &found);
    v->tried++;
    wire_records_release(&found);
    wire_recorded_release(&mangled);
}

static void drop_side(struct wire_variants *v, enum rh_tcp_side side)
{
    struct wire_recorded mangled;
    wire_recorded_copy(&mangled, &v->conversations);
    for (size_t i = 0; i < mangled.count; i++) {
        wire_mangle_drop_side(&mangled.talks[i], side);
    }
    check_lossy(v, side == RH_TCP_CLIENT ? "no client" : "no server", &mangled, &plain, true);
    wire_recorded_release(&mangled);
}

void wire_variants_try_lossy(struct wire_variants *v, uint64_t seed, unsigned rounds)
{
    if (v->conversations.count == 0) {
        return;
    }
    for (unsigned i = 0; i < rounds; i++) {
        drop_segments(v, seed + i);
        drop_beginnings(v, seed + i);
    }
    cut_packets(v);
    drop_side(v, RH_TCP_CLIENT);
    drop_side(v, RH_TCP_SERVER);
}
