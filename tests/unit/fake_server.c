#include "rh_test.h"

#include "fake_server.h"

#include <arpa/inet.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

uint64_t fake_checksum(uint64_t sum, const char *data, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        sum = sum * 31 + (unsigned char) data[i];
    }
    return sum;
}

static bool read_exactly(int fd, char *data, size_t n)
{
    while (n > 0) {
        ssize_t got = read(fd, data, n);
        if (got <= 0) {
            return false;
        }
        data += got;
        n -= (size_t) got;
    }
    return true;
}

static bool read_startup(struct fake_client *c)
{
    uint32_t length;
    if (!read_exactly(c->fd, (char *) &length, 4)) {
        return false;
    }
    length = ntohl(length);
    if (length < 8 || length - 4 > FAKE_STARTUP_MAX) {
        return false;
    }
    c->startup_len = length - 4;
    return read_exactly(c->fd, c->startup, c->startup_len);
}

/* AuthenticationOk, ParameterStatus, BackendKeyData, ReadyForQuery and what the test adds. */
static void welcome(struct fake_client *c)
{
    static const char text[] = "R\0\0\0\x08\0\0\0\0"
                               "S\0\0\0\x18server_version\0"
                               "15.0\0"
                               "K\0\0\0\x0c\0\0\x04\xd2key!"
                               "Z\0\0\0\x05I";
    const size_t n = sizeof text - 1;
    const size_t extra_len = c->server->extra_len;
    char *all = malloc(n + extra_len);
    memcpy(all, text, n);
    if (extra_len) {
        memcpy(all + n, c->server->extra, extra_len);
    }
    ssize_t sent = send(c->fd, all, n + extra_len, MSG_NOSIGNAL);
    (void) sent;
    free(all);
}

static void read_rest(struct fake_client *c)
{
    struct fake_server *s = c->server;
    pthread_mutex_lock(&s->lock);
    while (s->wait_before_reading && !s->going) {
        pthread_cond_wait(&s->changed, &s->lock);
    }
    pthread_mutex_unlock(&s->lock);
    static const size_t size = 65536;
    char *data = malloc(size);
    ssize_t got;
    while ((got = read(c->fd, data, size)) > 0) {
        c->checksum = fake_checksum(c->checksum, data, (size_t) got);
        c->received += (uint64_t) got;
    }
    free(data);
}

static bool is_cancel(const struct fake_client *c)
{
    return c->startup_len == 12 && memcmp(c->startup, "\x04\xd2\x16\x2e", 4) == 0;
}

static void *client_main(void *arg)
{
    struct fake_client *c = arg;
    struct fake_server *s = c->server;
    if (s->manner == FAKE_SILENT) {
        read_rest(c);
    } else if (s->manner != FAKE_HANG_UP && read_startup(c)) {
        if (is_cancel(c)) {
            if (s->ignore_cancels) {
                read_rest(c);
            }
        } else if (s->manner == FAKE_REFUSE) {
            ssize_t sent = send(c->fd, s->refusal, s->refusal_len, MSG_NOSIGNAL);
            (void) sent;
        } else {
            welcome(c);
            if (!s->close_after_welcome) {
                read_rest(c);
            }
        }
    }
    close(c->fd);
    return NULL;
}

static void *server_main(void *arg)
{
    struct fake_server *s = arg;
    for (;;) {
        int fd = accept(s->listen_fd, NULL, NULL);
        pthread_mutex_lock(&s->lock);
        bool ending = s->ending || fd < 0 || s->client_count == FAKE_CLIENTS_MAX;
        if (!ending) {
            struct fake_client *c = &s->clients[s->client_count++];
            c->server = s;
            c->fd = fd;
            pthread_create(&c->thread, NULL, client_main, c);
        }
        pthread_mutex_unlock(&s->lock);
        if (ending) {
            if (fd >= 0) {
                close(fd);
            }
            return NULL;
        }
    }
}

void fake_server_start(struct fake_server *s)
{
    snprintf(s->folder, sizeof s->folder, "/tmp/pgrehearse-fake.XXXXXX");
    assert_non_null(mkdtemp(s->folder));
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    snprintf(address.sun_path, sizeof address.sun_path, "%s/.s.PGSQL.5432", s->folder);
    s->listen_fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    assert_true(s->listen_fd >= 0);
    assert_int_equal(bind(s->listen_fd, (struct sockaddr *) &address, sizeof address), 0);
    assert_int_equal(listen(s->listen_fd, 64), 0);
    pthread_mutex_init(&s->lock, NULL);
    pthread_cond_init(&s->changed, NULL);
    assert_int_equal(pthread_create(&s->thread, NULL, server_main, s), 0);
}

void fake_server_go(struct fake_server *s)
{
    pthread_mutex_lock(&s->lock);
    s->going = true;
    pthread_cond_broadcast(&s->changed);
    pthread_mutex_unlock(&s->lock);
}

void fake_server_stop(struct fake_server *s)
{
    fake_server_go(s);
    pthread_mutex_lock(&s->lock);
    s->ending = true;
    pthread_mutex_unlock(&s->lock);
    shutdown(s->listen_fd, SHUT_RDWR);
    pthread_join(s->thread, NULL);
    for (int i = 0; i < s->client_count; i++) {
        pthread_join(s->clients[i].thread, NULL);
    }
    close(s->listen_fd);
    char path[128];
    snprintf(path, sizeof path, "%s/.s.PGSQL.5432", s->folder);
    unlink(path);
    rmdir(s->folder);
    pthread_mutex_destroy(&s->lock);
    pthread_cond_destroy(&s->changed);
}

const char *fake_client_parameter(const struct fake_client *client, const char *name)
{
    const char *at = client->startup + 4;
    const char *end = client->startup + client->startup_len;
    while (at < end && *at) {
        const char *value = at + strlen(at) + 1;
        if (!strcmp(at, name)) {
            return value;
        }
        at = value + strlen(value) + 1;
    }
    return NULL;
}
