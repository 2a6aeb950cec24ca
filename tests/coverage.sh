#!/usr/bin/env bash
# Line coverage by folder: builds the preset "coverage", runs tests, and reads gcov's counters.
#
#     tests/coverage.sh [CTEST-OPTION...]     default: -LE 'lint|install|count'
#
# With -v as the first argument each file has its line.  Not part of CI.
set -u
cd "$(dirname "${BASH_SOURCE[0]}")/.." || exit 2
each_file=
if [ "${1:-}" = -v ]; then
    each_file=yes
    shift
fi
[ $# -gt 0 ] || set -- -LE 'lint|install|count'
log=build/coverage.log
mkdir -p build
if ! { cmake --preset coverage -DBUILD_TESTING=ON && cmake --build --preset coverage; } >"$log" 2>&1; then
    tail -n 30 "$log"
    exit 2
fi
find build/coverage -name '*.gcda' -delete
# Only servers run as another user: all of our programs can write their counters.
ctest --preset coverage -j "$(nproc)" "$@" | tail -n 5

# gcov names a file and then its lines; a header is in the count of every file that includes it, so
# only sources are listed.  What never ran has notes and no counters.
find build/coverage/{common,formats,capture,replay,diff,front} -name '*.gcno' -print0 |
    xargs -0 gcov -n -s "$PWD" -r 2>/dev/null |
    awk -v each_file="$each_file" -F "[':% ]+" '
        /^File / { file = $2; sub(/^(\.\.\/)+/, "", file) }
        /^Lines executed/ && file ~ /^(common|formats|capture|replay|diff|front)\/.*\.c$/ {
            of = $NF
            hit = $3 / 100 * of
            if (each_file)
                printf "    %-40s %6.1f %% of %d\n", file, $3, of
            folder = file
            sub("/.*", "", folder)
            lines[folder] += of
            hits[folder] += hit
            all += of
            all_hits += hit
            file = ""
        }
        END {
            for (folder in lines)
                printf "%-10s %6.1f %% of %5d lines\n", folder, 100 * hits[folder] / lines[folder], lines[folder] | "sort"
            close("sort")
            if (!all)
                exit 1
            printf "%-10s %6.1f %% of %5d lines\n", "all", 100 * all_hits / all, all
        }'
