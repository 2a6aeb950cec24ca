#!/usr/bin/env bash
# What capture needs for a statement, counted and not timed: instructions, and calls for memory.
#
# The log is made here: pgbench's TPC-B of eight sessions, log_statement = all with log_duration, as a
# server would write it.  Two logs of different length; what one statement needs is the difference of
# the counts by the difference of the statements, so the start of the program counts for nothing.
set -u
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
# shellcheck source=tests/lib/check.sh
source "$here/../lib/check.sh"
# shellcheck source=tests/count/count_lib.sh
source "$here/count_lib.sh"

# About a fifth more than was measured (gcc 12).
instructions_max=5400

count_begin

# make_log TRANSACTIONS: seven statements each
make_log() {
    awk -v transactions="$1" 'BEGIN {
        split("3b1 3b2 3b3 3b4 3b5 3b6 3b7 3b8", pid, " ")
        srand(1)
        for (t = 0; t < transactions; t++) {
            s = t % 8 + 1
            aid = int(rand() * 1000000) + 1
            delta = int(rand() * 10001) - 5000
            teller = int(rand() * 100) + 1
            branch = int(rand() * 10) + 1
            put(s, "idle", 0, "BEGIN", "BEGIN;")
            put(s, "idle in transaction", 1, "UPDATE", "UPDATE pgbench_accounts SET abalance = abalance + " delta " WHERE aid = " aid ";")
            put(s, "idle in transaction", 1, "SELECT", "SELECT abalance FROM pgbench_accounts WHERE aid = " aid ";")
            put(s, "idle in transaction", 1, "UPDATE", "UPDATE pgbench_tellers SET tbalance = tbalance + " delta " WHERE tid = " teller ";")
            put(s, "idle in transaction", 1, "UPDATE", "UPDATE pgbench_branches SET bbalance = bbalance + " delta " WHERE bid = " branch ";")
            put(s, "idle in transaction", 1, "INSERT", "INSERT INTO pgbench_history (tid, bid, aid, delta, mtime) VALUES (" teller ", " branch ", " aid ", " delta ", CURRENT_TIMESTAMP);")
            put(s, "idle in transaction", 1, "COMMIT", "END;")
        }
    }
    function put(s, display, open, tag, sql) {
        if (!open)
            vxid[s]++
        record(s, display, vxid[s] + 1000, "statement: " sql)
        record(s, tag, tag == "COMMIT" ? 0 : vxid[s] + 1000, sprintf("duration: %d.%03d ms", int(rand() * 3), int(rand() * 1000)))
    }
    function record(s, display, lxid, message) {
        ms++
        printf "2026-01-05 %02d:%02d:%02d.%03d UTC,\"postgres\",\"postgres\",%d,\"[local]\",695b5700.%s,%d,\"%s\",2026-01-05 06:20:00 UTC,%d/%d,0,LOG,00000,\"%s\",,,,,,,,,\"pgbench\",\"client backend\",,0\n",
            7 + int(ms / 3600000), int(ms / 60000) % 60, int(ms / 1000) % 60, ms % 1000, 944 + s, pid[s],
            ++line[s], display, s + 2, lxid, message
    }'
}

command_of() {
    command=("$RH_BIN/pgrehearse-capture" log -o "$WORK/$1.trace" "$WORK/$1.csv")
}

short_transactions=1000
long_transactions=6000
make_log $short_transactions >"$WORK/short.csv"
make_log $long_transactions >"$WORK/long.csv"

"$RH_BIN/pgrehearse-capture" log -o "$WORK/long.trace" "$WORK/long.csv" >/dev/null 2>"$WORK/err"
check "all statements are captured" grep -q "^statements   $((long_transactions * 7)):.* $((long_transactions * 7)) with a duration" "$WORK/err"

# Tables and buffers double a few times on the way; one call a hundred statements would be 350 here.
check_each '' short long $(((long_transactions - short_transactions) * 7)) $instructions_max 100
check_end
