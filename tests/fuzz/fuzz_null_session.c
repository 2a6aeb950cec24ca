/*
 * The null server's session.  The first byte of an input says whether a login goes before the rest,
 * the second the length of the pieces.  Cut in pieces or whole, the stream gets the same answers,
 * and they are the protocol.
 */
#include <stdbool.h>
#include <string.h>

#include "formats/pg_scan.h"
#include "fuzz_target.h"
#include "replay/null_session.h"

/* An input may ask for any number of rows: no more of them are looked at. */
enum { ANSWER_MAX = 1 << 20, TURNS_MAX = 100000 };

/* What a run was answered; equal for every way to cut its input. */
struct sight {
    uint64_t hash;
    uint64_t bytes;
    uint64_t statements;
    uint64_t errors;
    bool is_cut;
};

struct run {
    struct rh_null_session session;
    struct rh_pg_scan scan; /* of the answers */
    struct rh_buf out;
    struct sight sight;
    bool is_answered_plainly; /* the one byte that refuses TLS is no message */
};

static void see(struct run *r)
{
    struct rh_pg_event ev;
    for (size_t i = 0; i < r->out.len; i++) {
        r->sight.hash = (r->sight.hash ^ (uint8_t) r->out.data[i]) * UINT64_C(1099511628211);
    }
    r->sight.bytes += r->out.len;
    r->is_answered_plainly = r->is_answered_plainly && r->session.phase != RH_NULL_STARTUP;
    for (size_t at = 0; r->is_answered_plainly && at < r->out.len;) {
        ptrdiff_t used = rh_pg_scan_next(&r->scan, r->out.data + at, r->out.len - at, &ev, NULL);
        rh_fuzz_require(used > 0, "the answers are the protocol");
        at += (size_t) used;
    }
    rh_fuzz_require(!r->out.over, "an answer fits");
    rh_buf_clear(&r->out);
}

/* Give it n bytes.  False: it takes no more. */
static bool give(struct run *r, const char *data, size_t n)
{
    enum rh_null_turn turn = RH_NULL_READS;
    for (int turns = 0; turns < TURNS_MAX; turns++) {
        if (r->sight.bytes > ANSWER_MAX) {
            break;
        }
        if (turn == RH_NULL_READS && n == 0) {
            return true;
        }
        if (turn == RH_NULL_READS) {
            size_t used;
            turn = rh_null_session_take(&r->session, data, n, &used, &r->out);
            rh_fuzz_require(used <= n && (used == n || turn != RH_NULL_READS),
                            "it takes all, or says why not");
            data += used;
            n -= used;
        } else if (turn == RH_NULL_WRITES || turn == RH_NULL_WAITS) {
            turn = rh_null_session_resume(&r->session, &r->out);
        } else {
            return false;
        }
        see(r);
    }
    r->sight.is_cut = true;
    return false;
}

static struct sight look(const uint8_t *data, size_t size, bool logs_in, size_t piece)
{
    static const char login[] = "\0\0\0\x10\0\3\0\0user\0x\0";
    struct rh_null_options options;
    struct rh_null_counts counts = {0};
    struct run r = {.is_answered_plainly = logs_in};
    rh_null_options_init(&options);
    options.max_connections = 3;
    rh_null_options_check(&options, NULL);
    rh_null_session_init(&r.session, &options, &counts, 1, 1);
    rh_pg_scan_init(&r.scan, RH_PG_BACKEND, 300);
    rh_buf_init(&r.out, RH_NULL_OUT_MAX);
    bool goes_on = !logs_in || give(&r, login, sizeof login);
    for (size_t at = 0; goes_on && at < size;) {
        size_t n = piece && piece < size - at ? piece : size - at;
        goes_on = give(&r, (const char *) data + at, n);
        at += n;
    }
    r.sight.statements = counts.statements;
    r.sight.errors = counts.errors;
    rh_null_session_release(&r.session);
    rh_pg_scan_release(&r.scan);
    rh_buf_release(&r.out);
    return r.sight;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size < 2) {
        return 0;
    }
    bool logs_in = data[0] & 1;
    struct sight whole = look(data + 2, size - 2, logs_in, 0);
    struct sight cut = look(data + 2, size - 2, logs_in, data[1] + 1U);
    bool same = whole.hash == cut.hash && whole.bytes == cut.bytes &&
                whole.statements == cut.statements && whole.errors == cut.errors;
    rh_fuzz_require(whole.is_cut || cut.is_cut || same, "pieces get the same answers");
    return 0;
}
