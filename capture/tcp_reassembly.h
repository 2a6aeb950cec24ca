/*
 * capture/tcp_reassembly.h
 *
 * Segments of any order to the streams of their connections (capture/tcp_sink.h).  Memory is
 * bounded by the options; what does not fit is given up as a gap or a closed connection, and
 * counted.
 */
#ifndef RH_CAPTURE_TCP_REASSEMBLY_H
#define RH_CAPTURE_TCP_REASSEMBLY_H

#include "capture/tcp_connection.h"

struct rh_tcp_reassembly;

/* What is used when nothing else is asked for. */
struct rh_tcp_options rh_tcp_options_default(void);

/* counts must live as long. */
struct rh_tcp_reassembly *rh_tcp_reassembly_new(const struct rh_tcp_options *options,
                                                const struct rh_tcp_sink *sink,
                                                struct rh_wire_counts *counts);
/* NULL is allowed.  Without rh_tcp_reassembly_finish() before, what waits is given up and closed
 * now. */
void rh_tcp_reassembly_free(struct rh_tcp_reassembly *r);

/* `from` sent it.  The times of packets may go back. */
void rh_tcp_reassembly_segment(struct rh_tcp_reassembly *r, enum rh_tcp_side from,
                               const struct rh_ip_pair *ip, const struct rh_tcp_segment *s,
                               int64_t time_ns);
/* It is so late, though no packet says so: what waits for longer than it may is given up. */
void rh_tcp_reassembly_clock(struct rh_tcp_reassembly *r, int64_t time_ns);
/* The capture is at its end: all connections are settled and closed, the oldest first. */
void rh_tcp_reassembly_finish(struct rh_tcp_reassembly *r);

#endif
