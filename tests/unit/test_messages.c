/* common/log, common/progress, common/stop */
#include "rh_test.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/clock.h"
#include "common/log.h"
#include "common/progress.h"
#include "common/stop.h"
#include "fd_tap.h"

static void test_levels_and_prefixes(void **state)
{
    (void) state;
    struct fd_tap tap;
    struct rh_error err;
    rh_log_setup("pgrehearse-x", RH_LOG_INFO);
    fd_tap_open(&tap, STDERR_FILENO);
    rh_log(RH_LOG_ERROR, "cannot read \"%s\"", "f");
    rh_log(RH_LOG_WARNING, "%d bad records", 3);
    rh_log(RH_LOG_INFO, "done");
    rh_log(RH_LOG_DEBUG, "not shown");
    rh_log_hint("try again");
    rh_error_set(&err, RH_ERR_IO, "100%% full");
    rh_log_error(&err);
    assert_string_equal(fd_tap_close(&tap), "pgrehearse-x: error: cannot read \"f\"\n"
                                            "pgrehearse-x: warning: 3 bad records\n"
                                            "pgrehearse-x: done\n"
                                            "pgrehearse-x: hint: try again\n"
                                            "pgrehearse-x: error: 100% full\n");
    rh_log_setup("x", RH_LOG_ERROR);
    fd_tap_open(&tap, STDERR_FILENO);
    rh_log(RH_LOG_WARNING, "not shown");
    assert_string_equal(fd_tap_close(&tap), "");
}

static void test_hostile_text(void **state)
{
    (void) state;
    static char longer[9000];
    struct fd_tap tap;
    rh_log_setup("x", RH_LOG_INFO);
    fd_tap_open(&tap, STDERR_FILENO);
    rh_log(RH_LOG_INFO, "a\033[2Jb\rc\td\ne\x7f");
    assert_string_equal(fd_tap_close(&tap), "x: a?[2Jb?c\td\ne?\n");
    memset(longer, 'l', sizeof longer - 1);
    fd_tap_open(&tap, STDERR_FILENO);
    rh_log(RH_LOG_INFO, "%s", longer);
    const char *text = fd_tap_close(&tap);
    assert_true(strlen(text) > 4000 && strlen(text) <= 4096);
    assert_string_equal(text + strlen(text) - 5, "l...\n");
}

enum { THREADS = 4, LINES = 50 };

static void *log_lines(void *arg)
{
    (void) arg;
    for (int i = 0; i < LINES; i++) {
        rh_log(RH_LOG_INFO, "a line that is written in one piece");
    }
    return NULL;
}

static void test_threads_do_not_mix_lines(void **state)
{
    (void) state;
    pthread_t threads[THREADS];
    struct fd_tap tap;
    fd_tap_open(&tap, STDERR_FILENO);
    for (int i = 0; i < THREADS; i++) {
        pthread_create(&threads[i], NULL, log_lines, NULL);
    }
    for (int i = 0; i < THREADS; i++) {
        pthread_join(threads[i], NULL);
    }
    const char *at = fd_tap_close(&tap);
    static const char line[] = "x: a line that is written in one piece\n";
    int lines = 0;
    for (; strncmp(at, line, sizeof line - 1) == 0; at += sizeof line - 1) {
        lines++;
    }
    assert_string_equal(at, "");
    assert_int_equal(lines, THREADS * LINES);
}

struct terminal {
    int master;
    int saved_stderr;
    char text[4096];
};

static void terminal_open(struct terminal *t, unsigned short columns)
{
    t->master = posix_openpt(O_RDWR | O_NOCTTY);
    assert_true(t->master >= 0);
    assert_int_equal(grantpt(t->master), 0);
    assert_int_equal(unlockpt(t->master), 0);
    int slave = open(ptsname(t->master), O_RDWR | O_NOCTTY);
    assert_true(slave >= 0);
    struct winsize size = {.ws_row = 24, .ws_col = columns};
    ioctl(slave, TIOCSWINSZ, &size);
    t->saved_stderr = dup(STDERR_FILENO);
    dup2(slave, STDERR_FILENO);
    close(slave);
}

