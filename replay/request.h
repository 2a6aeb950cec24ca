/*
 * replay/request.h
 *
 * The frontend messages of one record, as a log implies them: a simple Query, or Parse (where
 * needed), Bind, Execute and Sync.
 */
#ifndef RH_REPLAY_REQUEST_H
#define RH_REPLAY_REQUEST_H

#include <stdbool.h>
#include <stdint.h>

#include "common/arena.h"
#include "common/buf.h"
#include "formats/record.h"
#include "replay/exchange.h"
#include "replay/prepared.h"

struct rh_request {
    enum rh_exchange_end end;
    bool extended;      /* extended protocol: after an error the server skips to Sync */
    bool parses;        /* a Parse of a named statement is in it */
    uint64_t text_hash; /* of that statement */
};

/*
 * Append the messages of r to out; *text is scratch and then holds the whole text.  Without a Sync
 * the request ends with Flush: the record is in the middle of a pipeline.  -1 if the record cannot
 * be expressed (a NUL in a name or text, too many parameters, too large); out is unchanged then.
 */
int rh_request_build(struct rh_request *request, const struct rh_record *r, bool with_sync,
                     const struct rh_prepared *prepared, struct rh_arena *arena,
                     struct rh_buf *text, struct rh_buf *out, struct rh_error *err);

#endif
