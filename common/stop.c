#include "common/stop.h"

#include <errno.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdint.h>
#include <sys/eventfd.h>
#include <unistd.h>

static atomic_bool stop_flag;
static atomic_int stop_signal;
static atomic_int stop_event_fd = -1;

static void stop_raise(void)
{
    atomic_store(&stop_flag, true);
    uint64_t one = 1;
    int fd = atomic_load(&stop_event_fd);
    if (fd >= 0 && write(fd, &one, sizeof one) < 0) {
        /* Its counter is full: it is readable already. */
    }
}

/* Only what is safe in a signal handler: atomics, write, sigaction, raise. */
static void on_signal(int number)
{
    int saved = errno;
    int none = 0;
    if (!atomic_compare_exchange_strong(&stop_signal, &none, number)) {
        struct sigaction by_default = {.sa_handler = SIG_DFL};
        sigaction(number, &by_default, NULL);
        raise(number);
    }
    stop_raise();
    errno = saved;
}

void rh_stop_install(void)
{
    if (atomic_load(&stop_event_fd) < 0) {
        atomic_store(&stop_event_fd, eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC));
    }
    /* No SA_RESTART: a read that blocks shall return. */
    struct sigaction action = {.sa_handler = on_signal};
    sigaction(SIGINT, &action, NULL);
    sigaction(SIGTERM, &action, NULL);
    struct sigaction hangup;
    if (sigaction(SIGHUP, NULL, &hangup) == 0 && hangup.sa_handler != SIG_IGN) {
        sigaction(SIGHUP, &action, NULL);
    }
    struct sigaction ignore = {.sa_handler = SIG_IGN};
    sigaction(SIGPIPE, &ignore, NULL);
}

bool rh_stop_requested(void)
{
    return atomic_load_explicit(&stop_flag, memory_order_relaxed);
}

int rh_stop_signal(void)
{
    return atomic_load(&stop_signal);
}

int rh_stop_fd(void)
{
    return atomic_load(&stop_event_fd);
}

void rh_stop_detach(void)
{
    int shared = atomic_exchange(&stop_event_fd, eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC));
    if (shared >= 0) {
        close(shared);
    }
    atomic_store(&stop_flag, false);
    atomic_store(&stop_signal, 0);
}

void rh_stop_request(void)
{
    stop_raise();
}

void rh_stop_clear(void)
{
    uint64_t count;
    int fd = atomic_load(&stop_event_fd);
    atomic_store(&stop_flag, false);
    atomic_store(&stop_signal, 0);
    if (fd >= 0 && read(fd, &count, sizeof count) < 0) {
        /* Nothing was asked for. */
    }
}
