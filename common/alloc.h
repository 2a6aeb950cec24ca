/*
 * common/alloc.h
 *
 * Allocation without an error path: out of memory ends the program with a message.  In exchange
 * nothing that is sized by input may be allocated before it was checked against a limit.
 */
#ifndef RH_COMMON_ALLOC_H
#define RH_COMMON_ALLOC_H

#include <stddef.h>
#include <stdint.h>

void *rh_malloc(size_t size) __attribute__((malloc, returns_nonnull, warn_unused_result));
/* Zeroed; count * size is checked for overflow. */
void *rh_calloc(size_t count, size_t size)
    __attribute__((malloc, returns_nonnull, warn_unused_result));
/* count * size is checked for overflow. */
void *rh_realloc(void *old, size_t count, size_t size)
    __attribute__((returns_nonnull, warn_unused_result));
/* The same for memory that stays and will be used whole: from 512 KiB on it is a multiple of 2 MiB
 * and the system is asked for huge pages, as each first touch of a small one enters the kernel. */
void *rh_malloc_whole(size_t size) __attribute__((malloc, returns_nonnull, warn_unused_result));
char *rh_strdup(const char *text) __attribute__((malloc, returns_nonnull, warn_unused_result));
/* Copy n bytes and end them with a NUL. */
char *rh_memdup(const char *data, size_t n)
    __attribute__((malloc, returns_nonnull, warn_unused_result));
void rh_free(void *p);

/* Calls of the functions above that took memory, by this thread; for tests that count. */
uint64_t rh_alloc_count(void);

/* Grow a heap array so that index `used` can be written; *cap counts elements. */
#define RH_GROW(array, used, cap)                                                                  \
    do {                                                                                           \
        if ((used) >= (cap)) {                                                                     \
            (cap) = (cap) ? (cap) *2 : 16;                                                         \
            (array) = rh_realloc((array), (cap), sizeof *(array));                                 \
        }                                                                                          \
    } while (0)

#endif
