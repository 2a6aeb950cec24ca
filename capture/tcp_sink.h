/*
 * capture/tcp_sink.h
 *
 * The seam between TCP and the protocol above it: what the reassembly calls for each connection.
 * data() gets the bytes of one side in stream order, each byte once, and the two sides interleaved
 * causally: the bytes of a segment come after all bytes of the other side that it acknowledges, or
 * after a gap() for those of them that were never captured.  A connection that never carried a byte
 * is not shown.
 */
#ifndef RH_CAPTURE_TCP_SINK_H
#define RH_CAPTURE_TCP_SINK_H

#include <stdbool.h>
#include <stdint.h>

#include "common/span.h"

/* Who sent the bytes; the server is the side with one of the server's ports. */
enum rh_tcp_side { RH_TCP_CLIENT = 0, RH_TCP_SERVER = 1 };

struct rh_tcp_peer {
    char address[64]; /* "192.0.2.7", "2001:db8::1", NUL-ended */
    uint16_t port;
};

struct rh_tcp_connection_info {
    struct rh_tcp_peer peer[2]; /* by enum rh_tcp_side */
    int64_t opened_ns;          /* the first packet, since the epoch */
    bool joined_midway;         /* no SYN was captured: what came before is unknown */
    uint64_t serial;            /* from 1, in the order of open() */
};

enum rh_tcp_end {
    RH_TCP_END_FIN,         /* both sides finished */
    RH_TCP_END_RST,         /* one side broke it off */
    RH_TCP_END_REUSED,      /* the same ports began anew */
    RH_TCP_END_CAPTURE_END, /* still open when the capture ended */
    RH_TCP_END_IDLE,        /* nothing for long, or the oldest of too many */
};

struct rh_tcp_sink {
    /* The connection's own state; never NULL.  info is valid during the call. */
    void *(*open)(void *context, const struct rh_tcp_connection_info *info);
    /* time_ns is that of the packet that completed the bytes, since the epoch; within a connection
     * it never goes back.  The bytes are valid during the call. */
    void (*data)(void *connection, enum rh_tcp_side side, int64_t time_ns, struct rh_span bytes);
    /* So many bytes of this side are missing here; UINT64_MAX: unknown. */
    void (*gap)(void *connection, enum rh_tcp_side side, int64_t time_ns, uint64_t bytes);
    /* Frees it. */
    void (*close)(void *connection, int64_t time_ns, enum rh_tcp_end how);
    void *context;
};

#endif
