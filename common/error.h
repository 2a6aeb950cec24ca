/*
 * common/error.h
 *
 * Errors are values.  A function that can fail for a reason outside the program returns 0 or -1
 * and fills its last argument once, where the trouble was found; callers pass it on unchanged.
 * The text names the file, line or byte offset, and what to do where that is known.
 */
#ifndef RH_COMMON_ERROR_H
#define RH_COMMON_ERROR_H

enum rh_error_code {
    RH_ERR_NONE,
    RH_ERR_USAGE,   /* the command line */
    RH_ERR_IO,      /* a file or a device; errno was set */
    RH_ERR_FORMAT,  /* bytes that are not what they should be */
    RH_ERR_LIMIT,   /* more than a documented limit */
    RH_ERR_NET,     /* a server that cannot be reached or that refuses */
    RH_ERR_REFUSED, /* we refuse, to avoid harm */
    RH_ERR_STOPPED, /* a signal or a limit ended the work early */
};

/* Exit statuses of every command. */
enum rh_exit {
    RH_EXIT_DONE = 0,
    RH_EXIT_GATE = 1,    /* diff: a gate failed */
    RH_EXIT_TROUBLE = 2, /* usage or trouble, nothing usable was made */
    RH_EXIT_PARTIAL = 3, /* stopped early, damaged or cannot judge; what was made is kept */
};

struct rh_error {
    enum rh_error_code code;
    char text[1000];
};

/* Fill *err (NULL is allowed) and return -1.  A text that is too long is cut. */
int rh_error_set(struct rh_error *err, enum rh_error_code code, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* As rh_error_set() with RH_ERR_IO, ": " and the text of errno appended. */
int rh_error_set_errno(struct rh_error *err, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* RH_ERR_NONE and an empty text. */
void rh_error_clear(struct rh_error *err);

#endif
