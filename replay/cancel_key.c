#include "replay/cancel_key.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>

void rh_cancel_key_init(struct rh_cancel_key *key)
{
    key->pid = 0;
    key->len = 0;
    key->line_len = 0;
}

static int hex_digit(char c)
{
    static const char digits[] = "0123456789abcdef";
    const char *at = c ? strchr(digits, c) : NULL;
    return at ? (int) (at - digits) : -1;
}

/* 'abc\x00': from libpq 18 on, since a key may have another length than 4. */
static size_t take_quoted(const char *at, const char *end, char out[RH_CANCEL_KEY_MAX])
{
    size_t n = 0;
    while (at < end && n < RH_CANCEL_KEY_MAX) {
        bool is_escaped = end - at >= 4 && at[0] == '\\' && at[1] == 'x' && hex_digit(at[2]) >= 0 &&
                          hex_digit(at[3]) >= 0;
        int byte = is_escaped ? hex_digit(at[2]) * 16 + hex_digit(at[3]) : (unsigned char) *at;
        out[n++] = (char) (unsigned char) byte;
        at += is_escaped ? 4 : 1;
    }
    return at == end ? n : 0;
}

/* "B", the length, "BackendKeyData", pid and key. */
static void take_line(struct rh_cancel_key *key)
{
    static const char name[] = "\tBackendKeyData\t ";
    char *line = key->line;
    line[key->line_len] = '\0';
    char *at = strncmp(line, "B\t", 2) == 0 ? strstr(line, name) : NULL;
    if (!at) {
        return;
    }
    char *end;
    long pid = strtol(at + sizeof name - 1, &end, 10);
    if (*end != ' ') {
        return;
    }
    at = end + 1;
    char *last = line + key->line_len - 1;
    if (*at == '\'' && last > at && *last == '\'') {
        key->len = take_quoted(at + 1, last, key->bytes);
    } else {
        uint32_t number = (uint32_t) strtol(at, &end, 10);
        key->len = end > at && *end == '\0' ? 4 : 0;
        for (int i = 0; i < 4; i++) {
            key->bytes[i] = (char) (number >> (24 - 8 * i));
        }
    }
    key->pid = (uint32_t) pid;
}

void rh_cancel_key_feed(struct rh_cancel_key *key, const char *data, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        if (data[i] == '\n') {
            take_line(key);
            key->line_len = 0;
        } else if (key->line_len < sizeof key->line - 1) {
            key->line[key->line_len++] = data[i];
        }
    }
}

static ssize_t write_trace(void *cookie, const char *data, size_t n)
{
    rh_cancel_key_feed(cookie, data, n);
    return (ssize_t) n;
}

FILE *rh_cancel_key_trace(struct rh_cancel_key *key)
{
    return fopencookie(key, "w", (cookie_io_functions_t){.write = write_trace});
}
