#!/usr/bin/env bash
# Bytes a statement of a trace against the compressed log and pgreplay's file, on pgbench's TPC-B.
#
#     tests/bench/trace_size.sh BIN
set -u
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
# shellcheck source=tests/lib/server.sh
source "$here/../lib/server.sh"
# shellcheck source=tests/lib/packages.sh
source "$here/../lib/packages.sh"
# shellcheck source=tests/bench/tpcb_log.sh
source "$here/tpcb_log.sh"

bin=$(cd "${1:?the folder of the programs}" && pwd) || exit 2
packages_need server bench || exit 2
server_begin || exit 2
log=$SERVER_ROOT/day.csv
tpcb_log_make "$log" || exit 2
"$bin/pgrehearse-capture" log -o "$SERVER_ROOT/log.trace" "$log" 2>/dev/null || exit 2
pgreplay -f -c -o "$SERVER_ROOT/log.replay" "$log" >/dev/null 2>&1 || exit 2
zstd -q -3 -o "$SERVER_ROOT/log.csv.zst" "$log"
zstd -q -3 -o "$SERVER_ROOT/log.replay.zst" "$SERVER_ROOT/log.replay"
# pgbench ran 8 x 4,000 transactions of 7 statements, and two before them.
statements=$((8 * 4000 * 7 + 2))

row() {
    awk -v name="$1" -v size="$(stat -c %s "$2")" -v n="$statements" \
        'BEGIN { printf "%-24s %14d %14.2f\n", name, size, size / n }'
}
printf '%-24s %14s %14s\n' "$statements statements" 'bytes' 'per statement'
row 'csvlog' "$log"
row 'csvlog, zstd -3' "$SERVER_ROOT/log.csv.zst"
row 'pgreplay -f' "$SERVER_ROOT/log.replay"
row 'pgreplay -f, zstd -3' "$SERVER_ROOT/log.replay.zst"
row 'pgrehearse trace' "$SERVER_ROOT/log.trace"
