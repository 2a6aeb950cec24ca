#!/usr/bin/env bash
# Everything that CI runs, on a fresh Debian 12 as root or with sudo: packages, three builds, all tests.
#
#     bash tests/run.sh
#
# Builds below build/ and writes nowhere else in the tree.  The last line is "N passed, N failed": each
# test of each build counts once, and so does each build; the exit status is 0 if none failed.
set -u
cd "$(dirname "${BASH_SOURCE[0]}")/.." || exit 2
exec </dev/null
source tests/lib/packages.sh

passed=0
failed=0
started=$SECONDS
report=$(mktemp -d "${TMPDIR:-/tmp}/pgrehearse-run.XXXXXXXX") || exit 2
trap 'rm -rf "$report"' EXIT

step() {
    printf '\n== %s (at %d s)\n' "$*" $((SECONDS - started))
}

# build PRESET [CMAKE-OPTION...]
build() {
    local preset=$1
    shift
    step "build: $preset"
    if cmake --preset "$preset" "$@" >"$report/$preset.log" 2>&1 &&
        cmake --build --preset "$preset" >>"$report/$preset.log" 2>&1; then
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

# run_tests PRESET [CTEST-OPTION...]
run_tests() {
    local preset=$1 xml=$report/$1.xml all bad skipped disabled
    shift
    step "tests: $preset"
    ctest --preset "$preset" -j "$(nproc)" --output-junit "$xml" "$@"
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
}

step 'packages'
if ! packages_need build server tests; then
    echo '0 passed, 1 failed'
    exit 1
fi

build dev -DBUILD_TESTING=ON && run_tests dev
build clang -DBUILD_TESTING=ON
build release -DBUILD_TESTING=ON && run_tests release -LE lint

step 'done'
printf '%d passed, %d failed\n' "$passed" "$failed"
[ "$failed" -eq 0 ]
