/*
 * tests/integration/wire_talker.c
 *
 *   wire_talker PORT USER DATABASE NAME SCRIPT
 *
 * A client that says what it is told, for what no client library says.  A line of the script is one
 * message, its fields with | between them, "-" for an empty name or list:
 *
 *   Q sql                    P name|type,type...|sql        E portal|rows
 *   B portal|name|formats|values|result formats             F oid|formats|values|result format
 *   D S|name   D P|name   C S|name   C P|name   H   S
 *   d text (a newline is added)   c   f reason
 *
 * formats: - (the shortest form), one or each.  values: with commas between them tTEXT, xHEX (a
 * binary value) or N (NULL).  Result formats: digits 0 and 1.
 *
 *   > send what is collected in one piece, which "?" does too
 *   ? TYPE COUNT   wait for so many messages of this type, errors not expected are told
 *   gone           close the connection without Terminate
 *   reset          the same with a RST
 *   cancel         send a CancelRequest for this connection, and wait until it is taken
 *   pause MS       wait (a place in time, not for something to happen)
 */
#include <arpa/inet.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "formats/pg_message.h"
#include "formats/pg_scan.h"
#include "formats/pg_write.h"

enum { VALUES_MAX = 16, FIELDS_MAX = 8, VALUE_BYTES = 256 };

static struct rh_buf out;
static struct rh_pg_scan scan;
static int fd;
static struct sockaddr_in address;
static uint32_t backend_pid;
static char key[256];
static size_t key_len;
static int line_number;

static void die(const char *what)
{
    fprintf(stderr, "wire_talker: line %d: %s (%s)\n", line_number, what, strerror(errno));
    exit(1);
}

static void push(void)
{
    for (size_t at = 0; at < out.len;) {
        ssize_t n = send(fd, out.data + at, out.len - at, MSG_NOSIGNAL);
        if (n < 0) {
            die("send");
        }
        at += (size_t) n;
    }
    rh_buf_clear(&out);
}

static void keep_key(struct rh_span body)
{
    struct rh_span found;
    if (rh_pg_key_decode(body, &backend_pid, &found) == 0) {
        memcpy(key, found.data, found.len);
        key_len = found.len;
    }
}

/* Read until so many messages of the type have come.  Bytes beyond them are kept. */
static void await(char type, int count)
{
    static char data[16384];
    static size_t have;
    static size_t at;
    push();
    while (count > 0) {
        if (at == have) {
            ssize_t n = recv(fd, data, sizeof data, 0);
            if (n <= 0) {
                die("the server has closed the connection");
            }
            have = (size_t) n;
            at = 0;
        }
        struct rh_pg_event ev;
        ptrdiff_t used = rh_pg_scan_next(&scan, data + at, have - at, &ev, NULL);
        if (used < 0) {
            die("the answer is not of the protocol");
        }
        at += (size_t) used;
        if (ev.type == 'K') {
            keep_key(ev.body);
        }
        count -= ev.type == type;
        count -= type == 'D' ? (int) ev.rows : 0;
    }
}

static int split(char *line, char separator, char **fields, int max)
{
    int count = 0;
    while (line && count < max) {
        fields[count++] = line;
        line = count < max ? strchr(line, separator) : NULL;
        if (line) {
            *line++ = '\0';
        }
    }
    return count;
}

static struct rh_span name_of(const char *field)
{
    return rh_span_cstr(strcmp(field, "-") == 0 ? "" : field);
}

static unsigned digit(char c)
{
    return c <= '9' ? (unsigned) (c - '0') : (unsigned) (c - 'a' + 10);
}

static uint32_t values_of(char *field, struct rh_param *params)
{
    static char bytes[VALUES_MAX][VALUE_BYTES];
    char *items[VALUES_MAX];
    if (strcmp(field, "-") == 0) {
        return 0;
    }
    uint32_t count = (uint32_t) split(field, ',', items, VALUES_MAX);
    for (uint32_t i = 0; i < count; i++) {
        const char *item = items[i] + 1;
        params[i] = (struct rh_param){.data = item, .len = (uint32_t) strlen(item)};
        if (items[i][0] == 'N') {
            params[i] = (struct rh_param){0};
        } else if (items[i][0] == 'x') {
            params[i].len /= 2;
            for (uint32_t k = 0; k < params[i].len; k++) {
                bytes[i][k] = (char) (digit(item[2 * k]) << 4 | digit(item[2 * k + 1]));
            }
            params[i].data = bytes[i];
            params[i].format = 1;
        }
    }
    return count;
}

static enum rh_pg_formats formats_of(const char *field)
{
    return strcmp(field, "one") == 0    ? RH_PG_FORMATS_ONE
           : strcmp(field, "each") == 0 ? RH_PG_FORMATS_EACH
                                        : RH_PG_FORMATS_SHORTEST;
}

static void add_bind(char **f)
{
    struct rh_param params[VALUES_MAX];
    uint16_t results[VALUES_MAX];
    struct rh_pg_bind bind = {.portal = name_of(f[0]),
                              .statement = name_of(f[1]),
                              .formats = formats_of(f[2]),
                              .params = params,
                              .result_formats = results};
    bind.param_count = values_of(f[3], params);
    for (const char *at = f[4]; *at != '-' && *at && bind.result_format_count < VALUES_MAX; at++) {
        results[bind.result_format_count++] = (uint16_t) (*at - '0');
    }
    rh_pg_write_bind(&out, &bind, NULL);
}

