/*
 * common/noun.h
 *
 * Counts in messages: "1 table", "2 tables".
 */
#ifndef RH_COMMON_NOUN_H
#define RH_COMMON_NOUN_H

#include <stdint.h>

/* The form of a word that goes with a count; for what is behind the count ("has", "have") too. */
static inline const char *rh_noun(uint64_t count, const char *one, const char *many)
{
    return count == 1 ? one : many;
}

/* For printf's "%s": no plural that is made by an s stands as "1 tables". */
static inline const char *rh_plural(uint64_t count)
{
    return count == 1 ? "" : "s";
}

#endif
