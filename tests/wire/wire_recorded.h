/*
 * tests/wire/wire_recorded.h
 *
 * The conversations of a capture file, as struct wire_talk: real traffic for the mangler.  Client
 * ports are numbered anew, from WIRE_RECORDED_PORT on, in the order of the connections;
 * wire_frame.h gives the addresses.
 */
#ifndef RH_TESTS_WIRE_WIRE_RECORDED_H
#define RH_TESTS_WIRE_WIRE_RECORDED_H

#include "common/error.h"
#include "tests/wire/wire_talk.h"

enum { WIRE_RECORDED_PORT = 20000, WIRE_RECORDED_MAX = 4096 };

struct wire_recorded {
    struct wire_talk *talks;
    size_t count;
    size_t left_out; /* connections of which bytes are missing in the file already */
};

/* All connections to this port that carry data. */
int wire_recorded_read(struct wire_recorded *r, const char *path, uint16_t port,
                       struct rh_error *err);
/* A copy to be mangled. */
void wire_recorded_copy(struct wire_recorded *to, const struct wire_recorded *from);
void wire_recorded_release(struct wire_recorded *r);

#endif
