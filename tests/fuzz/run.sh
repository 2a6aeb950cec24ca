#!/usr/bin/env bash
# Runs every fuzz target of a build directory for some seconds each, as many at a time as there are
# processors.
#
#     tests/fuzz/run.sh BUILD SECONDS KEEP [SEED [LESS]]     the last line is "N passed, N failed"
#
# With a SEED the search takes the same way each time, so that it judges a change, not its luck.  LESS
# seconds, if given, are for the targets that read neither a trace, nor a csvlog, nor the protocol,
# nor SQL.
# New inputs go to a temporary folder, as the corpus of the tree is what somebody chose; inputs that
# crash, hang or take too much memory are kept in KEEP/crashes-TARGET.
set -u
build=$1
export seconds=$2 keep=$3 seed=${4:-0} less=${5:-$2}
cd "$(dirname "${BASH_SOURCE[0]}")" || exit 2
case $build in /*) ;; *) build=$OLDPWD/$build ;; esac
case $keep in /*) ;; *) keep=$OLDPWD/$keep ;; esac
work=$(mktemp -d "${TMPDIR:-/tmp}/pgrehearse-fuzz.XXXXXXXX") || exit 2
trap 'rm -rf "$work"' EXIT
trap 'exit 130' INT
trap 'exit 143' TERM
export work build corpus=$PWD/corpus

fuzz() {
    local target=$1 crashes=$keep/crashes-$1 time=$seconds limit
    case $target in fuzz_trace | fuzz_capture | fuzz_pg_scan | fuzz_wire | fuzz_sql) ;; *) time=$less ;; esac
    limit=(-max_total_time="$time")
    [ "$time" -gt 0 ] || limit=(-runs=0)
    mkdir -p "$work/$target" "$crashes"
    # Numbers that mean "time" are for hangs alone: a slow input on a busy machine is no finding.
    if "$build/bin/$target" "${limit[@]}" -seed="$seed" -timeout=120 -rss_limit_mb=2560 -max_len=8192 -use_value_profile=0 \
        -print_final_stats=1 -artifact_prefix="$crashes/" "$work/$target" "$corpus/$target" \
        >"$work/$target.log" 2>&1; then
        rmdir "$crashes" 2>/dev/null # a slow input, if any, stays
        awk -v target="$target" '
            /^#[0-9]+.*cov:/ { for (i = 1; i < NF; i++) { if ($i == "cov:") cov = $(i + 1); if ($i == "corp:") corp = $(i + 1) } }
            /number_of_executed_units/ { runs = $2 }
            END { printf "%s: %d inputs, %s edges, corpus %s\n", target, runs, cov, corp }' "$work/$target.log"
    else
        echo "$target: FAILED; the input is in $crashes; small ones in base64:"
        find "$crashes" -type f -size -2k -exec base64 -w 0 {} \; -exec echo \;
        grep -vE '^#[0-9]|^INFO|^stat::' "$work/$target.log" | head -n 40
    fi
}
export -f fuzz

find "$build/bin" -maxdepth 1 -name 'fuzz_*' -type f -perm -u+x -printf '%f\n' | LC_ALL=C sort |
    xargs -r -n 1 -P "$(nproc)" bash -c 'fuzz "$1"' - |
    awk '/: FAILED; / { bad++ } /: [0-9]+ inputs, / { good++ } { print; fflush() }
        END { printf "%d passed, %d failed\n", good, bad; exit bad > 0 || good == 0 }'
