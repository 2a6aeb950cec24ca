/*
 * capture/capture_options.h
 *
 * The options of pgrehearse-capture.
 */
#ifndef RH_CAPTURE_CAPTURE_OPTIONS_H
#define RH_CAPTURE_CAPTURE_OPTIONS_H

#include <stdbool.h>
#include <stdint.h>

#include "common/opt.h"

enum { RH_CAPTURE_PORTS_MAX = 32 };

/* A size, a time, or both; 0: none. */
struct rh_capture_limit {
    uint64_t bytes;
    int64_t duration_ns;
};

struct rh_capture_options {
    /* capture wire */
    struct rh_str_list packet_files;
    uint16_t ports[RH_CAPTURE_PORTS_MAX]; /* of the server; none given: 5432 */
    size_t port_count;
    const char *interface;
    const char *packet_filter; /* pcap-filter(7) */
    uint64_t buffer_bytes;     /* 0: the default */
    const char *run_as;
    struct rh_capture_limit rotate;
    struct rh_capture_limit stop_after;
    /* capture log */
    bool format_given;
    const char *server; /* "host:port" */
    /* both */
    const char *output;
    bool quiet;
    bool verbose;
    bool redact;
    double sample; /* part of the sessions */
    int64_t from_ns;
    int64_t to_ns;
    struct rh_str_list users;
    struct rh_str_list databases;
    struct rh_str_list applications;
    struct rh_str_list include;
    struct rh_str_list exclude;
};

extern const struct rh_opt_command rh_capture_command;

void rh_capture_options_init(struct rh_capture_options *o);
void rh_capture_options_release(struct rh_capture_options *o);

#endif
