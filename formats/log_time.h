/*
 * formats/log_time.h
 *
 * Time stamps of server logs, "2026-01-31 13:05:09.123 CET".  The zone is an abbreviation that by
 * itself means little (IST, CST, -03); but a session id holds the session's start in UTC and
 * another column the same instant as local time, which together give the offset exactly.  Offsets
 * learned so are kept by abbreviation; a table of unambiguous ones and the closest plausible offset
 * (for the first records after a change to or from summer time) are the fallbacks.
 */
#ifndef RH_FORMATS_LOG_TIME_H
#define RH_FORMATS_LOG_TIME_H

#include <stdbool.h>
#include <stdint.h>

#include "common/span.h"

enum { RH_LOG_ZONES_MAX = 64, RH_LOG_ZONE_NAME_MAX = 15 };

#define RH_LOG_OFFSET_UNKNOWN INT32_MIN

struct rh_log_zone {
    char name[RH_LOG_ZONE_NAME_MAX + 1];
    uint8_t len;
    int32_t offset_s; /* east of UTC; RH_LOG_OFFSET_UNKNOWN */
    bool learned;     /* from a session id, not from the name */
};

struct rh_log_clock {
    struct rh_log_zone zones[RH_LOG_ZONES_MAX];
    uint32_t zone_count;
    uint32_t last_zone;
    /* The last date, hour and minute: most stamps share them with the one before. */
    char minute_text[17];
    int64_t minute_ns;
    int64_t last_utc_ns; /* of the last stamp that was converted; INT64_MIN */
};

struct rh_log_stamp {
    int64_t local_ns; /* as if it were UTC */
    uint32_t zone;    /* index into the clock's zones */
};

void rh_log_clock_init(struct rh_log_clock *c);

/* Parse a whole stamp: date, time, an optional fraction of up to 9 digits, an optional blank or `T`
 * form, an optional zone.  False if it is none. */
bool rh_log_stamp_parse(struct rh_log_clock *c, struct rh_span text, struct rh_log_stamp *stamp);

/* rh_log_stamp_parse() for a stamp as servers write it, with milliseconds, in the minute and the
 * zone of the one parsed last; false for any other.  The clock stays as it is. */
bool rh_log_stamp_repeat(const struct rh_log_clock *c, struct rh_span text,
                         struct rh_log_stamp *stamp);

/* What a session tells: its start as a local stamp and in seconds since the epoch.  Gives the
 * offset of start.zone, or RH_LOG_OFFSET_UNKNOWN when the two do not fit (no multiple of 15
 * minutes, more than 16 hours). */
int32_t rh_log_clock_learn(struct rh_log_clock *c, struct rh_log_stamp start, int64_t epoch_s);

/* To nanoseconds since the epoch.  session_zone and session_offset_s are what the stamp's session
 * told (RH_LOG_OFFSET_UNKNOWN if nothing). */
int64_t rh_log_clock_utc(struct rh_log_clock *c, struct rh_log_stamp stamp, uint32_t session_zone,
                         int32_t session_offset_s);

#endif
