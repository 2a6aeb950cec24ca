#!/usr/bin/env bash
# What a command prints and how it ends, case by case.
#
#     tests/cli/run.sh [--update] BIN [CASE...]
#
# cases/NAME.sh is run by bash in an empty folder with the programs of BIN on its PATH and $DATA naming
# tests/cli/data; its output and status must be those in cases/NAME.expected.  --update writes them.
set -u
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)

update=
if [ "${1:-}" = --update ]; then
    update=yes
    shift
fi
bin=$(cd "${1:?the folder of the programs}" && pwd) || exit 2
shift

work=$(mktemp -d /tmp/pgrehearse-cli.XXXXXXXX) || exit 2
trap 'rm -rf "$work"' EXIT

# What differs from run to run and from build to build: paths, the version.
masked() {
    sed -E -e "s|$work/cwd|CWD|g" -e "s|$bin|BIN|g" -e "s|$here/data|DATA|g" \
        -e 's/(pgrehearse\)|by pgrehearse) [0-9]+\.[0-9]+\.[0-9]+( \([^)]*\))?/\1 VERSION/' "$1"
}

run_case() {
    local status=0
    rm -rf "$work/cwd" && mkdir "$work/cwd" && cd "$work/cwd" || exit 2
    env -i PATH="$bin:/usr/bin:/bin" HOME="$work/cwd" LC_ALL=C TZ=UTC DATA="$here/data" \
        ${ASAN_OPTIONS:+ASAN_OPTIONS="$ASAN_OPTIONS"} \
        timeout -k 5 60 bash "$1" </dev/null >"$work/stdout" 2>"$work/stderr" || status=$?
    {
        echo "status $status"
        echo '--- standard output'
        masked "$work/stdout"
        echo '--- standard error'
        masked "$work/stderr"
    } >"$work/found"
}

[ $# -gt 0 ] || set -- "$here"/cases/*.sh
failed=0
for name in "$@"; do
    name=$(basename "$name" .sh)
    run_case "$here/cases/$name.sh"
    if [ -n "$update" ]; then
        cp "$work/found" "$here/cases/$name.expected"
    elif ! diff -u "$here/cases/$name.expected" "$work/found"; then
        echo "FAILED: $name"
        failed=$((failed + 1))
    fi
done
[ "$failed" -eq 0 ]
