/*
 * common/clock.h
 *
 * Times are int64_t nanoseconds.  Monotonic for deadlines and durations, wall for records.
 */
#ifndef RH_COMMON_CLOCK_H
#define RH_COMMON_CLOCK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/error.h"

#define RH_NS_PER_US INT64_C(1000)
#define RH_NS_PER_MS INT64_C(1000000)
#define RH_NS_PER_SEC INT64_C(1000000000)

/* a + b and a - b, ending at -INT64_MAX or INT64_MAX where 64 bits do not hold them: what a file
 * says about times may be anything. */
static inline int64_t rh_time_add(int64_t a, int64_t b)
{
    int64_t sum;
    return __builtin_add_overflow(a, b, &sum) ? (b < 0 ? -INT64_MAX : INT64_MAX) : sum;
}

static inline int64_t rh_time_sub(int64_t a, int64_t b)
{
    int64_t difference;
    return __builtin_sub_overflow(a, b, &difference) ? (b < 0 ? INT64_MAX : -INT64_MAX)
                                                     : difference;
}

int64_t rh_clock_mono_ns(void);
int64_t rh_clock_wall_ns(void);

/* Days since 1970-01-01 of a date of the proleptic Gregorian calendar. */
int64_t rh_civil_to_days(int year, int month, int day);

enum { RH_TIME_TEXT_SIZE = 40 };
/* "2026-01-31T13:05:09.123456Z": ISO 8601 in UTC with microseconds, rounded down.  Returns text. */
char *rh_time_format(int64_t wall_ns, char text[RH_TIME_TEXT_SIZE]);

/*
 * A time of the command line: "2026-01-31 13:05", with seconds, fraction, a `T` between, a zone
 * (Z, UTC, GMT, +02, +0200, +02:00; plus is east); local time where no zone is given; "2026-01-31"
 * is its midnight; "@1735689600.5" is seconds since the epoch.  Years 1678 to 2261.
 */
int rh_time_parse(const char *text, int64_t *wall_ns, struct rh_error *err);

#endif
