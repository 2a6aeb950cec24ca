#!/usr/bin/env bash
# A long search: builds the fuzz targets and runs each for ten minutes (or as long as is said), as
# many at a time as there are processors.
#
#     tests/fuzz/long.sh [SECONDS [KEEP]]     default: 600, build/fuzz/findings
#
# The closing line says whether anything was found; crashing inputs stay in KEEP.
set -u
cd "$(dirname "${BASH_SOURCE[0]}")/../.." || exit 2
seconds=${1:-600}
keep=${2:-build/fuzz/findings}
mkdir -p "$keep" || exit 2
keep=$(cd "$keep" && pwd)
log=$keep/build.log
if ! { cmake --preset fuzz && cmake --build --preset fuzz --target rh_fuzz_targets; } >"$log" 2>&1; then
    tail -n 30 "$log"
    exit 2
fi
echo "each target for $seconds s"
result=$(tests/fuzz/run.sh build/fuzz "$seconds" "$keep" | tee /dev/stderr | tail -n 1)
if [[ $result = *', 0 failed' ]]; then
    echo "long fuzzing: nothing found, $seconds s a target ($result)"
    exit 0
fi
echo "long fuzzing: FOUND, inputs are in $keep ($result)"
exit 1
