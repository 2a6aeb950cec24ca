/*
 * replay/null_listen.h
 *
 * The sockets on which the null server takes connections.
 */
#ifndef RH_REPLAY_NULL_LISTEN_H
#define RH_REPLAY_NULL_LISTEN_H

#include <stdint.h>
#include <sys/un.h>

#include "common/error.h"
#include "common/loop.h"

enum { RH_NULL_LISTENERS_MAX = 16 };

struct rh_null_listener {
    int fd;
    char host[108];                                        /* an address, or the socket's folder */
    char path[sizeof((struct sockaddr_un *) 0)->sun_path]; /* of the socket; "" for TCP */
    uint16_t port;
    struct rh_watch watch; /* the server's */
};

struct rh_null_listeners {
    struct rh_null_listener items[RH_NULL_LISTENERS_MAX];
    uint32_t count;
};

/*
 * Listen on a host: a name or address (all of its addresses), or the absolute path of a folder for
 * a socket .s.PGSQL.PORT.  *port 0 is replaced by one that is free.  A socket that a dead server
 * left behind is replaced.
 */
int rh_null_listen(struct rh_null_listeners *l, const char *host, uint16_t *port,
                   struct rh_error *err);
/* Close all, and remove the sockets' files. */
void rh_null_listeners_close(struct rh_null_listeners *l);

#endif
