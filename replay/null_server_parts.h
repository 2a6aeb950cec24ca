/*
 * replay/null_server_parts.h
 *
 * A worker of the null server, for its connections (null_conn.c).
 */
#ifndef RH_REPLAY_NULL_SERVER_PARTS_H
#define RH_REPLAY_NULL_SERVER_PARTS_H

#include <pthread.h>
#include <stdint.h>

#include "common/loop.h"
#include "replay/null_conn.h"
#include "replay/null_server.h"

enum { RH_NULL_INPUT_BYTES = 64 * 1024, RH_NULL_OUT_KEEP = 4 * RH_NULL_OUT_HIGH };

struct rh_null_worker {
    struct rh_null_server *server;
    const struct rh_null_options *options;
    uint32_t number;
    struct rh_loop *loop;
    pthread_t thread;
    bool has_thread;
    struct rh_task stop_task;

    struct rh_null_conn **conns; /* by slot; NULL: free */
    uint32_t slot_count;
    uint32_t slot_cap;
    uint32_t *free_slots; /* a stack, as large as conns */
    uint32_t free_count;

    char *input; /* scratch of one read */
    struct rh_buf out;
    struct rh_null_counts counts;
    uint64_t bytes_sent;
};

/* The process id that a slot's client is told; it leads back to worker and slot. */
uint32_t rh_null_worker_pid(const struct rh_null_worker *w, uint32_t slot);
/* A conn's open_task: give it a slot and start it. */
void rh_null_worker_open(struct rh_task *task);
/* The connection is about to be freed. */
void rh_null_worker_forget(struct rh_null_worker *w, struct rh_null_conn *c);
/* Pass a CancelRequest on to the worker that it means, which closes fd once it is served. */
void rh_null_worker_pass_cancel(struct rh_null_worker *w, const struct rh_null_session *from,
                                int fd);

#endif
