/* formats/log_time.c */
#include "formats/log_time.h"

#include <string.h>

#include "common/clock.h"
#include "formats/log_digits.h"

enum {
    MINUTE_CHARS = 16,
    OFFSET_MAX_S = 16 * 3600,
    OFFSET_STEP_S = 900,
    /* A 64-bit count of nanoseconds ends in 2262. */
    YEAR_MIN = 1970,
    YEAR_MAX = 2250,
};

/* Only names that mean one offset wherever PostgreSQL prints them. */
static const struct {
    const char *name;
    int16_t minutes;
} known_zones[] = {
    {"", 0},       {"UTC", 0},    {"GMT", 0},    {"Z", 0},       {"UCT", 0},     {"WET", 0},
    {"WEST", 60},  {"CET", 60},   {"CEST", 120}, {"EET", 120},   {"EEST", 180},  {"MSK", 180},
    {"SAST", 120}, {"EAT", 180},  {"WAT", 60},   {"CAT", 120},   {"PKT", 300},   {"WIB", 420},
    {"HKT", 480},  {"JST", 540},  {"KST", 540},  {"AWST", 480},  {"ACST", 570},  {"ACDT", 630},
    {"AEST", 600}, {"AEDT", 660}, {"NZST", 720}, {"NZDT", 780},  {"NST", -210},  {"NDT", -150},
    {"AST", -240}, {"ADT", -180}, {"EST", -300}, {"EDT", -240},  {"CDT", -300},  {"MST", -420},
    {"MDT", -360}, {"PST", -480}, {"PDT", -420}, {"AKST", -540}, {"AKDT", -480}, {"HST", -600},
};

void rh_log_clock_init(struct rh_log_clock *c)
{
    memset(c, 0, sizeof *c);
    c->last_utc_ns = INT64_MIN;
}

static int two_digits(const char *p)
{
    unsigned tens = (unsigned char) p[0] - '0', ones = (unsigned char) p[1] - '0';
    return tens > 9 || ones > 9 ? -1 : (int) (tens * 10 + ones);
}

/* "+03", "-0330", "+5:45", also behind a name ("GMT+3"), where the sign is POSIX's. */
static int32_t offset_of_digits(const char *p, size_t n, bool posix)
{
    bool west = (p[0] == '-') != posix;
    int32_t hours = 0, minutes = 0;
    size_t digits = 0, i = 1;
    for (; i < n && p[i] >= '0' && p[i] <= '9' && digits < 4; i++, digits++) {
        hours = hours * 10 + (p[i] - '0');
    }
    if (digits == 0) {
        return RH_LOG_OFFSET_UNKNOWN;
    }
    if (digits > 2) {
        minutes = hours % 100;
        hours /= 100;
    } else if (i + 3 == n && p[i] == ':') {
        minutes = two_digits(p + i + 1);
        i += 3;
    }
    if (i != n || hours > 16 || minutes < 0 || minutes > 59) {
        return RH_LOG_OFFSET_UNKNOWN;
    }
    int32_t offset = hours * 3600 + minutes * 60;
    return west ? -offset : offset;
}

static int32_t offset_of_name(const char *name, size_t n)
{
    for (size_t i = 0; i < sizeof known_zones / sizeof known_zones[0]; i++) {
        if (strlen(known_zones[i].name) == n && memcmp(known_zones[i].name, name, n) == 0) {
            return known_zones[i].minutes * 60;
        }
    }
    for (size_t i = 0; i < n; i++) {
        if (name[i] == '+' || name[i] == '-') {
            return offset_of_digits(name + i, n - i, i > 0);
        }
    }
    return RH_LOG_OFFSET_UNKNOWN;
}

/* A zone name is letters, digits, signs, '/', '_' and ':', as tzdata has them. */
static bool is_zone_name(struct rh_span s)
{
    if (s.len > RH_LOG_ZONE_NAME_MAX) {
        return false;
    }
    for (size_t i = 0; i < s.len; i++) {
        unsigned char ch = (unsigned char) s.data[i];
        bool letter = (ch >= 'A' && ch <= 'Z') || (ch >= 'a' && ch <= 'z');
        bool digit = ch >= '0' && ch <= '9';
        if (!letter && !digit && ch != '+' && ch != '-' && ch != '/' && ch != '_' && ch != ':' &&
            ch < 0x80) {
            return false;
        }
    }
    return true;
}

static bool zone_find(struct rh_log_clock *c, struct rh_span name, uint32_t *zone)
{
    const struct rh_log_zone *last = &c->zones[c->last_zone];
    if (c->zone_count > 0 && last->len == name.len &&
        memcmp(last->name, name.data, name.len) == 0) {
        *zone = c->last_zone;
        return true;
    }
    for (uint32_t i = 0; i < c->zone_count; i++) {
        if (c->zones[i].len == name.len && memcmp(c->zones[i].name, name.data, name.len) == 0) {
            *zone = c->last_zone = i;
            return true;
        }
    }
    if (!is_zone_name(name) || c->zone_count == RH_LOG_ZONES_MAX) {
        return false;
    }
    struct rh_log_zone *z = &c->zones[c->zone_count];
    memcpy(z->name, name.data, name.len);
    z->name[name.len] = '\0';
    z->len = (uint8_t) name.len;
    z->offset_s = offset_of_name(z->name, z->len);
    z->learned = false;
    *zone = c->last_zone = c->zone_count++;
    return true;
}

