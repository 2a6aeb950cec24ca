/*
 * capture/capture_sink.h
 *
 * Where a capture puts what it has assembled.  Records of one session come in the order of their
 * ordinals; all spans are valid during the call only.
 */
#ifndef RH_CAPTURE_CAPTURE_SINK_H
#define RH_CAPTURE_CAPTURE_SINK_H

#include "common/error.h"
#include "formats/record.h"

struct rh_capture_sink {
    void *context;
    /* Before the session's first record, and again when more of it is known. */
    int (*session)(void *context, const struct rh_session *session, struct rh_error *err);
    int (*record)(void *context, const struct rh_record *r, struct rh_error *err);
    /* No more records of this session. */
    void (*end_session)(void *context, uint32_t number);
};

#endif
