/*
 * tests/wire/wire_file.h
 *
 * Frames as the bytes of a capture file.
 */
#ifndef RH_TESTS_WIRE_WIRE_FILE_H
#define RH_TESTS_WIRE_WIRE_FILE_H

#include "common/buf.h"

enum wire_format {
    WIRE_PCAP_US,
    WIRE_PCAP_NS,
    WIRE_PCAP_LONG, /* Kuznetzov's records */
    WIRE_NG_US,
    WIRE_NG_NS,
    WIRE_NG_BINARY,   /* 2^-32 s, and an offset in seconds */
    WIRE_NG_TWO,      /* packets in turn of two interfaces of different resolution */
    WIRE_NG_OBSOLETE, /* packet blocks of the first drafts */
    WIRE_NG_SIMPLE,   /* no times */
    WIRE_FORMAT_COUNT,
};

struct wire_file {
    struct rh_buf bytes;
    enum wire_format format;
    bool swapped; /* the other byte order */
    uint32_t link_type;
    uint32_t snaplen; /* 0: all is captured */
    uint32_t packets;
};

void wire_file_begin(struct wire_file *f, enum wire_format format, bool swapped, uint32_t link_type,
                     uint32_t snaplen);
void wire_file_add(struct wire_file *f, struct rh_span frame, int64_t time_ns);
void wire_file_release(struct wire_file *f);
/* A time as the format keeps it. */
int64_t wire_file_time(const struct wire_file *f, int64_t time_ns);

#endif