/* What was written since the last call. */
static const char *terminal_read(struct terminal *t)
{
    size_t n = 0;
    struct pollfd p = {.fd = t->master, .events = POLLIN};
    while (poll(&p, 1, 100) > 0 && (p.revents & POLLIN)) {
        ssize_t got = read(t->master, t->text + n, sizeof t->text - 1 - n);
        if (got <= 0) {
            break;
        }
        n += (size_t) got;
    }
    t->text[n] = '\0';
    return t->text;
}

static void terminal_close(struct terminal *t)
{
    dup2(t->saved_stderr, STDERR_FILENO);
    close(t->saved_stderr);
    close(t->master);
}

static void test_progress_on_a_terminal(void **state)
{
    (void) state;
    struct terminal t;
    struct rh_progress p;
    terminal_open(&t, 20);
    rh_log_setup("x", RH_LOG_INFO);
    rh_progress_init(&p);
    assert_false(rh_progress_due(&p));
    p.last_ns -= RH_NS_PER_SEC;
    assert_true(rh_progress_due(&p));
    assert_false(rh_progress_due(&p));

    rh_progress_show(&p, "%d of %d", 10, 20);
    assert_string_equal(terminal_read(&t), "\r10 of 20");
    rh_progress_show(&p, "short");
    assert_string_equal(terminal_read(&t), "\rshort   ");
    rh_progress_show(&p, "a line that does not fit in twenty columns");
    assert_string_equal(terminal_read(&t), "\ra line that does no");
    rh_log(RH_LOG_INFO, "message");
    /* A terminal turns \n into \r\n. */
    assert_string_equal(terminal_read(&t), "\r                   \rx: message\r\n");
    rh_log(RH_LOG_INFO, "another");
    assert_string_equal(terminal_read(&t), "x: another\r\n");
    rh_progress_show(&p, "abc");
    terminal_read(&t);
    rh_progress_end(&p);
    assert_string_equal(terminal_read(&t), "\r   \r");
    rh_progress_end(&p);
    assert_string_equal(terminal_read(&t), "");
    terminal_close(&t);
}

static void test_progress_is_silent_in_a_pipe(void **state)
{
    (void) state;
    struct fd_tap tap;
    struct rh_progress p;
    fd_tap_open(&tap, STDERR_FILENO);
    rh_progress_init(&p);
    p.last_ns = 0;
    assert_false(rh_progress_due(&p));
    rh_progress_show(&p, "nothing");
    rh_progress_end(&p);
    assert_string_equal(fd_tap_close(&tap), "");
}

static bool stop_fd_readable(void)
{
    struct pollfd p = {.fd = rh_stop_fd(), .events = POLLIN};
    return poll(&p, 1, 0) == 1;
}

static void test_stop_by_signal(void **state)
{
    (void) state;
    rh_stop_install();
    assert_false(rh_stop_requested());
    assert_false(stop_fd_readable());
    raise(SIGTERM);
    assert_true(rh_stop_requested());
    assert_int_equal(rh_stop_signal(), SIGTERM);
    assert_true(stop_fd_readable());
    rh_stop_clear();
    assert_false(rh_stop_requested());
    assert_int_equal(rh_stop_signal(), 0);
    assert_false(stop_fd_readable());
    rh_stop_request();
    assert_true(rh_stop_requested());
    assert_int_equal(rh_stop_signal(), 0);
    assert_true(stop_fd_readable());
    rh_stop_clear();
    /* A reader that went away is an error of write(), not the end. */
    raise(SIGPIPE);
}

static void test_second_signal_ends_at_once(void **state)
{
    (void) state;
    fflush(NULL);
    pid_t child = fork();
    if (child == 0) {
        rh_stop_install();
        raise(SIGINT);
        if (!rh_stop_requested()) {
            _exit(1);
        }
        raise(SIGINT);
        _exit(2);
    }
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFSIGNALED(status));
    assert_int_equal(WTERMSIG(status), SIGINT);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_levels_and_prefixes),
        cmocka_unit_test(test_hostile_text),
        cmocka_unit_test(test_threads_do_not_mix_lines),
        cmocka_unit_test(test_progress_on_a_terminal),
        cmocka_unit_test(test_progress_is_silent_in_a_pipe),
        cmocka_unit_test(test_stop_by_signal),
        cmocka_unit_test(test_second_signal_ends_at_once),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
