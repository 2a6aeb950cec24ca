/*
 * capture/assembly.h
 *
 * What the parts of the assembler share; not for others.
 */
#ifndef RH_CAPTURE_ASSEMBLY_H
#define RH_CAPTURE_ASSEMBLY_H

#include "capture/assembler.h"
#include "capture/cut_evidence.h"
#include "capture/ended_sessions.h"
#include "capture/log_session.h"
#include "capture/redactor.h"
#include "capture/statement_class.h"
#include "common/buf.h"
#include "formats/log_params.h"

struct rh_assembler {
    const struct rh_capture_sink *sink;
    struct rh_capture_filter *filter;
    struct rh_log_reader *reader;
    struct rh_capture_stats *stats;
    struct rh_log_sessions sessions;
    size_t sessions_max; /* that are kept without knowing their end */
    struct rh_ended_sessions ended;
    struct rh_map retired;   /* ids of those given up */
    uint64_t postmaster_key; /* of the server that runs; 0: not seen */
    struct rh_pending_pool pool;
    size_t waiting_bytes_max; /* of all pending statements, before running ones go out early */
    /* Statements that are complete but wait for the next record of their session, which tells
     * whether their transaction goes on; in order of their ends. */
    struct rh_pending *held_first;
    struct rh_pending *held_last;
    uint32_t last_number;
    int64_t now_ns; /* stamp of the record at hand */
    struct rh_log_params params;
    struct rh_buf masked;
    struct rh_buf masked_prepare;
    bool redact;
    struct rh_redactor redactor;
    struct rh_buf redacted;
    struct rh_buf redacted_prepare;
    struct rh_cut_evidence cut;
    struct rh_cut_evidence cut_in_context;
    uint64_t looked_ahead; /* end of the window that was searched for longer values */
};

/* What the next record of a session tells about the transaction of the statement before. */
struct rh_follow {
    bool known;
    uint64_t lxid;
    enum rh_log_idle idle;
};

/* assemble_txn.c: marks of the statement, and the session's transaction after it. */
uint8_t rh_assemble_txn(struct rh_log_session *s, const struct rh_pending *p,
                        const struct rh_statement_class *c, const struct rh_follow *follow);

/* assemble_record.c */
/* Write the session's pending statement, if there is one, and give it back. */
int rh_assemble_flush(struct rh_assembler *a, struct rh_log_session *s,
                      const struct rh_follow *follow, struct rh_error *err);
/* A statement too large to wait for its outcome goes out; its outcome follows as a record. */
int rh_assemble_flush_early(struct rh_assembler *a, struct rh_log_session *s, struct rh_error *err);
int rh_assemble_outcome(struct rh_assembler *a, struct rh_log_session *s, int64_t done_ns,
                        int64_t execute_ns, uint32_t sqlstate, struct rh_error *err);
/* Make the session known to the sink, with its OPEN record if the log shows its opening. */
int rh_assemble_open(struct rh_assembler *a, struct rh_log_session *s, struct rh_error *err);
int rh_assemble_gap(struct rh_assembler *a, struct rh_log_session *s, const char *what,
                    uint64_t count, int64_t at_ns, struct rh_error *err);
/* The pending is complete and waits for what follows. */
void rh_assemble_hold(struct rh_assembler *a, struct rh_log_session *s, struct rh_pending *p);
void rh_assemble_unhold(struct rh_assembler *a, struct rh_pending *p);

/* assemble_keep.c */
/* What the filters say to a statement whose marks are set. */
enum rh_keep rh_assemble_judge(struct rh_assembler *a, struct rh_log_session *s,
                               const struct rh_pending *p, const struct rh_statement_class *c,
                               const struct rh_record *r);
/* Before the first statement that is kept: what the session had set and prepared. */
int rh_assemble_put_carried(struct rh_assembler *a, struct rh_log_session *s, int64_t start_ns,
                            struct rh_error *err);
/* With --redact.  The record's parameters are those in a->params. */
void rh_assemble_redact(struct rh_assembler *a, struct rh_record *r);

/* assemble_statement.c: records about statements. */
int rh_assemble_statement(struct rh_assembler *a, struct rh_log_session *s,
                          const struct rh_log_entry *e, const struct rh_logmsg *m,
                          struct rh_error *err);
int rh_assemble_error(struct rh_assembler *a, struct rh_log_session *s,
                      const struct rh_log_entry *e, struct rh_error *err);

/* assemble_retire.c */
/* Before one more session: give up those that are idle longest if there are too many. */
int rh_assemble_retire(struct rh_assembler *a, struct rh_error *err);
/* A session begins in the middle: count it if it was given up. */
void rh_assemble_revive(struct rh_assembler *a, uint64_t key);

/* assemble_session.c: records about sessions. */
struct rh_log_session *rh_assemble_session(struct rh_assembler *a, const struct rh_log_entry *e,
                                           struct rh_error *err);
int rh_assemble_session_event(struct rh_assembler *a, struct rh_log_session *s,
                              const struct rh_log_entry *e, const struct rh_logmsg *m,
                              struct rh_error *err);
/* Write what is open, the CLOSE record (how: NULL if the end is not in the log), and forget the
 * session. */
int rh_assemble_close(struct rh_assembler *a, struct rh_log_session *s, const char *how,
                      struct rh_error *err);
int rh_assemble_fatal(struct rh_assembler *a, struct rh_log_session *s,
                      const struct rh_log_entry *e, struct rh_error *err);

#endif
