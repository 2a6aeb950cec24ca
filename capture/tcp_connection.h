/*
 * capture/tcp_connection.h
 *
 * One connection: two halves, given to the sink in causal order.  What cannot be given yet waits;
 * the owner looks after waiting connections (rh_tcp_connection_waits()) and settles them.
 */
#ifndef RH_CAPTURE_TCP_CONNECTION_H
#define RH_CAPTURE_TCP_CONNECTION_H

#include "capture/tcp_half.h"
#include "capture/tcp_sink.h"
#include "formats/packet.h"

struct rh_tcp_options {
    size_t connection_bytes; /* that may wait in a connection */
    size_t total_bytes;      /* and in all */
    size_t pieces_max;       /* of a connection */
    size_t connections_max;  /* open ones; of closed ones a few are remembered */
    int64_t grace_ns;        /* what was acknowledged may still come this long, out of order */
    int64_t patience_ns;     /* what was not may be sent again this long */
    int64_t linger_ns;       /* what comes so soon after the end belongs to what ended */
    int64_t idle_ns;
};

/* What connections share. */
struct rh_tcp_shared {
    struct rh_tcp_options options;
    struct rh_tcp_sink sink;
    struct rh_wire_counts *counts;
    int64_t clock_ns;  /* the latest time of a packet */
    size_t held_bytes; /* of all pieces */
    uint64_t serial;   /* of the last connection opened */
};

struct rh_tcp_connection {
    struct rh_tcp_shared *shared;
    struct rh_ip_pair ip; /* from the client's side */
    uint16_t port[2];
    int64_t opened_ns;
    int64_t last_ns;   /* the sink's clock */
    int64_t closed_ns; /* the shared clock at the close */
    void *state;       /* the sink's, from its open() to its close() */
    bool reset;
    enum rh_tcp_side reset_side;
    bool closed;
    int64_t reset_ns; /* the shared clock then */
    struct rh_tcp_half half[2];
};

/* How sure it must be that bytes are lost before they are given up. */
enum rh_tcp_settling {
    RH_TCP_SETTLE_DUE,    /* what has waited long enough */
    RH_TCP_SETTLE_BUDGET, /* all, for want of memory */
    RH_TCP_SETTLE_END,    /* all, as nothing will come any more */
};

void rh_tcp_connection_init(struct rh_tcp_connection *c, struct rh_tcp_shared *shared,
                            const struct rh_ip_pair *ip, const uint16_t port[2], int64_t time_ns);
/* The segment does not belong to this connection but to a new one on the same ports. */
bool rh_tcp_connection_is_over(const struct rh_tcp_connection *c, enum rh_tcp_side side,
                               const struct rh_tcp_segment *s);
void rh_tcp_connection_segment(struct rh_tcp_connection *c, enum rh_tcp_side side,
                               const struct rh_tcp_segment *s, int64_t time_ns);
static inline bool rh_tcp_connection_waits(const struct rh_tcp_connection *c)
{
    return !c->closed &&
           (c->half[0].first || c->half[1].first || rh_tcp_half_fin_waits(&c->half[0]) ||
            rh_tcp_half_fin_waits(&c->half[1]) || c->reset);
}
size_t rh_tcp_connection_held_bytes(const struct rh_tcp_connection *c);
void rh_tcp_connection_settle(struct rh_tcp_connection *c, enum rh_tcp_settling how);
/* Settle all, give what is left and close it at the sink; `how` where the connection did not end
 * itself.  Nothing when it is closed. */
void rh_tcp_connection_close(struct rh_tcp_connection *c, enum rh_tcp_end how);

#endif
