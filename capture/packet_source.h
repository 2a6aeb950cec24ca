/*
 * capture/packet_source.h
 *
 * Where a capture of the wire gets its packets from: files (capture/packet_files.h), or an
 * interface.
 */
#ifndef RH_CAPTURE_PACKET_SOURCE_H
#define RH_CAPTURE_PACKET_SOURCE_H

#include "common/error.h"
#include "formats/pcap_parser.h"

enum rh_packet_next {
    RH_PACKET_NEXT_FAILED = -1,
    RH_PACKET_NEXT_END = 0,
    RH_PACKET_NEXT_ONE = 1,
    RH_PACKET_NEXT_NONE = 2, /* of an interface: none came for a while, at most a second */
};

struct rh_packet_source {
    void *context;
    /* ONE: *packet is set, its bytes are valid until the next call.  A stop (common/stop.h) is the
     * source's to look for: RH_ERR_STOPPED where packets are left, as in a file; END where there
     * are none, as on an interface. */
    enum rh_packet_next (*next)(void *context, struct rh_pcap_packet *packet, struct rh_error *err);
    /* For the line of progress, such as "40 %"; NUL-ended, cut to size. */
    void (*describe)(void *context, char *text, size_t size);
};

#endif
