/*
 * capture/log_sniff.h
 *
 * What a file is, by its first bytes.
 */
#ifndef RH_CAPTURE_LOG_SNIFF_H
#define RH_CAPTURE_LOG_SNIFF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "formats/log_time.h"

enum rh_log_kind {
    RH_LOG_KIND_EMPTY,
    RH_LOG_KIND_CSV,
    RH_LOG_KIND_JSON,
    RH_LOG_KIND_STDERR,
    RH_LOG_KIND_SYSLOG,
    RH_LOG_KIND_PGBOUNCER,
    RH_LOG_KIND_GREENPLUM,
    RH_LOG_KIND_TRACE,
    RH_LOG_KIND_PCAP,
    RH_LOG_KIND_BINARY,
    RH_LOG_KIND_UNKNOWN,
};

/* *start_ns is the first record's time (csv only), in UTC as far as its session tells. */
enum rh_log_kind rh_log_sniff(const char *data, size_t n, int64_t *start_ns);

/* "is a stderr log, not a csvlog: ..." with what to do. */
const char *rh_log_kind_advice(enum rh_log_kind kind);

#endif
