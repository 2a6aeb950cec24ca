/*
 * replay/null_session_parts.h
 *
 * What the files of the null server's session share: null_session.c (the stream, the login, COPY
 * from the client), null_extended.c (Parse to Sync) and null_work.c (the answers).
 */
#ifndef RH_REPLAY_NULL_SESSION_PARTS_H
#define RH_REPLAY_NULL_SESSION_PARTS_H

#include "replay/null_session.h"
#include "replay/null_write.h"

/* A body that is read from its front; what it lacks reads as 0 or as empty, and is_short is set. */
struct rh_null_reader {
    struct rh_span rest;
    bool is_short;
};

struct rh_span rh_null_read_string(struct rh_null_reader *r);
uint32_t rh_null_read_be16(struct rh_null_reader *r);
uint32_t rh_null_read_be32(struct rh_null_reader *r);
void rh_null_read_skip(struct rh_null_reader *r, size_t n);

/* The error of a command, of a message or of the whole connection (FATAL: it ends). */
void rh_null_session_error(struct rh_null_session *s, const char *sqlstate, const char *message,
                           struct rh_buf *out);
enum rh_null_turn rh_null_session_fatal(struct rh_null_session *s, const char *sqlstate,
                                        const char *message, struct rh_buf *out);

/* Whether a failed transaction keeps this command from running. */
bool rh_null_session_is_failed(const struct rh_null_session *s, const struct rh_null_answer *a);
#define RH_NULL_FAILED_TEXT                                                                        \
    "current transaction is aborted, commands ignored until end of transaction block"

/* Begin a simple query, or what a portal gives; limit 0: all its rows. */
enum rh_null_turn rh_null_query_begin(struct rh_null_session *s, struct rh_span text,
                                      struct rh_buf *out);
enum rh_null_turn rh_null_portal_run(struct rh_null_session *s, struct rh_null_portal *portal,
                                     uint32_t limit, struct rh_buf *out);
/* Go on with what runs. */
enum rh_null_turn rh_null_work_resume(struct rh_null_session *s, struct rh_buf *out);
/* COPY data ended: well, or with an error of the client. */
enum rh_null_turn rh_null_work_copied(struct rh_null_session *s, bool failed, struct rh_buf *out);
void rh_null_session_ready(struct rh_null_session *s, struct rh_buf *out);
struct rh_null_shape rh_null_session_shape(const struct rh_null_session *s,
                                           const struct rh_null_answer *a, uint64_t binary_mask);

/* Parse, Bind, Describe, Execute, Close, Flush, Sync. */
enum rh_null_turn rh_null_extended_take(struct rh_null_session *s, const struct rh_pg_event *ev,
                                        struct rh_buf *out);
void rh_null_prepared_forget(struct rh_null_session *s, uint64_t name_hash);
void rh_null_prepared_forget_all(struct rh_null_session *s);
void rh_null_portals_forget_all(struct rh_null_session *s);

#endif
