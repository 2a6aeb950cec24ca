#include "rh_test.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "replay/target.h"

/* A socket connected to a listener of our own at address. */
static int connect_to(const struct sockaddr *address, socklen_t len, int *listener)
{
    struct sockaddr_storage bound;
    socklen_t bound_len = sizeof bound;
    *listener = socket(address->sa_family, SOCK_STREAM, 0);
    assert_true(*listener >= 0);
    assert_int_equal(bind(*listener, address, len), 0);
    assert_int_equal(listen(*listener, 1), 0);
    assert_int_equal(getsockname(*listener, (struct sockaddr *) (void *) &bound, &bound_len), 0);
    int fd = socket(address->sa_family, SOCK_STREAM, 0);
    assert_int_equal(connect(fd, (struct sockaddr *) (void *) &bound, bound_len), 0);
    return fd;
}

static void test_tcp(void **state)
{
    (void) state;
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    struct sockaddr_in peer;
    socklen_t peer_len = sizeof peer;
    int listener;
    int fd = connect_to((struct sockaddr *) (void *) &address, sizeof address, &listener);
    getpeername(fd, (struct sockaddr *) (void *) &peer, &peer_len);
    char here[64], there[64], name[64], v6[64], other_port[64];
    int port = ntohs(peer.sin_port);
    snprintf(here, sizeof here, "127.0.0.1:%d", port);
    snprintf(name, sizeof name, "localhost:%d", port);
    snprintf(v6, sizeof v6, "[::1]:%d", port);
    snprintf(there, sizeof there, "192.0.2.7:%d", port);
    snprintf(other_port, sizeof other_port, "127.0.0.1:%d", port + 1);
    assert_true(rh_target_is_source(fd, rh_span_cstr(here)));
    assert_true(rh_target_is_source(fd, rh_span_cstr(name)));
    assert_true(rh_target_is_source(fd, rh_span_cstr(v6))); /* both are this machine */
    assert_false(rh_target_is_source(fd, rh_span_cstr(there)));
    assert_false(rh_target_is_source(fd, rh_span_cstr(other_port)));
    close(fd);
    close(listener);
}

static void test_socket(void **state)
{
    (void) state;
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    char folder[] = "/tmp/pgrehearse-target.XXXXXX";
    int listener;
    assert_non_null(mkdtemp(folder));
    snprintf(address.sun_path, sizeof address.sun_path, "%s/.s.PGSQL.6543", folder);
    int fd = connect_to((struct sockaddr *) (void *) &address, sizeof address, &listener);
    assert_true(rh_target_is_source(fd, RH_SPAN_LITERAL("127.0.0.1:6543")));
    assert_false(rh_target_is_source(fd, RH_SPAN_LITERAL("127.0.0.1:5432")));
    assert_false(rh_target_is_source(fd, RH_SPAN_LITERAL("192.0.2.7:6543")));
    assert_true(rh_target_is_source(fd, rh_span_cstr(address.sun_path)));
    assert_false(rh_target_is_source(fd, RH_SPAN_LITERAL("/elsewhere/.s.PGSQL.6543")));
    close(fd);
    close(listener);
    unlink(address.sun_path);
    rmdir(folder);
}

static void test_bad_addresses(void **state)
{
    (void) state;
    static const char *const bad[] = {"",     ":",   "127.0.0.1", "127.0.0.1:", "127.0.0.1:x",
                                      "[::1", "[]:1"};
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    int listener;
    char long_name[2000];
    int fd = connect_to((struct sockaddr *) (void *) &address, sizeof address, &listener);
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        assert_false(rh_target_is_source(fd, rh_span_cstr(bad[i])));
    }
    memset(long_name, 'a', sizeof long_name);
    assert_false(rh_target_is_source(fd, rh_span(long_name, sizeof long_name)));
    assert_false(rh_target_is_source(fd, RH_SPAN_NONE));
    assert_false(rh_target_is_source(-1, RH_SPAN_LITERAL("127.0.0.1:1")));
    close(fd);
    close(listener);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_tcp),
        cmocka_unit_test(test_socket),
        cmocka_unit_test(test_bad_addresses),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
