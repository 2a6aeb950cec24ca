#!/usr/bin/env bash
# CPU time and memory of capture against pgreplay -f, on one csvlog of pgbench's TPC-B, and whether
# memory grows with the log.
#
#     tests/bench/capture_vs_pgreplay.sh BIN [MEGABYTES [LARGE-MEGABYTES]]
#
# MEGABYTES (200) is what both read, three times by turns; LARGE-MEGABYTES (0: not done; 2000) is read
# by capture once.  Needs ten times as much disk below /tmp in the worst case: the log is plain text.
set -u
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
# shellcheck source=tests/lib/server.sh
source "$here/../lib/server.sh"
# shellcheck source=tests/lib/packages.sh
source "$here/../lib/packages.sh"
# shellcheck source=tests/bench/tpcb_log.sh
source "$here/tpcb_log.sh"

bin=$(cd "${1:?the folder of the programs, of the release preset}" && pwd) || exit 2
megabytes=${2:-200}
large_megabytes=${3:-0}
rounds=3

# measure COMMAND...: "CPU-seconds peak-kB" of a command that must succeed.
measure() {
    /usr/bin/time -o "$SERVER_ROOT/time" -f '%U %S %M' "$@" >/dev/null 2>"$SERVER_ROOT/err" || {
        cat "$SERVER_ROOT/err" >&2
        return 1
    }
    awk '{ printf "%.2f %d\n", $1 + $2, $3 }' "$SERVER_ROOT/time"
}

median() {
    sort -n | awk '{ v[NR] = $1 } END { print v[int((NR + 1) / 2)] }'
}

capture() {
    measure "$bin/pgrehearse-capture" log -o "$SERVER_ROOT/log.trace" "$1"
}

packages_need server bench || exit 2
server_begin || exit 2
echo "making a log of $megabytes MB" >&2
tpcb_log_make "$SERVER_ROOT/day.csv" || exit 2
tpcb_log_grow "$SERVER_ROOT/day.csv" $((megabytes * 1000000)) "$SERVER_ROOT/log.csv"
cat "$SERVER_ROOT/log.csv" >/dev/null # both find it in memory

for ((round = 1; round <= rounds; round++)); do
    capture "$SERVER_ROOT/log.csv" >>"$SERVER_ROOT/ours" || exit 2
    measure pgreplay -f -c -o "$SERVER_ROOT/log.replay" "$SERVER_ROOT/log.csv" >>"$SERVER_ROOT/theirs" || exit 2
done
ours=$(cut -d ' ' -f 1 "$SERVER_ROOT/ours" | median)
theirs=$(cut -d ' ' -f 1 "$SERVER_ROOT/theirs" | median)
ours_kb=$(cut -d ' ' -f 2 "$SERVER_ROOT/ours" | median)
theirs_kb=$(cut -d ' ' -f 2 "$SERVER_ROOT/theirs" | median)
size=$(stat -c %s "$SERVER_ROOT/log.csv")

printf '%-24s %10s %12s %12s\n' "csvlog of $((size / 1000000)) MB" 'CPU s' 'MB per s' 'peak MB'
awk -v size="$size" -v ours="$ours" -v theirs="$theirs" -v ours_kb="$ours_kb" -v theirs_kb="$theirs_kb" 'BEGIN {
    printf "%-24s %10.2f %12.1f %12.1f\n", "pgrehearse capture log", ours, size / 1e6 / ours, ours_kb / 1000
    printf "%-24s %10.2f %12.1f %12.1f\n", "pgreplay -f", theirs, size / 1e6 / theirs, theirs_kb / 1000
    printf "%-24s %10.1f\n", "ratio", theirs / ours
}'

if [ "$large_megabytes" -gt 0 ]; then
    tpcb_log_grow "$SERVER_ROOT/day.csv" $((large_megabytes * 1000000)) "$SERVER_ROOT/log.csv"
    read -r large large_kb < <(capture "$SERVER_ROOT/log.csv")
    size=$(stat -c %s "$SERVER_ROOT/log.csv")
    printf '%-24s %10.2f %12.1f %12.1f\n' "capture of $((size / 1000000)) MB" "$large" \
        "$(awk -v s="$size" -v t="$large" 'BEGIN { print s / 1e6 / t }')" "$(awk -v k="$large_kb" 'BEGIN { print k / 1000 }')"
fi
