/* replay/ring */
#include "rh_test.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "replay/ring.h"

enum { N = RH_RING_OPS_MAX };

static int pairs[N][2];
static struct rh_ring *ring;

static int set_up(void **state)
{
    (void) state;
    ring = rh_ring_new();
    for (int i = 0; i < N; i++) {
        if (socketpair(AF_UNIX, SOCK_STREAM, 0, pairs[i]) != 0) {
            return -1;
        }
    }
    return 0;
}

static int tear_down(void **state)
{
    (void) state;
    rh_ring_free(ring);
    for (int i = 0; i < N; i++) {
        close(pairs[i][0]);
        close(pairs[i][1]);
    }
    return 0;
}

static void need_ring(void)
{
    if (!ring) {
        print_message("the kernel gives no io_uring here\n");
        skip();
    }
}

static void test_bytes_go_where_they_belong(void **state)
{
    (void) state;
    need_ring();
    char out[N][32], in[N][32];
    struct rh_ring_op ops[N];
    /* More rounds than the queues have entries, of each size. */
    for (int round = 0; round < 100; round++) {
        unsigned count = 1 + (unsigned) round % N;
        for (unsigned i = 0; i < count; i++) {
            snprintf(out[i], sizeof out[i], "%d.%u", round, i);
            ops[i] = (struct rh_ring_op){pairs[i][0], out[i], strlen(out[i]) + 1, -1};
        }
        rh_ring_send(ring, ops, count);
        for (unsigned i = 0; i < count; i++) {
            assert_int_equal(ops[i].result, strlen(out[i]) + 1);
            ops[i] = (struct rh_ring_op){pairs[i][1], in[i], sizeof in[i], -1};
        }
        rh_ring_receive(ring, ops, count);
        for (unsigned i = 0; i < count; i++) {
            assert_int_equal(ops[i].result, strlen(out[i]) + 1);
            assert_string_equal(in[i], out[i]);
        }
    }
}

static void test_nothing_waits(void **state)
{
    (void) state;
    need_ring();
    char byte = 'x', in[4];
    assert_int_equal(send(pairs[1][0], &byte, 1, 0), 1);
    struct rh_ring_op ops[] = {{pairs[0][1], in, sizeof in, 1}, {pairs[1][1], in, sizeof in, 0}};
    rh_ring_receive(ring, ops, 2);
    assert_int_equal(ops[0].result, -EAGAIN);
    assert_int_equal(ops[1].result, 1);

    /* A send to a peer that does not read goes as far as there is room, and then not at all. */
    size_t large = (size_t) 64 << 20;
    char *data = calloc(1, large);
    struct rh_ring_op full = {pairs[2][0], data, large, 0};
    rh_ring_send(ring, &full, 1);
    assert_in_range(full.result, 1, large - 1);
    rh_ring_send(ring, &full, 1);
    assert_int_equal(full.result, -EAGAIN);
    free(data);
}

static void test_ends_and_errors(void **state)
{
    (void) state;
    need_ring();
    char byte = 'x';
    signal(SIGPIPE, SIG_DFL); /* MSG_NOSIGNAL */
    close(pairs[0][0]);
    struct rh_ring_op end = {pairs[0][1], &byte, 1, 5};
    rh_ring_receive(ring, &end, 1);
    assert_int_equal(end.result, 0);
    rh_ring_send(ring, &end, 1);
    assert_int_equal(end.result, -EPIPE);
    struct rh_ring_op none = {-1, &byte, 1, 5};
    rh_ring_send(ring, &none, 1);
    assert_int_equal(none.result, -EBADF);
    pairs[0][0] = dup(pairs[0][1]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_bytes_go_where_they_belong, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_nothing_waits, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_ends_and_errors, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
