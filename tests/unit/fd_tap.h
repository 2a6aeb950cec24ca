/*
 * tests/unit/fd_tap.h
 *
 * What a piece of a test writes to one of its own file descriptors.
 */
#ifndef RH_TESTS_UNIT_FD_TAP_H
#define RH_TESTS_UNIT_FD_TAP_H

#include "rh_test.h"

#include <stdio.h>
#include <unistd.h>

struct fd_tap {
    int fd;
    int saved;
    FILE *file;
    char text[16384];
};

static inline void fd_tap_open(struct fd_tap *t, int fd)
{
    fflush(NULL);
    t->fd = fd;
    t->saved = dup(fd);
    t->file = tmpfile();
    assert_non_null(t->file);
    assert_true(dup2(fileno(t->file), fd) >= 0);
}

/* The text, valid until the tap is opened again. */
static inline const char *fd_tap_close(struct fd_tap *t)
{
    fflush(NULL);
    dup2(t->saved, t->fd);
    close(t->saved);
    rewind(t->file);
    size_t n = fread(t->text, 1, sizeof t->text - 1, t->file);
    t->text[n] = '\0';
    fclose(t->file);
    return t->text;
}

#endif
