/*
 * tests/wire/wire_records.h
 *
 * What `capture wire` makes of conversations, as `show` prints it: through a capture file, packets,
 * TCP, the protocol, a trace file and its reader.  Records of each session stand together in their
 * order; a session is named by its client's port, so that another order of the sessions is no
 * difference.
 */
#ifndef RH_TESTS_WIRE_WIRE_RECORDS_H
#define RH_TESTS_WIRE_WIRE_RECORDS_H

#include "common/buf.h"
#include "common/error.h"
#include "formats/record.h"
#include "tests/wire/wire_file.h"
#include "tests/wire/wire_frame.h"
#include "tests/wire/wire_recorded.h"

struct wire_record {
    uint32_t session; /* the client's port; 0: of no session */
    uint64_t ordinal; /* 0: none */
    enum rh_kind kind;
    enum rh_reason hold;
    uint32_t sqlstate;
    int64_t rows;
    bool joined_midway; /* its session */
    uint32_t place;     /* among all, as the reader gave them */
    size_t said; /* in bytes of text, NUL-ended: what the client said, outcome, times and marks left
                    out */
    size_t line; /* all of it */
};

struct wire_records {
    struct wire_record *list;
    size_t count;
    size_t cap;
    struct rh_buf text;
};

struct wire_records_options {
    const struct wire_link *link;
    enum wire_format format;
    uint32_t snaplen; /* 0: all */
    bool swapped;
    bool without_times;
};

/* Of conversations, whose segments are put in one file in the order of time.  Each conversation's
 * own order stays. */
void wire_records_make(struct wire_records *r, const struct wire_recorded *conversations,
                       const struct wire_records_options *options);
/* Of a capture file as it is, sessions by their numbers and without the addresses of their clients.
 */
void wire_records_of_file(struct wire_records *r, const char *path, uint16_t port);
void wire_records_release(struct wire_records *r);

const char *wire_records_said(const struct wire_records *r, size_t i);
const char *wire_records_line(const struct wire_records *r, size_t i);

#endif
