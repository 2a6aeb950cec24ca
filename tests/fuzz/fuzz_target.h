/*
 * tests/fuzz/fuzz_target.h
 *
 * What every fuzz target defines (libFuzzer's interface).
 */
#ifndef RH_TESTS_FUZZ_FUZZ_TARGET_H
#define RH_TESTS_FUZZ_FUZZ_TARGET_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

/* Ends the program when the input shows a bug. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static inline void rh_fuzz_require(int holds, const char *what)
{
    if (!holds) {
        (void) fprintf(stderr, "does not hold: %s\n", what);
        abort();
    }
}

#endif
