/*
 * What of io_uring is needed here is small, three system calls and two shared indices, since every
 * operation is over when its submission returns: no liburing for it.
 */
#include "replay/ring.h"

#include <assert.h>
#include <errno.h>
#include <linux/io_uring.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "common/alloc.h"

struct rh_ring {
    int fd;
    char *rings; /* the indices of both queues, and the completions */
    size_t rings_bytes;
    struct io_uring_sqe *entries;
    size_t entries_bytes;
    uint32_t *tail; /* of the submissions; the kernel reads it */
    uint32_t mask;
    uint32_t *done_head; /* of the completions; the kernel reads it */
    uint32_t *done_tail; /* the kernel writes it */
    uint32_t done_mask;
    struct io_uring_cqe *done;
};

static void *map(struct rh_ring *ring, size_t bytes, off_t what)
{
    void *at = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_POPULATE, ring->fd, what);
    return at == MAP_FAILED ? NULL : at;
}

static int ring_open(struct rh_ring *ring)
{
    struct io_uring_params p;
    memset(&p, 0, sizeof p);
    ring->fd = (int) syscall(SYS_io_uring_setup, RH_RING_OPS_MAX, &p);
    if (ring->fd < 0 || !(p.features & IORING_FEAT_SINGLE_MMAP)) {
        return -1;
    }
    size_t submissions = p.sq_off.array + p.sq_entries * sizeof(uint32_t);
    size_t completions = p.cq_off.cqes + p.cq_entries * sizeof *ring->done;
    ring->rings_bytes = submissions > completions ? submissions : completions;
    ring->entries_bytes = p.sq_entries * sizeof *ring->entries;
    ring->rings = map(ring, ring->rings_bytes, IORING_OFF_SQ_RING);
    ring->entries = map(ring, ring->entries_bytes, IORING_OFF_SQES);
    if (!ring->rings || !ring->entries) {
        return -1;
    }
    ring->tail = (uint32_t *) (ring->rings + p.sq_off.tail);
    ring->mask = p.sq_entries - 1;
    ring->done_head = (uint32_t *) (ring->rings + p.cq_off.head);
    ring->done_tail = (uint32_t *) (ring->rings + p.cq_off.tail);
    ring->done_mask = p.cq_entries - 1;
    ring->done = (struct io_uring_cqe *) (ring->rings + p.cq_off.cqes);
    uint32_t *order = (uint32_t *) (ring->rings + p.sq_off.array);
    for (uint32_t i = 0; i < p.sq_entries; i++) {
        order[i] = i;
    }
    return 0;
}

/* Whether the kernel knows the two operations. */
static bool knows_operations(const struct rh_ring *ring)
{
    enum { COUNT = IORING_OP_RECV + 1 };
    union {
        struct io_uring_probe probe;
        char room[sizeof(struct io_uring_probe) + COUNT * sizeof(struct io_uring_probe_op)];
    } u;
    memset(&u, 0, sizeof u);
    if (syscall(SYS_io_uring_register, ring->fd, IORING_REGISTER_PROBE, &u, COUNT) != 0) {
        return false;
    }
    return u.probe.last_op >= IORING_OP_RECV &&
           (u.probe.ops[IORING_OP_SEND].flags & IO_URING_OP_SUPPORTED) &&
           (u.probe.ops[IORING_OP_RECV].flags & IO_URING_OP_SUPPORTED);
}

struct rh_ring *rh_ring_new(void)
{
    struct rh_ring *ring = rh_calloc(1, sizeof *ring);
    if (ring_open(ring) != 0 || !knows_operations(ring)) {
        rh_ring_free(ring);
        return NULL;
    }
    return ring;
}

void rh_ring_free(struct rh_ring *ring)
{
    if (!ring) {
        return;
    }
    if (ring->rings) {
        munmap(ring->rings, ring->rings_bytes);
    }
    if (ring->entries) {
        munmap(ring->entries, ring->entries_bytes);
    }
    if (ring->fd >= 0) {
        close(ring->fd);
    }
    rh_free(ring);
}

/* Take the completions that are there; how many. */
static unsigned reap(struct rh_ring *ring, struct rh_ring_op *ops)
{
    uint32_t head = *ring->done_head;
    uint32_t tail = __atomic_load_n(ring->done_tail, __ATOMIC_ACQUIRE);
    unsigned count = tail - head;
    for (; head != tail; head++) {
        const struct io_uring_cqe *done = &ring->done[head & ring->done_mask];
        ops[done->user_data].result = done->res;
    }
    __atomic_store_n(ring->done_head, head, __ATOMIC_RELEASE);
    return count;
}

/* The kernel has no memory for it now. */
static void do_plainly(uint8_t code, struct rh_ring_op *op)
{
    ssize_t n = code == IORING_OP_SEND ? send(op->fd, op->data, op->n, MSG_DONTWAIT | MSG_NOSIGNAL)
                                       : recv(op->fd, op->data, op->n, MSG_DONTWAIT);
    op->result = n < 0 ? -errno : n;
}

/*
 * Submit and wait until all are done, which they are at once: MSG_DONTWAIT keeps the kernel from
 * waiting for a socket by itself.
 */
static void ring_do(struct rh_ring *ring, uint8_t code, struct rh_ring_op *ops, unsigned count)
{
    assert(count <= RH_RING_OPS_MAX);
    uint32_t tail = *ring->tail;
    for (unsigned i = 0; i < count; i++) {
        struct io_uring_sqe *e = &ring->entries[tail++ & ring->mask];
        memset(e, 0, sizeof *e);
        e->opcode = code;
        e->fd = ops[i].fd;
        e->addr = (uintptr_t) ops[i].data;
        e->len = (uint32_t) ops[i].n;
        e->msg_flags = MSG_DONTWAIT | MSG_NOSIGNAL;
        e->user_data = i;
    }
    __atomic_store_n(ring->tail, tail, __ATOMIC_RELEASE);
    unsigned submitted = 0, done = 0;
    while (done < count) {
        long n = syscall(SYS_io_uring_enter, ring->fd, count - submitted, count - done,
                         IORING_ENTER_GETEVENTS, NULL, 0);
        done += reap(ring, ops);
        if (n >= 0) {
            submitted += (unsigned) n;
        } else if (errno != EINTR && done == submitted) {
            /* Nothing is under way; what was not taken is withdrawn. */
            __atomic_store_n(ring->tail, tail - (count - submitted), __ATOMIC_RELEASE);
            for (; submitted < count; submitted++) {
                do_plainly(code, &ops[submitted]);
            }
            return;
        }
    }
}

void rh_ring_send(struct rh_ring *ring, struct rh_ring_op *ops, unsigned count)
{
    ring_do(ring, IORING_OP_SEND, ops, count);
}

void rh_ring_receive(struct rh_ring *ring, struct rh_ring_op *ops, unsigned count)
{
    ring_do(ring, IORING_OP_RECV, ops, count);
}