/* "2026-01-31 13:05", remembered. */
static bool minute_parse(struct rh_log_clock *c, const char *p)
{
    if (memcmp(c->minute_text, p, MINUTE_CHARS) == 0) {
        return true;
    }
    int century = two_digits(p), years = two_digits(p + 2), month = two_digits(p + 5);
    int day = two_digits(p + 8), hour = two_digits(p + 11), minute = two_digits(p + 14);
    if (century < 0 || years < 0 || month < 1 || month > 12 || day < 1 || day > 31 || hour < 0 ||
        hour > 23 || minute < 0 || minute > 59 || century * 100 + years < YEAR_MIN ||
        century * 100 + years > YEAR_MAX || p[4] != '-' || p[7] != '-' || p[13] != ':' ||
        (p[10] != ' ' && p[10] != 'T')) {
        return false;
    }
    int64_t days = rh_civil_to_days(century * 100 + years, month, day);
    c->minute_ns = (days * 1440 + hour * 60 + minute) * 60 * RH_NS_PER_SEC;
    memcpy(c->minute_text, p, MINUTE_CHARS);
    return true;
}

bool rh_log_stamp_repeat(const struct rh_log_clock *c, struct rh_span text,
                         struct rh_log_stamp *stamp)
{
    enum { ZONE_AT = MINUTE_CHARS + 8 };
    const struct rh_log_zone *z = &c->zones[c->last_zone];
    if (c->zone_count == 0 || text.len != ZONE_AT + (size_t) z->len ||
        memcmp(text.data, c->minute_text, MINUTE_CHARS) != 0) {
        return false;
    }
    for (size_t i = 0; i < z->len; i++) {
        if (text.data[ZONE_AT + i] != z->name[i]) {
            return false;
        }
    }
    int64_t ms = rh_log_digits_seconds(text.data + MINUTE_CHARS);
    if (ms < 0 || ms >= 61000) {
        return false;
    }
    stamp->local_ns = c->minute_ns + ms * (RH_NS_PER_SEC / 1000);
    stamp->zone = c->last_zone;
    return true;
}

bool rh_log_stamp_parse(struct rh_log_clock *c, struct rh_span text, struct rh_log_stamp *stamp)
{
    const char *p = text.data;
    if (rh_log_stamp_repeat(c, text, stamp)) {
        return true;
    }
    if (text.len < 19 || !minute_parse(c, p)) {
        return false;
    }
    int second = two_digits(p + 17);
    if (p[16] != ':' || second < 0 || second > 60) {
        return false;
    }
    int64_t ns = second * RH_NS_PER_SEC;
    size_t at = 19;
    if (at < text.len && p[at] == '.') {
        int64_t unit = RH_NS_PER_SEC / 10;
        for (at++; at < text.len && p[at] >= '0' && p[at] <= '9'; at++, unit /= 10) {
            ns += (p[at] - '0') * unit;
        }
        if (p[at - 1] == '.') {
            return false;
        }
    }
    if (at < text.len && p[at] == ' ') {
        at++;
    }
    stamp->local_ns = c->minute_ns + ns;
    return zone_find(c, rh_span(p + at, text.len - at), &stamp->zone);
}

int32_t rh_log_clock_learn(struct rh_log_clock *c, struct rh_log_stamp start, int64_t epoch_s)
{
    int64_t local_s = start.local_ns / RH_NS_PER_SEC;
    int64_t offset = local_s - epoch_s;
    if (offset > OFFSET_MAX_S || offset < -OFFSET_MAX_S || offset % OFFSET_STEP_S != 0) {
        return RH_LOG_OFFSET_UNKNOWN;
    }
    c->zones[start.zone].offset_s = (int32_t) offset;
    c->zones[start.zone].learned = true;
    return (int32_t) offset;
}

/*
 * An abbreviation seen for the first time, not in the table, in a session whose own abbreviation is
 * another one: summer time has begun or ended.  Take the offset next to the session's that brings
 * the stamp closest to the one before.
 */
static int32_t offset_guess(const struct rh_log_clock *c, int64_t local_ns, int32_t near_s)
{
    static const int32_t steps[] = {0, 3600, -3600, 1800, -1800};
    if (near_s == RH_LOG_OFFSET_UNKNOWN) {
        near_s = 0;
    }
    if (c->last_utc_ns == INT64_MIN) {
        return near_s;
    }
    int32_t best = near_s;
    int64_t best_distance = INT64_MAX;
    for (size_t i = 0; i < sizeof steps / sizeof steps[0]; i++) {
        int64_t utc = local_ns - (near_s + steps[i]) * RH_NS_PER_SEC;
        int64_t distance = utc > c->last_utc_ns ? utc - c->last_utc_ns : c->last_utc_ns - utc;
        if (distance < best_distance) {
            best_distance = distance;
            best = near_s + steps[i];
        }
    }
    return best;
}

/* Australia once had an EST and an EDT, too: a zone known by name alone must be near the session's.
 */
static bool is_plausible(int32_t offset, int32_t session_offset)
{
    if (offset == RH_LOG_OFFSET_UNKNOWN || session_offset == RH_LOG_OFFSET_UNKNOWN) {
        return offset != RH_LOG_OFFSET_UNKNOWN;
    }
    int32_t distance = offset - session_offset;
    return distance <= 2 * 3600 && distance >= -2 * 3600;
}

int64_t rh_log_clock_utc(struct rh_log_clock *c, struct rh_log_stamp stamp, uint32_t session_zone,
                         int32_t session_offset_s)
{
    struct rh_log_zone *z = &c->zones[stamp.zone];
    int32_t offset = z->offset_s;
    if (session_offset_s != RH_LOG_OFFSET_UNKNOWN && session_zone == stamp.zone) {
        offset = session_offset_s;
    } else if (!z->learned && !is_plausible(offset, session_offset_s)) {
        offset = offset_guess(c, stamp.local_ns, session_offset_s);
        z->offset_s = offset;
        z->learned = true;
    }
    c->last_utc_ns = stamp.local_ns - offset * RH_NS_PER_SEC;
    return c->last_utc_ns;
}
