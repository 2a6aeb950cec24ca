#!/usr/bin/env bash
# Everything that CI runs, on a fresh Debian 12 as root or with sudo: packages, lint, builds with gcc
# and clang, clang-tidy, all tests under AddressSanitizer and UBSan, the replay's under
# ThreadSanitizer, those that judge the optimised programs, and up to a minute of each fuzz target.
#
#     bash tests/run.sh
#
# Builds below build/ and writes nowhere else in the tree.  The last line is "N passed, N failed": each
# test of each build counts once, and so does each build, each file for clang-tidy and each fuzz
# target; the exit status is 0 if none failed.  Most integration tests wait more than they work, so
# what takes processor time alone (clang, clang-tidy, fuzzing) goes on beside them at a low priority.
#
#     PGREHEARSE_FUZZ_SECONDS   for each fuzz target that reads what comes from outside, a sixth for
#                               the others (default: 60; 0: the corpus alone)
set -u
cd "$(dirname "${BASH_SOURCE[0]}")/.." || exit 2
exec </dev/null
source tests/lib/packages.sh

passed=0
failed=0
started=$SECONDS
times=()
processors=$(nproc)
fuzz_seconds=${PGREHEARSE_FUZZ_SECONDS:-60}
report=$(mktemp -d "${TMPDIR:-/tmp}/pgrehearse-run.XXXXXXXX") || exit 2
aside_pid=
cluster=
finish() {
    [ -z "$aside_pid" ] || kill -- -"$aside_pid" 2>/dev/null
    rm -rf "$report" ${cluster:+"$cluster"}
}
trap finish EXIT
trap 'exit 130' INT
trap 'exit 143' TERM

# step WHAT COMMAND...: run it, and remember how long it took.
step() {
    local what=$1 begun=$SECONDS status=0
    shift
    printf '\n== %s (at %d s)\n' "$what" $((SECONDS - started))
    "$@" || status=$?
    times+=("$((SECONDS - begun)) s  $what")
    return $status
}

# build PRESET TARGET...: without a target all.
build() {
    local preset=$1
    shift
    if cmake --preset "$preset" -DBUILD_TESTING=ON >"$report/$preset.log" 2>&1 &&
        cmake --build --preset "$preset" ${1:+--target "$@"} >>"$report/$preset.log" 2>&1; then
        passed=$((passed + 1))
        return 0
    fi
    failed=$((failed + 1))
    grep -E -A 8 '^FAILED|error:|CMake Error' "$report/$preset.log" | head -n 100
    return 1
}

attribute_of() {
    sed -n "s/^.*[[:space:]]$1=\"\([0-9]*\)\".*$/\1/p" "$2" | head -n 1
}

# run_tests PRESET NAME JOBS [CTEST-OPTION...]
run_tests() {
    local preset=$1 xml=$report/$1-$2.xml jobs=$3 all bad skipped disabled
    shift 3
    ctest --preset "$preset" -j "$jobs" --output-junit "$xml" "$@"
    if [ ! -s "$xml" ]; then
        failed=$((failed + 1))
        return 1
    fi
    # The attributes of <testsuite>, which ctest writes one a line before the first test.
    sed '/<testcase/,$d' "$xml" >"$xml.head"
    all=$(attribute_of tests "$xml.head")
    bad=$(attribute_of failures "$xml.head")
    skipped=$(attribute_of skipped "$xml.head")
    disabled=$(attribute_of disabled "$xml.head")
    if [ "${skipped:-0}" -gt 0 ]; then
        echo "skipped in $preset: $skipped (not counted as passed)"
    fi
    failed=$((failed + bad))
    passed=$((passed + all - bad - ${skipped:-0} - ${disabled:-0}))
    [ "$bad" -eq 0 ]
}

