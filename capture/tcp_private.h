/*
 * capture/tcp_private.h
 *
 * What the files of tcp_connection.h share.  Giving hands on to the sink and moves the half on.
 */
#ifndef RH_CAPTURE_TCP_PRIVATE_H
#define RH_CAPTURE_TCP_PRIVATE_H

#include "capture/tcp_connection.h"

/* Nothing for no bytes. */
void rh_tcp_give_data(struct rh_tcp_connection *c, enum rh_tcp_side side, int64_t time_ns,
                      struct rh_span bytes);
void rh_tcp_give_gap(struct rh_tcp_connection *c, enum rh_tcp_side side, int64_t time_ns,
                     uint64_t bytes);
/* The side's first piece, which is at its turn, and away with it. */
void rh_tcp_give_first(struct rh_tcp_connection *c, enum rh_tcp_side side);
/* All pieces whose turn it is, of both sides. */
void rh_tcp_drain(struct rh_tcp_connection *c);

#endif
