#include "diff/volatile_text.h"

#include <string.h>

#include "common/sql_scan.h"

/* Words that are no calls (src/backend/parser/gram.y, SQLValueFunction). */
static const char *const words[] = {"current_date", "current_time", "current_timestamp",
                                    "localtime", "localtimestamp"};

/* Functions that pg_proc calls volatile, or stable by the time of the transaction. */
static const char *const functions[] = {
    "clock_timestamp",
    "currval",
    "gen_random_uuid",
    "lastval",
    "nextval",
    "now",
    "pg_backend_pid",
    "pg_current_snapshot",
    "pg_current_wal_lsn",
    "pg_current_xact_id",
    "pg_is_in_recovery",
    "pg_postmaster_start_time",
    "random",
    "random_normal",
    "statement_timestamp",
    "timeofday",
    "transaction_timestamp",
    "txid_current",
    "txid_current_snapshot",
    "uuid_generate_v1",
    "uuid_generate_v1mc",
    "uuid_generate_v4",
    "uuidv4",
    "uuidv7",
};

/* What chooses rows stands behind one of these; ON CONFLICT is told apart. */
static const char *const choosers[] = {"from",   "where", "join",   "on",    "using",
                                       "having", "limit", "offset", "fetch", "distinct"};

/* These choose by themselves. */
static const char *const samplers[] = {"tablesample"};

static bool is_one_of(struct rh_span word, const char *const *list, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (rh_span_is_nocase(word, list[i])) {
            return true;
        }
    }
    return false;
}

#define IS_ONE_OF(word, list) is_one_of(word, list, sizeof(list) / sizeof((list)[0]))

/* The next token that is no blank and no comment. */
static struct rh_sql_token next(struct rh_sql_scan *scan)
{
    struct rh_sql_token t;
    do {
        t = rh_sql_scan_next(scan);
    } while (t.kind == RH_SQL_SPACE || t.kind == RH_SQL_COMMENT);
    return t;
}

static bool is_punct(const struct rh_sql_scan *scan, const struct rh_sql_token *t, char c)
{
    return t->kind == RH_SQL_PUNCT && t->len == 1 && scan->data[t->start] == c;
}

bool rh_volatile_text(struct rh_span sql)
{
    struct rh_sql_scan scan;
    bool chooses = false;   /* rows are chosen by what stands here */
    bool qualified = false; /* the token before was a point */
    rh_sql_scan_init(&scan, sql, false);
    struct rh_sql_token t = next(&scan);
    while (t.kind != RH_SQL_END) {
        struct rh_sql_token after = next(&scan);
        struct rh_span word = rh_span(sql.data + t.start, t.kind == RH_SQL_WORD ? t.len : 0);
        bool called = is_punct(&scan, &after, '(');
        bool moves =
            (!qualified && IS_ONE_OF(word, words)) || (called && IS_ONE_OF(word, functions));
        if ((chooses && moves) || (!qualified && IS_ONE_OF(word, samplers))) {
            return true;
        }
        if (!qualified && IS_ONE_OF(word, choosers)) {
            bool conflict =
                rh_span_is_nocase(rh_span(sql.data + after.start, after.len), "conflict");
            chooses |= !conflict;
        } else if (is_punct(&scan, &t, ';')) {
            chooses = false;
        }
        qualified = is_punct(&scan, &t, '.');
        t = after;
    }
    return false;
}