# The part that goes on beside the tests, in a shell of its own; its counts come back in a file.
aside() {
    passed=0
    failed=0
    times=()
    # clang-tidy gives clang's warnings for every file, so that only what runs is built.
    if step 'clang: the fuzz targets' build fuzz rh_fuzz_targets; then
        step 'clang and clang-tidy: the warnings of every file' count_lines tests/lint/tidy.sh build/fuzz
        step "fuzzing: each target for $fuzz_seconds s, a sixth for some" \
            count_lines tests/fuzz/run.sh build/fuzz "$fuzz_seconds" "$report" 1 $((fuzz_seconds / 6))
    fi
    {
        echo "$passed $failed"
        printf '%s, beside the tests\n' "${times[@]}"
    } >"$report/aside.result"
}

# A command whose last line is "N passed, N failed".
count_lines() {
    local good bad
    "$@" | tee "$report/count.out"
    if [[ $(tail -n 1 "$report/count.out") =~ ([0-9]+)' passed, '([0-9]+)' failed' ]]; then
        good=${BASH_REMATCH[1]} bad=${BASH_REMATCH[2]}
    else
        good=0 bad=1
    fi
    passed=$((passed + good))
    failed=$((failed + bad))
    [ "$bad" -eq 0 ]
}

aside_begin() {
    # A process group of its own, so that all of it can be ended.
    set -m
    (
        set +m
        trap - EXIT
        renice -n 15 -p "$BASHPID" >/dev/null
        aside
    ) >"$report/aside.log" 2>&1 &
    aside_pid=$!
    set +m
}

aside_end() {
    local good=0 bad=1 line
    wait "$aside_pid"
    aside_pid=
    cat "$report/aside.log"
    if [ -s "$report/aside.result" ]; then
        read -r good bad <"$report/aside.result"
        while read -r line; do times+=("$line"); done < <(tail -n +2 "$report/aside.result")
    fi
    passed=$((passed + good))
    failed=$((failed + bad))
}

if ! step 'packages' packages_need build server tests; then
    echo '0 passed, 1 failed'
    exit 1
fi

# One initdb for all tests with a server.  Without it each has its own, as when it is run by itself.
make_cluster() {
    # Not in $report, where the server's user may not go.
    cluster=$(mktemp -d /tmp/pgrehearse-cluster.XXXXXXXX) && chmod 711 "$cluster" || return 1
    # A shell of its own, as server.sh sets traps.
    if (source tests/lib/server.sh && server_begin && server_template "$cluster/data"); then
        export PGREHEARSE_CLUSTER=$cluster/data
    fi
}
step 'initdb' make_cluster

# What fails cheaply comes first.
if cmake --preset dev -DBUILD_TESTING=ON >/dev/null; then
    step 'lint' run_tests dev lint "$processors" -L lint
fi
step 'build: gcc, AddressSanitizer, UBSan' build dev
dev_built=$?
aside_begin
if [ "$dev_built" -eq 0 ]; then
    step 'tests: unit, cli, fuzz corpora' run_tests dev quick "$processors" -LE 'lint|integration|install|count'
    # The others are run below, with the programs that users have.
    step 'tests: integration' run_tests dev integration $((processors * 2)) -L integration -LE 'release|alone'
fi
step 'build: ThreadSanitizer' build tsan rh_tsan_tests &&
    step 'tests: the replay under ThreadSanitizer' run_tests tsan replay $((processors * 2)) -L threads
step 'build: release' build release rh_program_tests &&
    step 'tests: release' run_tests release all "$processors" -L 'cli|release|install|count'
step 'the rest of what went on beside' aside_end
[ -x build/release/bin/pgrehearse ] &&
    step 'tests: verdicts, with the machine to themselves' run_tests release alone 1 -L alone

printf '\n== sizes\n'
tests/lint/check_sizes.sh | tail -n 14
printf '\n== time of each step\n'
printf '%s\n' "${times[@]}"
printf 'in all %d s\n\n' $((SECONDS - started))
printf '%d passed, %d failed\n' "$passed" "$failed"
[ "$failed" -eq 0 ]
