#include "common/clock.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>
#include <time.h>

enum { SECONDS_PER_DAY = 86400 };
/* Whole years whose nanoseconds fit in 64 bits. */
enum { YEAR_MIN = 1678, YEAR_MAX = 2261 };
#define EPOCH_SECONDS_MAX INT64_C(9223372035)

static int64_t clock_read_ns(clockid_t clock)
{
    struct timespec t;
    clock_gettime(clock, &t);
    return (int64_t) t.tv_sec * RH_NS_PER_SEC + t.tv_nsec;
}

int64_t rh_clock_mono_ns(void)
{
    return clock_read_ns(CLOCK_MONOTONIC);
}

int64_t rh_clock_wall_ns(void)
{
    return clock_read_ns(CLOCK_REALTIME);
}

static int64_t floor_div(int64_t a, int64_t b)
{
    return a / b - (a % b < 0);
}

/*
 * Years are counted from March, so that the leap day is the last of its year and the months before
 * it have lengths of a fixed pattern: (153 * m + 2) / 5 days lie before month m (March is 0).
 */
int64_t rh_civil_to_days(int year, int month, int day)
{
    int64_t y = month > 2 ? year : (int64_t) year - 1;
    int64_t m = month > 2 ? month - 3 : month + 9;
    int64_t leap_days = floor_div(y, 4) - floor_div(y, 100) + floor_div(y, 400);
    /* 719468 days lie between 0000-03-01 and 1970-01-01. */
    return y * 365 + leap_days + (153 * m + 2) / 5 + day - 1 - 719468;
}

static void days_to_civil(int64_t days, int *year, int *month, int *day)
{
    /* A guess that is at most one year late or early, then corrected. */
    int64_t y = 1970 + floor_div(days * 400, 146097);
    while (rh_civil_to_days((int) y, 3, 1) > days) {
        y--;
    }
    while (rh_civil_to_days((int) y + 1, 3, 1) <= days) {
        y++;
    }
    int64_t day_of_year = days - rh_civil_to_days((int) y, 3, 1);
    int64_t m = (5 * day_of_year + 2) / 153;
    *day = (int) (day_of_year - (153 * m + 2) / 5 + 1);
    *month = (int) (m < 10 ? m + 3 : m - 9);
    *year = (int) (m < 10 ? y : y + 1);
}

char *rh_time_format(int64_t wall_ns, char text[RH_TIME_TEXT_SIZE])
{
    int64_t us = floor_div(wall_ns, RH_NS_PER_US);
    int64_t seconds = floor_div(us, 1000000);
    int64_t days = floor_div(seconds, SECONDS_PER_DAY);
    int of_day = (int) (seconds - days * SECONDS_PER_DAY);
    int year;
    int month;
    int day;
    days_to_civil(days, &year, &month, &day);
    snprintf(text, RH_TIME_TEXT_SIZE, "%04d-%02d-%02dT%02d:%02d:%02d.%06dZ", year, month, day,
             of_day / 3600, of_day / 60 % 60, of_day % 60, (int) (us - seconds * 1000000));
    return text;
}

struct time_fields {
    int year, month, day, hour, minute, second;
    int64_t fraction_ns;
    bool has_zone;
    int zone_seconds; /* east of Greenwich */
};

/* Exactly `digits` decimal digits. */
static bool take_number(const char **at, int digits, int *value)
{
    *value = 0;
    for (int i = 0; i < digits; i++) {
        char c = (*at)[i];
        if (c < '0' || c > '9') {
            return false;
        }
        *value = *value * 10 + (c - '0');
    }
    *at += digits;
    return true;
}

static bool take_char(const char **at, char c)
{
    if (**at != c) {
        return false;
    }
    (*at)++;
    return true;
}

/* Digits behind a decimal point; those beyond nanoseconds are read and dropped. */
static bool take_fraction(const char **at, int64_t *ns)
{
    *ns = 0;
    int64_t unit = RH_NS_PER_SEC / 10;
    const char *start = *at;
    for (; **at >= '0' && **at <= '9'; (*at)++) {
        *ns += (**at - '0') * unit;
        unit /= 10;
    }
    return *at > start;
}

