/*
 * tests/integration/wire_mangled.c
 *
 *   wire_mangled FILE.pcap PORT [ROUNDS]
 *
 * Holds a capture against itself, mangled (tests/wire/wire_variants.h); with loss ROUNDS times
 * (default: 4), each time other losses.  Prints a line of sums, and
 * what is wrong first; then it ends with 1.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "tests/wire/wire_variants.h"

int main(int argc, char **argv)
{
    struct wire_variants v;
    if (argc < 3 || argc > 4) {
        fprintf(stderr, "usage: wire_mangled FILE PORT [ROUNDS]\n");
        return 2;
    }
    unsigned rounds = argc > 3 ? (unsigned) strtoul(argv[3], NULL, 10) : 4;
    wire_variants_open(&v, argv[1], (uint16_t) strtoul(argv[2], NULL, 10));
    if (!v.fault[0]) {
        wire_variants_try_lossless(&v, 1, false);
        wire_variants_try_lossy(&v, 1, rounds);
    }
    bool bad = v.fault[0] != '\0';
    printf("%zu connections, %zu left out, %" PRIu32 " statements, %" PRIu32
           " variants; those with loss kept %" PRIu64 " of %" PRIu64 " statements\n%s",
           v.conversations.count, v.conversations.left_out, v.statements, v.tried, v.kept,
           v.could_keep, v.fault);
    wire_variants_release(&v);
    return bad;
}
