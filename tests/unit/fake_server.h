/*
 * tests/unit/fake_server.h
 *
 * A server on a Unix socket that speaks as much of the protocol as a test of connections needs, and
 * misbehaves on demand.  It checks no password and runs no SQL.
 */
#ifndef RH_TESTS_UNIT_FAKE_SERVER_H
#define RH_TESTS_UNIT_FAKE_SERVER_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum fake_manner {
    FAKE_WELCOME, /* accept the login, then see below */
    FAKE_REFUSE,  /* answer the startup message with `refusal` */
    FAKE_SILENT,  /* accept the connection and say nothing */
    FAKE_HANG_UP, /* close it without an answer */
};

enum { FAKE_CLIENTS_MAX = 64, FAKE_STARTUP_MAX = 4096 };

struct fake_client {
    struct fake_server *server;
    pthread_t thread;
    int fd;
    char startup[FAKE_STARTUP_MAX]; /* the startup packet behind its length word */
    size_t startup_len;
    uint64_t received; /* bytes behind it */
    uint64_t checksum; /* of them */
};

struct fake_server {
    enum fake_manner manner;
    const char *refusal; /* a whole ErrorResponse */
    size_t refusal_len;
    const char *extra; /* sent in one piece with the welcome */
    size_t extra_len;
    bool close_after_welcome;
    bool wait_before_reading; /* until fake_server_go() */
    bool ignore_cancels;      /* keep the connection of a CancelRequest open */

    char folder[64];
    int listen_fd;
    pthread_t thread;
    pthread_mutex_t lock;
    pthread_cond_t changed;
    bool going;
    bool ending;
    int client_count;
    struct fake_client clients[FAKE_CLIENTS_MAX];
};

/* Set the fields above `folder` before.  The socket is folder/.s.PGSQL.5432. */
void fake_server_start(struct fake_server *s);
void fake_server_go(struct fake_server *s);
/* Wait for the clients' ends and remove all. */
void fake_server_stop(struct fake_server *s);

/* The value of a startup parameter, NULL if it was not sent. */
const char *fake_client_parameter(const struct fake_client *client, const char *name);
/* Continue a checksum over more bytes. */
uint64_t fake_checksum(uint64_t sum, const char *data, size_t n);

#endif
