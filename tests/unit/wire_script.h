/*
 * tests/unit/wire_script.h
 *
 * A conversation of client and server written down message by message, and what the wire's capture
 * makes of it, as lines.  It can be played whole, in pieces, and with bytes missing.
 */
#ifndef RH_TESTS_UNIT_WIRE_SCRIPT_H
#define RH_TESTS_UNIT_WIRE_SCRIPT_H

#include "capture/wire_capture.h"
#include "common/buf.h"

enum { RH_SCRIPT_TURNS_MAX = 4096 };

struct rh_script_turn {
    enum rh_tcp_side side;
    size_t at;
    size_t len;
};

struct rh_script {
    struct rh_buf bytes;
    struct rh_script_turn turns[RH_SCRIPT_TURNS_MAX];
    uint32_t turn_count;
    struct rh_buf out; /* what was captured */
    struct rh_wire_capture_counts counts;
    struct rh_wire_limits limits;
    struct rh_capture_filter *filter; /* NULL: none; stays */
    bool redact;
    bool joined_midway;
    bool no_steps;   /* in the lines */
    bool no_outcome; /* in the lines */
    bool exact;      /* times and bytes of outcomes in the lines */
};

/* What is missing: bytes of turn `turn` from `at` on (to its end at most). */
struct rh_script_hole {
    uint32_t turn; /* UINT32_MAX: none */
    size_t at;
    size_t len;
};

void rh_script_init(struct rh_script *s);
void rh_script_release(struct rh_script *s);

/* Messages of the client. */
void c_raw(struct rh_script *s, const void *data, size_t n);
void c_startup(struct rh_script *s, uint32_t version, const char *user);
void c_code(struct rh_script *s, uint32_t code);
void c_cancel(struct rh_script *s, uint32_t pid, const char *key, size_t key_len);
void c_q(struct rh_script *s, const char *sql);
void c_p(struct rh_script *s, const char *name, const char *sql);
/* One parameter in text, or none (NULL). */
void c_b(struct rh_script *s, const char *portal, const char *name, const char *param);
void c_d(struct rh_script *s, char object, const char *name);
void c_c(struct rh_script *s, char object, const char *name);
void c_e(struct rh_script *s, const char *portal, int32_t limit);
void c_s(struct rh_script *s);
void c_h(struct rh_script *s);
void c_x(struct rh_script *s);
void c_copy(struct rh_script *s, const char *data);
void c_copy_done(struct rh_script *s);
void c_copy_fail(struct rh_script *s, const char *why);
void c_password(struct rh_script *s, const char *password);

/* Messages of the server. */
void s_raw(struct rh_script *s, const void *data, size_t n);
void s_m(struct rh_script *s, char type, const void *body, size_t n);
/* One letter a message without body: "12nsI3". */
void s_list(struct rh_script *s, const char *types);
void s_login(struct rh_script *s, uint32_t pid, const char *key, size_t key_len);
void s_rows(struct rh_script *s, int count);
void s_c(struct rh_script *s, const char *tag);
void s_e(struct rh_script *s, const char *severity, const char *sqlstate);
void s_z(struct rh_script *s, char status);
void s_copy(struct rh_script *s, char type); /* G, H or W */
void s_parameter(struct rh_script *s, const char *name, const char *value);

/* Play it over a connection (1000 ns a turn) and keep the lines in out; piece 0: turn by turn. */
void rh_script_play(struct rh_script *s, size_t piece, const struct rh_script_hole *hole);
/* Play, compare the lines, forget the conversation. */
void rh_script_expect(struct rh_script *s, const char *lines);
void rh_script_clear(struct rh_script *s);

/* For several connections at once: lines of records to out. */
void rh_script_sink(struct rh_script *s, struct rh_capture_sink *sink);

#endif