static bool take_date(const char **at, struct time_fields *f)
{
    static const int month_days[] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
    if (!take_number(at, 4, &f->year) || !take_char(at, '-') || !take_number(at, 2, &f->month) ||
        !take_char(at, '-') || !take_number(at, 2, &f->day)) {
        return false;
    }
    if (f->year < YEAR_MIN || f->year > YEAR_MAX || f->month < 1 || f->month > 12) {
        return false;
    }
    bool leap = (f->year % 4 == 0 && f->year % 100 != 0) || f->year % 400 == 0;
    int days = month_days[f->month - 1] + (f->month == 2 && leap);
    return f->day >= 1 && f->day <= days;
}

static bool take_clock(const char **at, struct time_fields *f)
{
    if (!take_number(at, 2, &f->hour) || !take_char(at, ':') || !take_number(at, 2, &f->minute)) {
        return false;
    }
    if (take_char(at, ':')) {
        if (!take_number(at, 2, &f->second)) {
            return false;
        }
        if (take_char(at, '.') && !take_fraction(at, &f->fraction_ns)) {
            return false;
        }
    }
    return f->hour <= 23 && f->minute <= 59 && f->second <= 59;
}

static bool take_zone(const char **at, struct time_fields *f)
{
    while (take_char(at, ' ')) {
    }
    if (**at == '\0') {
        return true;
    }
    f->has_zone = true;
    if (strcasecmp(*at, "Z") == 0 || strcasecmp(*at, "UTC") == 0 || strcasecmp(*at, "GMT") == 0) {
        *at += strlen(*at);
        return true;
    }
    int sign = **at == '-' ? -1 : 1;
    int hours;
    int minutes = 0;
    if ((**at != '+' && **at != '-') || (++*at, !take_number(at, 2, &hours))) {
        return false;
    }
    bool colon = take_char(at, ':');
    if ((colon || **at) && !take_number(at, 2, &minutes)) {
        return false;
    }
    f->zone_seconds = sign * (hours * 3600 + minutes * 60);
    return hours <= 15 && minutes <= 59;
}

static bool parse_fields(const char *text, struct time_fields *f)
{
    const char *at = text;
    if (!take_date(&at, f)) {
        return false;
    }
    if (*at == 'T' || (*at == ' ' && at[1] >= '0' && at[1] <= '9')) {
        at++;
        if (!take_clock(&at, f)) {
            return false;
        }
    }
    return take_zone(&at, f) && *at == '\0';
}

static int64_t fields_to_seconds(const struct time_fields *f)
{
    if (!f->has_zone) {
        struct tm tm = {.tm_year = f->year - 1900,
                        .tm_mon = f->month - 1,
                        .tm_mday = f->day,
                        .tm_hour = f->hour,
                        .tm_min = f->minute,
                        .tm_sec = f->second,
                        .tm_isdst = -1};
        return mktime(&tm);
    }
    return rh_civil_to_days(f->year, f->month, f->day) * SECONDS_PER_DAY + f->hour * 3600 +
           f->minute * 60 + f->second - f->zone_seconds;
}

/* "@" and seconds since the epoch. */
static bool parse_epoch(const char *at, int64_t *wall_ns)
{
    bool negative = take_char(&at, '-');
    int64_t seconds = 0;
    const char *start = at;
    for (; *at >= '0' && *at <= '9'; at++) {
        seconds = seconds * 10 + (*at - '0');
        if (seconds > EPOCH_SECONDS_MAX) {
            return false;
        }
    }
    int64_t ns = 0;
    if (at == start || (take_char(&at, '.') && !take_fraction(&at, &ns)) || *at) {
        return false;
    }
    *wall_ns = seconds * RH_NS_PER_SEC + ns;
    if (negative) {
        *wall_ns = -*wall_ns;
    }
    return true;
}

int rh_time_parse(const char *text, int64_t *wall_ns, struct rh_error *err)
{
    if (text[0] == '@' && parse_epoch(text + 1, wall_ns)) {
        return 0;
    }
    struct time_fields fields = {0};
    if (text[0] == '@' || !parse_fields(text, &fields)) {
        return rh_error_set(err, RH_ERR_USAGE,
                            "\"%s\" is no time: write it as \"2026-01-31 13:05:09\" (local time), "
                            "\"2026-01-31 13:05:09+02\", \"2026-01-31\" or \"@1735689600.5\"",
                            text);
    }
    *wall_ns = fields_to_seconds(&fields) * RH_NS_PER_SEC + fields.fraction_ns;
    return 0;
}
