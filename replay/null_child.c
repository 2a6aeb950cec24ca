#include "replay/null_child.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "common/stop.h"

enum { REMOVE_TRIES = 200, REMOVE_PAUSE_NS = 20 * 1000 * 1000 };

static const char folder_pattern[] = "/tmp/pgrehearse-null.XXXXXX";

/* What the child tells: first whether it listens, then at its end what it served. */
struct greeting {
    struct rh_error err; /* RH_ERR_NONE: it listens */
    uint16_t port;
};

/* The folder and what lies in it: the socket, and a run that was given up. */
static int remove_folder(const char *folder)
{
    char path[sizeof folder_pattern + 256];
    DIR *dir = opendir(folder);
    struct dirent *entry;
    while (dir && (entry = readdir(dir)) != NULL) {
        if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0) {
            snprintf(path, sizeof path, "%s/%s", folder, entry->d_name);
            unlink(path);
        }
    }
    if (dir) {
        closedir(dir);
    }
    return rmdir(folder);
}

static bool write_all(int fd, const void *data, size_t n)
{
    /* Less than PIPE_BUF: in one piece or not at all. */
    return write(fd, data, n) == (ssize_t) n;
}

/* As often as it comes: the kernel sends one for each thread of the parent that goes. */
static void on_term(int number)
{
    (void) number;
    rh_stop_request();
}

_Noreturn static void serve(const struct rh_null_child *child, uint32_t jobs, int fd, pid_t parent,
                            const sigset_t *mask)
{
    const char *hosts[] = {child->folder};
    struct rh_null_setup setup = {.hosts = hosts, .host_count = 1, .jobs = jobs};
    struct greeting greeting = {.err = {.code = RH_ERR_NONE}};
    struct rh_null_server *server = NULL;
    /* The kernel tells the end of the parent; a ^C of the terminal is the parent's business. */
    prctl(PR_SET_PDEATHSIG, SIGTERM);
    setpgid(0, 0);
    rh_stop_detach();
    sigaction(SIGTERM, &(struct sigaction){.sa_handler = on_term}, NULL);
    sigprocmask(SIG_SETMASK, mask, NULL);
    if (getppid() != parent) {
        remove_folder(child->folder);
        _exit(1);
    }
    rh_null_options_init(&setup.options);
    if (rh_null_server_open(&server, &setup, &greeting.err) == 0) {
        greeting.port = rh_null_server_listeners(server)->items[0].port;
    }
    bool heard = write_all(fd, &greeting, sizeof greeting);
    if (server && heard && rh_null_server_run(server, &greeting.err) == 0) {
        struct rh_null_totals totals = rh_null_server_count(server);
        (void) write_all(fd, &totals, sizeof totals);
    }
    rh_null_server_close(server);
    /* A parent that was killed may write to it until its last thread has ended. */
    for (int i = 0; i < REMOVE_TRIES && remove_folder(child->folder) != 0; i++) {
        nanosleep(&(struct timespec){.tv_nsec = REMOVE_PAUSE_NS}, NULL);
    }
    _exit(0);
}

static int hear(struct rh_null_child *child, struct rh_error *err)
{
    struct greeting greeting;
    ssize_t n;
    do {
        n = read(child->report_fd, &greeting, sizeof greeting);
    } while (n < 0 && errno == EINTR && !rh_stop_requested());
    if (n != (ssize_t) sizeof greeting) {
        return rh_stop_requested() ? rh_error_set(err, RH_ERR_STOPPED, "stopped")
                                   : rh_error_set(err, RH_ERR_IO, "the null server did not start");
    }
    if (greeting.err.code != RH_ERR_NONE) {
        *err = greeting.err;
        return -1;
    }
    snprintf(child->port, sizeof child->port, "%u", greeting.port);
    return 0;
}

int rh_null_child_start(struct rh_null_child *child, uint32_t jobs, struct rh_error *err)
{
    int fds[2];
    sigset_t all, mask;
    pid_t self = getpid();
    *child = (struct rh_null_child){.report_fd = -1};
    memcpy(child->folder, folder_pattern, sizeof folder_pattern);
    if (!mkdtemp(child->folder)) {
        return rh_error_set_errno(err, "cannot make a folder like %s", folder_pattern);
    }
    if (pipe2(fds, O_CLOEXEC) != 0) {
        rh_error_set_errno(err, "cannot make a pipe");
        remove_folder(child->folder);
        return -1;
    }
    /* A signal that comes before the child has detached itself shall not be forgotten. */
    sigfillset(&all);
    sigprocmask(SIG_SETMASK, &all, &mask);
    child->pid = fork();
    if (child->pid == 0) {
        close(fds[0]);
        serve(child, jobs, fds[1], self, &mask);
    }
    sigprocmask(SIG_SETMASK, &mask, NULL);
    close(fds[1]);
    child->report_fd = fds[0];
    if (child->pid < 0) {
        rh_error_set_errno(err, "cannot start a null server");
    } else if (hear(child, err) == 0) {
        return 0;
    }
    rh_null_child_stop(child, NULL);
    return -1;
}

void rh_null_child_stop(struct rh_null_child *child, struct rh_null_totals *totals)
{
    struct rh_null_totals heard = {0};
    if (child->pid > 0) {
        kill(child->pid, SIGTERM);
        while (waitpid(child->pid, NULL, 0) < 0 && errno == EINTR) {
        }
        if (read(child->report_fd, &heard, sizeof heard) != (ssize_t) sizeof heard) {
            heard = (struct rh_null_totals){0};
        }
    }
    if (child->report_fd >= 0) {
        close(child->report_fd);
    }
    remove_folder(child->folder);
    *child = (struct rh_null_child){.report_fd = -1};
    if (totals) {
        *totals = heard;
    }
}
