/*
 * formats/pcap_parser.h
 *
 * Capture files, as bytes: pcap (draft-ietf-opsawg-pcap: microseconds, nanoseconds, both byte
 * orders, and Kuznetzov's magic with longer record headers) and pcapng
 * (draft-ietf-opsawg-pcapng: sections of either byte order, interfaces with link type, resolution
 * and offset of their own, enhanced, simple and obsolete packet blocks).
 */
#ifndef RH_FORMATS_PCAP_PARSER_H
#define RH_FORMATS_PCAP_PARSER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/error.h"
#include "common/span.h"

enum {
    RH_PCAP_RECORD_MAX = 16 << 20, /* a longer record or block is damage */
    RH_PCAP_INTERFACES_MAX = 4096, /* a section */
};

/* Times are this far from 1970 at most, 146 years: so the difference of two is one too. */
#define RH_PCAP_TIME_MAX_NS (INT64_C(1) << 62)

struct rh_pcap_packet {
    int64_t time_ns;         /* since the epoch; of the packet before where the format has none */
    uint32_t link_type;      /* LINKTYPE_ number */
    uint32_t original_bytes; /* on the wire; some writers are wrong about it */
    struct rh_span bytes;    /* what was captured; lies in the input.  data is NULL: no packet */
};

struct rh_pcap_counts {
    uint64_t packets;
    uint64_t other_blocks;   /* of pcapng, that hold no packet: statistics, names, unknown ones */
    uint64_t damaged_blocks; /* of pcapng, passed over */
    uint64_t timeless;       /* packets that took the time of the one before */
};

struct rh_pcap_interface {
    uint64_t ticks_per_second; /* 0: its description was damaged, its packets are passed over */
    int64_t offset_s;
    uint32_t snaplen; /* 0: no limit */
    uint16_t link_type;
};

enum rh_pcap_kind { RH_PCAP_START, RH_PCAP_CLASSIC, RH_PCAP_NG };

struct rh_pcap_parser {
    enum rh_pcap_kind kind;
    bool swapped;      /* the file's byte order is not ours */
    bool nanoseconds;  /* of pcap */
    bool long_headers; /* Kuznetzov's */
    uint16_t minor_version;
    uint32_t link_type;
    int64_t last_ns;
    struct rh_pcap_interface *interfaces;
    size_t interface_count;
    size_t interface_cap;
    struct rh_pcap_counts counts; /* over all files */
};

void rh_pcap_parser_init(struct rh_pcap_parser *p);
void rh_pcap_parser_release(struct rh_pcap_parser *p);
/* Another file begins; the counts go on. */
void rh_pcap_parser_start(struct rh_pcap_parser *p);

/* One header, record or block at the start of data: the bytes used, 0 when it needs more than n
 * (never more than RH_PCAP_RECORD_MAX and a header), -1 when what follows cannot be read: no
 * capture file, or lengths that are nonsense.  At the end of a file, bytes for which 0 is returned
 * are a record that was cut. */
ptrdiff_t rh_pcap_next(struct rh_pcap_parser *p, const char *data, size_t n,
                       struct rh_pcap_packet *packet, struct rh_error *err);

#endif
