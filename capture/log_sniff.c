/* capture/log_sniff.c */
#include "capture/log_sniff.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "capture/log_entry.h"
#include "common/alloc.h"
#include "formats/trace_frame.h"

const char *rh_log_kind_advice(enum rh_log_kind kind)
{
    switch (kind) {
    case RH_LOG_KIND_EMPTY:
        return "is empty";
    case RH_LOG_KIND_CSV:
        return "is a csvlog";
    case RH_LOG_KIND_JSON:
        return "is a log of JSON lines, not a csvlog: add csvlog to log_destination and give the "
               ".csv file";
    case RH_LOG_KIND_STDERR:
        return "is a plain text server log, not a csvlog: add csvlog to log_destination (with "
               "logging_collector = on) and give the .csv file";
    case RH_LOG_KIND_SYSLOG:
        return "is a syslog file, not a csvlog: add csvlog to log_destination and give the .csv "
               "file";
    case RH_LOG_KIND_PGBOUNCER:
        return "is a pgbouncer log, which holds no statements: give the csvlog of the PostgreSQL "
               "server behind it";
    case RH_LOG_KIND_GREENPLUM:
        return "is a csv log of Greenplum (30 columns), which is not supported";
    case RH_LOG_KIND_TRACE:
        return "is a trace or run file already: look at it with \"pgrehearse info\"";
    case RH_LOG_KIND_PCAP:
        return "is a packet capture, not a log";
    case RH_LOG_KIND_BINARY:
        return "is a binary file, not a csvlog";
    case RH_LOG_KIND_UNKNOWN:
        break;
    }
    return "has no record of a csvlog in its first 256 kB";
}

static bool has(const char *data, size_t n, const char *piece)
{
    return memmem(data, n, piece, strlen(piece)) != NULL;
}

static bool is_pcap(const char *p, size_t n)
{
    static const char magics[][4] = {
        {'\xd4', '\xc3', '\xb2', '\xa1'}, {'\xa1', '\xb2', '\xc3', '\xd4'},
        {'\x4d', '\x3c', '\xb2', '\xa1'}, {'\xa1', '\xb2', '\x3c', '\x4d'},
        {'\x0a', '\x0d', '\x0d', '\x0a'},
    };
    for (size_t i = 0; n >= 4 && i < sizeof magics / sizeof magics[0]; i++) {
        if (memcmp(p, magics[i], 4) == 0) {
            return true;
        }
    }
    return false;
}

/* "Feb 11 13:15:39 host ..." or "<134>...". */
static bool is_syslog(const char *p, size_t n)
{
    static const char months[] = "JanFebMarAprMayJunJulAugSepOctNovDec";
    if (n < 16) {
        return false;
    }
    char month[4] = {p[0], p[1], p[2], '\0'};
    const char *found = strstr(months, month);
    return (p[0] == '<' && isdigit((unsigned char) p[1])) ||
           (found && (found - months) % 3 == 0 && p[3] == ' ' && p[9] == ':');
}

static enum rh_log_kind text_kind(const char *p, size_t n)
{
    if (n > 4096) {
        n = 4096;
    }
    if (has(p, n, "LOG C-0x") || has(p, n, "LOG S-0x") || has(p, n, "LOG file descriptor limit") ||
        has(p, n, "LOG stats: ") || has(p, n, "max_client_conn")) {
        return RH_LOG_KIND_PGBOUNCER;
    }
    if (p[0] == '{' || has(p, n, "{\"timestamp\":")) {
        return RH_LOG_KIND_JSON;
    }
    if (is_syslog(p, n)) {
        return RH_LOG_KIND_SYSLOG;
    }
    for (uint32_t i = 0; i < rh_logmsg_lang_count; i++) {
        for (int s = 0; s < RH_LOG_SEVERITY_COUNT; s++) {
            const char *word = rh_logmsg_langs[i].severities[s];
            char label[64];
            if (word && strlen(word) < sizeof label - 3) {
                snprintf(label, sizeof label, "%s: ", word);
                if (has(p, n, label)) {
                    return RH_LOG_KIND_STDERR;
                }
            }
        }
    }
    return RH_LOG_KIND_UNKNOWN;
}

/* Greenplum's fourth column is "p1234" and a record has 30. */
static bool is_greenplum(const char *p, size_t n)
{
    const char *end = memchr(p, '\n', n);
    size_t len = end ? (size_t) (end - p) : n;
    size_t columns = 1;
    bool quoted = false, has_process = false;
    for (size_t i = 0; i < len; i++) {
        quoted ^= p[i] == '"';
        if (p[i] == ',' && !quoted) {
            columns++;
            has_process |= columns == 4 && i + 1 < len && (p[i + 1] == 'p' || p[i + 2] == 'p');
        }
    }
    return has_process && columns >= 20;
}

/* Whether there is a record of a csvlog; the time of the first that can be read. */
static bool find_record(char *data, size_t n, struct rh_log_heads *heads, int64_t *start_ns)
{
    struct rh_csvlog_row row;
    struct rh_log_entry e;
    struct rh_log_clock clock;
    struct rh_logmsg_reader messages;
    bool found = false;
    rh_log_clock_init(&clock);
    rh_logmsg_reader_init(&messages);
    for (size_t at = 0; at < n; at++) {
        bool sure;
        at += rh_csvlog_find_start(data + at, n - at, true, &sure);
        if (!sure) {
            break;
        }
        found = true;
        if (rh_csvlog_split(data + at, n - at, true, &row) > 0 &&
            rh_log_entry_from_csv(&e, &row, &clock, &messages, heads) == RH_CSVLOG_OK) {
            int32_t offset = e.has_session_start
                                 ? rh_log_clock_learn(&clock, e.session_start, e.session_epoch_s)
                                 : RH_LOG_OFFSET_UNKNOWN;
            *start_ns = rh_log_clock_utc(&clock, e.stamp, e.session_start.zone, offset);
            break;
        }
    }
    return found;
}

enum rh_log_kind rh_log_sniff(const char *data, size_t n, int64_t *start_ns)
{
    *start_ns = INT64_MIN;
    if (n == 0) {
        return RH_LOG_KIND_EMPTY;
    }
    if (n >= RH_FRAME_MAGIC_BYTES && memcmp(data, rh_frame_magic, RH_FRAME_MAGIC_BYTES) == 0) {
        return RH_LOG_KIND_TRACE;
    }
    if (is_pcap(data, n)) {
        return RH_LOG_KIND_PCAP;
    }
    char *copy = rh_memdup(data, n); /* reading fields changes them */
    struct rh_log_heads *heads = rh_calloc(1, sizeof *heads);
    bool found = find_record(copy, n, heads, start_ns);
    rh_free(copy);
    rh_free(heads);
    if (found) {
        return RH_LOG_KIND_CSV;
    }
    if (is_greenplum(data, n)) {
        return RH_LOG_KIND_GREENPLUM;
    }
    enum rh_log_kind kind = text_kind(data, n);
    bool binary = kind == RH_LOG_KIND_UNKNOWN && memchr(data, '\0', n);
    return binary ? RH_LOG_KIND_BINARY : kind;
}
