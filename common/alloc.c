#include "common/alloc.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

static _Thread_local uint64_t alloc_calls;

static void *alloc_check(void *p, size_t size)
{
    alloc_calls++;
    if (!p) {
        fprintf(stderr, "pgrehearse: out of memory (%zu bytes wanted)\n", size);
        exit(2);
    }
    return p;
}

static size_t alloc_product(size_t count, size_t size)
{
    size_t total;
    if (__builtin_mul_overflow(count, size, &total)) {
        alloc_check(NULL, SIZE_MAX);
    }
    return total ? total : 1;
}

void *rh_malloc(size_t size)
{
    return alloc_check(malloc(size ? size : 1), size);
}

void *rh_malloc_whole(size_t size)
{
    const size_t page = (size_t) 2 << 20;
    if (size < page / 4 || size > SIZE_MAX - page) {
        return rh_malloc(size);
    }
    size = (size + page - 1) & ~(page - 1);
    void *p = alloc_check(aligned_alloc(page, size), size);
    /* A system without them gives small pages, which do as well. */
    (void) madvise(p, size, MADV_HUGEPAGE);
    return p;
}

void *rh_calloc(size_t count, size_t size)
{
    size_t total = alloc_product(count, size);
    return alloc_check(calloc(1, total), total);
}

void *rh_realloc(void *old, size_t count, size_t size)
{
    size_t total = alloc_product(count, size);
    return alloc_check(realloc(old, total), total);
}

char *rh_strdup(const char *text)
{
    return rh_memdup(text, strlen(text));
}

char *rh_memdup(const char *data, size_t n)
{
    char *copy = rh_malloc(n + 1);
    if (n) {
        memcpy(copy, data, n);
    }
    copy[n] = '\0';
    return copy;
}

void rh_free(void *p)
{
    free(p);
}

uint64_t rh_alloc_count(void)
{
    return alloc_calls;
}
