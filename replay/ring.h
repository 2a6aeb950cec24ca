/*
 * replay/ring.h
 *
 * Several sends, or several receives, of plain sockets in one system call, by the kernel's io_uring
 * (Linux 5.6).  None of them waits.  The entry into the kernel is most of what a short send or
 * receive costs, the more so on virtual machines.
 */
#ifndef RH_REPLAY_RING_H
#define RH_REPLAY_RING_H

#include <stddef.h>
#include <sys/types.h>

struct rh_ring;

enum { RH_RING_OPS_MAX = 16 };

struct rh_ring_op {
    int fd;
    char *data;
    size_t n;
    ssize_t result; /* bytes; 0 of a receive: the peer has closed; -errno, -EAGAIN among them */
};

/* A ring of the calling thread, which alone may use it.  NULL if there is none to be had: the
 * kernel is older, or does not permit it (kernel.io_uring_disabled, a container's filter). */
struct rh_ring *rh_ring_new(void);
void rh_ring_free(struct rh_ring *ring);

/* Do all, each as send() or recv() with MSG_DONTWAIT would; count is at most RH_RING_OPS_MAX, and
 * no socket is in ops twice. */
void rh_ring_send(struct rh_ring *ring, struct rh_ring_op *ops, unsigned count);
void rh_ring_receive(struct rh_ring *ring, struct rh_ring_op *ops, unsigned count);

#endif
