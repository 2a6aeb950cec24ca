#include "rh_test.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "replay/source_guard.h"

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

static enum rh_source_match match(int fd, const char *source)
{
    struct rh_source_guard guard;
    rh_source_guard_init(&guard, rh_span_cstr(source));
    return rh_source_guard_match(&guard, fd);
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
    assert_int_equal(match(fd, here), RH_SOURCE_SAME);
    assert_int_equal(match(fd, name), RH_SOURCE_SAME);
    assert_int_equal(match(fd, v6), RH_SOURCE_SAME); /* both are this machine */
    assert_int_equal(match(fd, there), RH_SOURCE_OTHER);
    assert_int_equal(match(fd, other_port), RH_SOURCE_OTHER);
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
    assert_int_equal(match(fd, "127.0.0.1:6543"), RH_SOURCE_SAME);
    assert_int_equal(match(fd, "127.0.0.1:5432"), RH_SOURCE_OTHER);
    assert_int_equal(match(fd, "192.0.2.7:6543"), RH_SOURCE_OTHER);
    assert_int_equal(match(fd, address.sun_path), RH_SOURCE_SAME);
    assert_int_equal(match(fd, "/elsewhere/.s.PGSQL.6543"), RH_SOURCE_OTHER);
    char name[sizeof folder + 8];
    snprintf(name, sizeof name, "%s:6543", folder);
    assert_int_equal(match(fd, name), RH_SOURCE_SAME);
    snprintf(name, sizeof name, "%s:6544", folder);
    assert_int_equal(match(fd, name), RH_SOURCE_OTHER);
    close(fd);
    close(listener);
    unlink(address.sun_path);
    rmdir(folder);
}

/* What cannot be told is never taken for "another server". */
static void check_cannot_tell(struct rh_span source, const char *why)
{
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    struct rh_source_guard guard;
    int listener;
    int fd = connect_to((struct sockaddr *) (void *) &address, sizeof address, &listener);
    rh_source_guard_init(&guard, source);
    assert_int_equal(rh_source_guard_match(&guard, fd), RH_SOURCE_CANNOT_TELL);
    if (!strstr(guard.why, why)) {
        fail_msg("%s: %s", guard.name, guard.why);
    }
    close(fd);
    close(listener);
}

static void test_what_cannot_be_told(void **state)
{
    (void) state;
    static const char *const bad[] = {
        ":",       "127.0.0.1", "127.0.0.1:", "127.0.0.1:x", "127.0.0.1:0",
        "h:65536", "[::1",      "[]:1",       "::1]:5432"};
    char long_name[2000];
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        check_cannot_tell(rh_span_cstr(bad[i]), "no HOST:PORT");
    }
    memset(long_name, 'a', sizeof long_name);
    check_cannot_tell(rh_span(long_name, sizeof long_name), "no HOST:PORT");
    check_cannot_tell(RH_SPAN_LITERAL("a\0b:5432"), "no HOST:PORT");
    check_cannot_tell(RH_SPAN_NONE, "does not tell");
    check_cannot_tell(RH_SPAN_LITERAL(""), "does not tell");
    check_cannot_tell(RH_SPAN_LITERAL("no-such-host.invalid:5432"), "cannot be looked up");
    struct rh_source_guard guard;
    rh_source_guard_init(&guard, RH_SPAN_LITERAL("127.0.0.1:5432"));
    assert_int_equal(rh_source_guard_match(&guard, -1), RH_SOURCE_CANNOT_TELL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_tcp),
        cmocka_unit_test(test_socket),
        cmocka_unit_test(test_what_cannot_be_told),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
