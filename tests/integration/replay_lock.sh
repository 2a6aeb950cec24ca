#!/usr/bin/env bash
# A session is blocked by a row lock, with a long backlog behind the blocked statement, and the
# holder's COMMIT comes more than ten read-ahead budgets later in the trace.  The replay must end.
set -u
# shellcheck source=tests/integration/replay_lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/replay_lib.sh"

BACKLOG=6000 # statements of the blocked session, and as many of a third one, 1,000 bytes each
READ_AHEAD=1MB

produce() {
    session 1 0 2000
    session 2 0 2000
    session 3 0 2000
    query 1 10 1 bk BEGIN
    query 1 20 1 k 'UPDATE account SET owner = $$holder$$, changes = changes + 1 WHERE id = 1'
    query 2 500 1 be 'UPDATE account SET owner = $$waiter$$, changes = changes + 10 WHERE id = 1'
    # Texts that do not compress, of both sessions in turn; a hex digit takes half a byte.
    awk -v n="$BACKLOG" 'BEGIN {
        seed = 4711
        for (i = 1; i <= n; i++) {
            for (s = 2; s <= 3; s++) {
                text = ""
                while (length(text) < 1000) {
                    seed = seed * 16807 % 2147483647
                    text = text sprintf("%06x", seed % 16777216)
                }
                printf "record\t%d\tquery\t%.3f\t0.01\tbe\t-\t-\t-\tSELECT %d, \047%s\047\n", s, 510 + i / 100, i, text
            }
        }
    }'
    query 1 700 1 ke COMMIT
    query 3 710 1 be 'INSERT INTO account VALUES (3, $$third$$, 1)'
}

replay_begin
sql 'CREATE TABLE account (id int PRIMARY KEY, owner text, changes int)' >/dev/null
produce | make_trace lock
size=$(stat -c %s "$WORK/lock.trace")
check 'the trace holds more than five budgets, compressed to half' test "$size" -gt $((5 * 1048576))
for speed in 1 max; do
    sql "TRUNCATE account; INSERT INTO account VALUES (1, 'nobody', 0); GRANT ALL ON account TO app" >/dev/null
    replay 0 lock --speed "$speed" --read-ahead "$READ_AHEAD" --jobs 2
    check_equal "all was sent at speed $speed" $((2 * BACKLOG + 5)) "$(count_fate lock done)"
    check_equal "both updates were made at speed $speed" '1|11
3|1' "$(sql 'SELECT id, changes FROM account ORDER BY id')"
done
# With one worker thread, which must not wait for a blocked session either.
sql "TRUNCATE account; INSERT INTO account VALUES (1, 'nobody', 0)" >/dev/null
replay 0 lock --speed max --read-ahead "$READ_AHEAD" --jobs 1
check_equal 'all was sent by one thread' $((2 * BACKLOG + 5)) "$(count_fate lock done)"
check_end
