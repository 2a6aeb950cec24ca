#!/usr/bin/env bash
# Capture against pgreplay -f and pgbadger on one csvlog of pgbench's TPC-B: CPU time (user and system)
# and peak memory in rounds by turns, bytes a statement of what each leaves, and whether capture's
# memory grows with the log.
#
#     tests/bench/capture_vs_peers.sh BIN [MEGABYTES [LARGE-MEGABYTES]]
#
# MEGABYTES (100) is what all read, three times by turns; pgbadger, which takes minutes for more, reads
# one day of the log (about 90 MB) and is compared by its rate.  LARGE-MEGABYTES (0: not done; 2000) is
# read by capture once.  LOG=FILE names a csvlog that is there instead of making one: no server is
# needed then.  Needs the log's size, and half as much again, below /tmp.
set -u
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
# shellcheck source=tests/lib/server.sh
source "$here/../lib/server.sh"
# shellcheck source=tests/lib/packages.sh
source "$here/../lib/packages.sh"
# shellcheck source=tests/bench/tpcb_log.sh
source "$here/tpcb_log.sh"

bin=$(cd "${1:?the folder of the programs, of the release preset}" && pwd) || exit 2
megabytes=${2:-100}
large_megabytes=${3:-0}
rounds=${ROUNDS:-3}

# measure NAME COMMAND...: a command that must succeed; its CPU seconds and peak kB go to NAME's list.
measure() {
    local name=$1
    shift
    /usr/bin/time -o "$work/time" -f '%U %S %M' "$@" >"$work/out" 2>"$work/err" || {
        cat "$work/err" >&2
        return 1
    }
    awk '{ printf "%.2f %d\n", $1 + $2, $3 }' "$work/time" >>"$work/$name.times"
}

# median NAME COLUMN
median() {
    cut -d ' ' -f "$2" "$work/$1.times" | sort -n | awk '{ v[NR] = $1 } END { print v[int((NR + 1) / 2)] }'
}

# row NAME TITLE BYTES: its rate, and how often ours it takes for as many bytes
row() {
    awk -v title="$2" -v size="$3" -v cpu="$(median "$1" 1)" -v kb="$(median "$1" 2)" \
        -v ours="$(median ours 1)" -v ours_size="$log_size" 'BEGIN {
        printf "%-24s %8d %10.2f %12.1f %12.1f %12.1f\n", title, size / 1e6, cpu, size / 1e6 / cpu, kb / 1000,
            (cpu / size) / (ours / ours_size) }'
}

bytes_row() {
    awk -v title="$1" -v size="$(stat -c %s "$2")" -v n="$statements" \
        'BEGIN { printf "%-24s %14d %14.2f\n", title, size, size / n }'
}

packages_need bench || exit 2
if [ -n "${LOG:-}" ]; then
    work=$(mktemp -d /tmp/pgrehearse-bench.XXXXXXXX) || exit 2
    trap 'rm -rf "$work"' EXIT
    log=$LOG
    day=$LOG
else
    packages_need server || exit 2
    server_begin || exit 2
    work=$SERVER_ROOT
    log=$work/log.csv
    day=$work/day.csv
    echo "making a log of $megabytes MB" >&2
    tpcb_log_make "$day" || exit 2
    tpcb_log_grow "$day" $((megabytes * 1000000)) "$log"
fi
log_size=$(stat -c %s "$log")
cat "$log" "$day" >/dev/null # all find it in memory

for ((round = 1; round <= rounds; round++)); do
    measure ours "$bin/pgrehearse-capture" log -o "$work/log.trace" "$log" || exit 2
    measure replay pgreplay -f -c -o "$work/log.replay" "$log" || exit 2
done
measure badger pgbadger -q -f csv -x json -o "$work/badger.json" "$day" || exit 2

printf '%-24s %8s %10s %12s %12s %12s\n' 'reading a csvlog' 'MB' 'CPU s' 'MB per s' 'peak MB' 'CPU ratio'
row ours 'pgrehearse capture log' "$log_size"
row replay 'pgreplay -f' "$log_size"
row badger 'pgbadger' "$(stat -c %s "$day")"

statements=$("$bin/pgrehearse" info --format json "$work/log.trace" |
    sed -n 's/.*"statements": *\([0-9]*\).*/\1/p' | head -n 1)
zstd -q -3 -o "$work/log.csv.zst" "$log"
zstd -q -3 -o "$work/log.replay.zst" "$work/log.replay"
printf '\n%-24s %14s %14s\n' "$statements statements" 'bytes' 'per statement'
bytes_row 'csvlog' "$log"
bytes_row 'csvlog, zstd -3' "$work/log.csv.zst"
bytes_row 'pgreplay -f' "$work/log.replay"
bytes_row 'pgreplay -f, zstd -3' "$work/log.replay.zst"
bytes_row 'pgrehearse trace' "$work/log.trace"

if [ "$large_megabytes" -gt 0 ]; then
    large=$work/large.csv
    tpcb_log_grow "$day" $((large_megabytes * 1000000)) "$large"
    measure large "$bin/pgrehearse-capture" log -o "$work/large.trace" "$large" || exit 2
    printf '\n'
    row large 'capture of a large log' "$(stat -c %s "$large")"
fi
