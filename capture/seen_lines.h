/*
 * capture/seen_lines.h
 *
 * Which line numbers of a session were read: all up to the last one but for some holes.  Tells a
 * record that comes a second time from one that comes too late.
 */
#ifndef RH_CAPTURE_SEEN_LINES_H
#define RH_CAPTURE_SEEN_LINES_H

#include <stdbool.h>
#include <stdint.h>

enum { RH_LINE_HOLES_MAX = 8 };

struct rh_line_hole {
    uint64_t from;
    uint64_t to;
};

struct rh_seen_lines {
    uint64_t last;         /* 0: none */
    uint64_t forgotten_to; /* holes up to here were too many to be kept */
    uint32_t hole_count;
    struct rh_line_hole holes[RH_LINE_HOLES_MAX]; /* ascending */
};

/* The session goes on with this line; one that is not behind the last begins a new count. */
void rh_seen_lines_add(struct rh_seen_lines *s, uint64_t line);

/* A line not behind the last one: whether it was not read before.  Where
 * holes were forgotten, it counts as not read. */
bool rh_seen_lines_fill(struct rh_seen_lines *s, uint64_t line);

#endif
