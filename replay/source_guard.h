/*
 * replay/source_guard.h
 *
 * Tells the server that was captured from others, by the peer of a connected socket.  The server's
 * name is looked up once, so that every connection of a replay is held against the same addresses
 * and no look-up stands between a connect and its answer.
 */
#ifndef RH_REPLAY_SOURCE_GUARD_H
#define RH_REPLAY_SOURCE_GUARD_H

#include <netinet/in.h>
#include <stdbool.h>
#include <stdint.h>

#include "common/error.h"
#include "common/span.h"

enum rh_source_match {
    RH_SOURCE_OTHER,       /* the peer is another server */
    RH_SOURCE_SAME,        /* the peer is the server that was captured */
    RH_SOURCE_CANNOT_TELL, /* the source is unknown, or says nothing here: see guard->why */
};

enum { RH_SOURCE_ADDRESSES_MAX = 64 };

struct rh_source_guard {
    char name[320]; /* as the trace has it, "db1:5432" or the path of a socket; "" if not at all */
    char host[320]; /* of it, "" for a socket */
    char why[200];  /* no peer can be told from it; "" if one can */
    long port;
    bool is_local; /* one of its addresses is this machine's */
    uint32_t address_count;
    struct in6_addr addresses[RH_SOURCE_ADDRESSES_MAX]; /* IPv4 ones mapped into IPv6 */
};

/* Takes the trace's server address, "host:port", "[v6]:port" or "/dir/.s.PGSQL.5432"; none: not
 * known.  Waits for the name service. */
void rh_source_guard_init(struct rh_source_guard *guard, struct rh_span address);
/*
 * Where a connected socket leads.  A Unix socket leads to the source only if that is on this
 * machine, and then by its port.  After init from any thread.
 */
enum rh_source_match rh_source_guard_match(const struct rh_source_guard *guard, int fd);
/* The refusal of such a connection: -1, RH_ERR_REFUSED. */
int rh_source_guard_refuse(const struct rh_source_guard *guard, int fd, struct rh_error *err);

/* "192.0.2.7:5432", "[::1]:5432", the path of a socket, or "unknown". */
void rh_peer_describe(int fd, char *text, size_t size);

#endif