static void add_parse(char **f)
{
    char *items[VALUES_MAX];
    uint32_t types[VALUES_MAX];
    int count = strcmp(f[1], "-") == 0 ? 0 : split(f[1], ',', items, VALUES_MAX);
    for (int i = 0; i < count; i++) {
        types[i] = (uint32_t) strtoul(items[i], NULL, 10);
    }
    rh_pg_write_parse(&out, name_of(f[0]), rh_span_cstr(f[2]), types, (uint32_t) count, NULL);
}

static void add_call(char **f)
{
    struct rh_param params[VALUES_MAX];
    struct rh_pg_function_call call = {.function_oid = (uint32_t) strtoul(f[0], NULL, 10),
                                       .formats = formats_of(f[1]),
                                       .params = params,
                                       .result_format = (uint16_t) (f[3][0] - '0')};
    call.param_count = values_of(f[2], params);
    rh_pg_write_function_call(&out, &call, NULL);
}

static void need(int found, int wanted)
{
    if (found < wanted) {
        errno = 0;
        die("too few fields");
    }
}

static int open_socket(void)
{
    int s = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (s < 0 || connect(s, (const struct sockaddr *) &address, sizeof address) != 0) {
        die("connect");
    }
    return s;
}

/* The server closes the connection when it has sent the signal. */
static void cancel(void)
{
    char nothing;
    int own = fd;
    push();
    fd = open_socket();
    rh_pg_write_cancel(&out, backend_pid, rh_span(key, key_len), NULL);
    push();
    while (recv(fd, &nothing, 1, 0) > 0) {
    }
    close(fd);
    fd = own;
}

/* Words in place of a message. */
static bool take_word(char *line)
{
    if (strcmp(line, "cancel") == 0) {
        cancel();
    } else if (strncmp(line, "pause ", 6) == 0) {
        push();
        usleep((useconds_t) strtoul(line + 6, NULL, 10) * 1000);
    } else {
        return false;
    }
    return true;
}

static void take_line(char *line)
{
    char *f[FIELDS_MAX];
    char *rest = line[0] && line[1] ? line + 2 : line + strlen(line);
    size_t length;
    switch (line[0]) {
    case 'Q':
        rh_pg_write_query(&out, rh_span_cstr(rest), NULL);
        break;
    case 'P':
        need(split(rest, '|', f, 3), 3);
        add_parse(f);
        break;
    case 'B':
        need(split(rest, '|', f, 5), 5);
        add_bind(f);
        break;
    case 'E':
        need(split(rest, '|', f, 2), 2);
        rh_pg_write_execute(&out, name_of(f[0]), (int32_t) strtol(f[1], NULL, 10), NULL);
        break;
    case 'F':
        need(split(rest, '|', f, 4), 4);
        add_call(f);
        break;
    case 'D':
    case 'C':
        need(split(rest, '|', f, 2), 2);
        (line[0] == 'D' ? rh_pg_write_describe : rh_pg_write_close)(
            &out, (enum rh_pg_object) f[0][0], name_of(f[1]), NULL);
        break;
    case 'H':
        rh_pg_write_flush(&out, NULL);
        break;
    case 'S':
        rh_pg_write_sync(&out, NULL);
        break;
    case 'd':
        length = strlen(rest);
        rest[length] = '\n'; /* it was one before */
        rh_pg_write_copy_data(&out, rh_span(rest, length + 1), NULL);
        break;
    case 'c':
        rh_pg_write_copy_done(&out, NULL);
        break;
    case 'f':
        rh_pg_write_copy_fail(&out, rh_span_cstr(rest), NULL);
        break;
    case '>':
        push();
        break;
    case '?':
        await(rest[0], (int) strtol(rest + 1, NULL, 10));
        break;
    case '#':
    case '\0':
        break;
    default:
        errno = 0;
        die(line);
    }
}

static void log_in(char **argv)
{
    address = (struct sockaddr_in){.sin_family = AF_INET,
                                   .sin_port = htons((uint16_t) strtoul(argv[1], NULL, 10)),
                                   .sin_addr = {htonl(INADDR_LOOPBACK)}};
    fd = open_socket();
    const char *const words[] = {"user", argv[2], "database", argv[3], "application_name", argv[4]};
    rh_buf_add_be32(&out, 0);
    rh_buf_add_be32(&out, 196608);
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++) {
        rh_buf_add(&out, words[i], strlen(words[i]) + 1);
    }
    rh_buf_add_byte(&out, 0);
    out.data[2] = (char) (out.len >> 8);
    out.data[3] = (char) out.len;
    await('Z', 1);
}

int main(int argc, char **argv)
{
    char *line = NULL;
    size_t cap = 0;
    bool gone = false;
    bool is_reset = false;
    if (argc != 6) {
        fprintf(stderr, "usage: wire_talker PORT USER DATABASE NAME SCRIPT\n");
        return 2;
    }
    rh_buf_init(&out, 64 << 20);
    rh_pg_scan_init(&scan, RH_PG_BACKEND, RH_PG_BODY_MAX);
    FILE *script = fopen(argv[5], "r");
    if (!script) {
        die(argv[5]);
    }
    log_in(argv);
    while (!gone && getline(&line, &cap, script) > 0) {
        line_number++;
        line[strcspn(line, "\n")] = '\0';
        is_reset = strcmp(line, "reset") == 0;
        gone = is_reset || strcmp(line, "gone") == 0;
        if (!gone && !take_word(line)) {
            take_line(line);
        }
    }
    if (!gone) {
        rh_pg_write_terminate(&out, NULL);
    }
    push();
    if (is_reset) {
        const struct linger none = {.l_onoff = 1, .l_linger = 0};
        setsockopt(fd, SOL_SOCKET, SO_LINGER, &none, sizeof none);
    }
    close(fd);
    fclose(script);
    free(line);
    rh_buf_release(&out);
    rh_pg_scan_release(&scan);
    return 0;
}
