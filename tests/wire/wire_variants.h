/*
 * tests/wire/wire_variants.h
 *
 * A capture of real traffic, mangled in every way: what loses nothing gives the same records, what
 * loses something is marked by gaps, and nothing is invented.
 */
#ifndef RH_TESTS_WIRE_WIRE_VARIANTS_H
#define RH_TESTS_WIRE_WIRE_VARIANTS_H

#include "tests/wire/wire_records.h"

struct wire_variants {
    struct wire_recorded conversations;
    struct wire_records whole;    /* as they are */
    struct wire_records timeless; /* the same without times */
    uint32_t statements;          /* of whole, later fetches among them */
    uint32_t tried;               /* variants */
    uint64_t kept;                /* statements that were left by those with loss, and what they */
    uint64_t could_keep;          /* could have left */
    char fault[4000];             /* the first one; empty: none */
};

/* Reads the file; its own records must be those of its conversations. */
void wire_variants_open(struct wire_variants *v, const char *path, uint16_t port);
void wire_variants_release(struct wire_variants *v);

/* small: also in pieces of one byte. */
void wire_variants_try_lossless(struct wire_variants *v, uint64_t seed, bool small);
void wire_variants_try_links(struct wire_variants *v, uint64_t seed);
/* One to three segments are missing, `rounds` times; cut packets; beginnings and whole sides
 * missing. */
void wire_variants_try_lossy(struct wire_variants *v, uint64_t seed, unsigned rounds);

#endif
