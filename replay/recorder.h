/*
 * replay/recorder.h
 *
 * The thread that writes the run file.  Handing in a batch never waits; what is handed in is on the
 * disk two seconds later, so that a kill takes little.
 */
#ifndef RH_REPLAY_RECORDER_H
#define RH_REPLAY_RECORDER_H

#include <stdbool.h>
#include <stdint.h>

#include "common/error.h"
#include "formats/trace_writer.h"
#include "replay/batch.h"

struct rh_recorder;

/* More than this in wait for the disk (up to about 20 kB each) ends the replay. */
enum { RH_RECORDER_BATCHES_MAX = 16384 };

struct rh_recorder_options {
    const char *path;
    const struct rh_trace_header *header;
    /* The user and database a session is replayed as; none: as captured. */
    void (*identify)(void *ctx, struct rh_session *session);
    /* Writing failed: called once, in the recorder's thread; from then on batches are dropped. */
    void (*fail)(void *ctx, const struct rh_error *err);
    void *ctx;
};

/* Creates the run file (PATH.partial until it is finished). */
int rh_recorder_new(struct rh_recorder **out, struct rh_batch_pool *pool,
                    const struct rh_recorder_options *options, struct rh_error *err);
/* Records with their outcomes, or one OPEN or CLOSE record; the batch goes back to the pool.
 * Batches of one session come in their order.  From any thread. */
void rh_recorder_put(struct rh_recorder *recorder, struct rh_batch *batch);

/* Write all that was handed in and end the thread.  The caller may then write on by
 * rh_recorder_write(), in its own thread. */
void rh_recorder_drain(struct rh_recorder *recorder);
int rh_recorder_write(struct rh_recorder *recorder, struct rh_plan_session *planned,
                      const struct rh_record *r, struct rh_error *err);
/* Whether writing failed, and how. */
bool rh_recorder_failed(const struct rh_recorder *recorder, struct rh_error *err);

/* After rh_recorder_drain(): what became known during the run goes to the file's end. */
void rh_recorder_note(struct rh_recorder *recorder, const char *name, struct rh_span value);
/* After rh_recorder_drain(): complete the file and free; the file is kept in any case. */
int rh_recorder_finish(struct rh_recorder *recorder, bool stopped_early, struct rh_error *err);
/* After rh_recorder_drain(): free, and remove the file. */
void rh_recorder_discard(struct rh_recorder *recorder);

#endif
