#!/usr/bin/env bash
# Time and memory of `pgrehearse diff` by the number of pairs, on two runs (bench_pairs.c) in one of
# which a session is an hour late.
#
#     tests/bench/pairs.sh BIN [STATEMENTS]...     default: 1000000 10000000 100000000
#
# The last needs 1.5 GB in TMPDIR.  A report that does not find the one query that got slower is
# said, and is a failure.
set -u
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
# shellcheck source=tests/lib/packages.sh
source "$here/../lib/packages.sh"
# shellcheck source=tests/bench/bench_lib.sh
source "$here/bench_lib.sh"

bin=$(cd "${1:?the folder of the programs, of the release preset}" && pwd) || exit 2
shift
sizes=("${@:-1000000}")
[ $# -gt 0 ] || sizes=(1000000 10000000 100000000)

packages_need bench || exit 2
SERVER_ROOT=$(mktemp -d "${TMPDIR:-/tmp}/pgrehearse-pairs.XXXXXXXX") || exit 2
trap 'rm -rf "$SERVER_ROOT"' EXIT
wrong=0
printf '%12s %10s %10s %10s %12s %10s\n' pairs 'files MB' 'wall s' 'CPU s' 'us a pair' 'peak MB'
for n in "${sizes[@]}"; do
    "$bin/bench_pairs" "$SERVER_ROOT/base.run" "$SERVER_ROOT/candidate.run" "$n" || exit 1
    cpu_of "$bin/pgrehearse" diff --judge-anyway --format json "$SERVER_ROOT/base.run" "$SERVER_ROOT/candidate.run"
    found=$(jq -r '[.queries[] | select(.verdict == "regressed") | .sql] | join(";")' "$SERVER_ROOT/out")
    if [[ $found != *account_7\ where* || $found = *\;* ]]; then
        echo "of $n pairs the queries that got slower are '$found', not that of account_7 alone"
        wrong=1
    fi
    size=$(stat -c %s "$SERVER_ROOT"/*.run | awk '{ n += $1 } END { print n / 1e6 }')
    awk -v n="$n" -v size="$size" -v wall="$wall_ms" -v cpu="$cpu_ms" -v peak="$peak_kb" 'BEGIN {
        printf "%12d %10.0f %10.1f %10.1f %12.3f %10.0f\n", n, size, wall / 1000, cpu / 1000, cpu * 1000 / n, peak / 1000 }'
done
exit $wrong
