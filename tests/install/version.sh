#!/usr/bin/env bash
# --version tells the release and the commit: of a checkout, of what git archive made, or none; and what
# is installed tells nothing of the folder it was built in.
set -u
here=$(dirname "${BASH_SOURCE[0]}")
. "$here/../lib/check.sh"
check_begin
release=$(cat "$RH_SOURCE/VERSION")

# written DIR: release and commit that a build of DIR would tell.
written() {
    cmake -D SOURCE="$1" -D OUTPUT="$WORK/version.h" -P "$RH_SOURCE/cmake/write_version.cmake" &&
        sed -n 's/^#define RH_[A-Z]* "\(.*\)"/\1/p' "$WORK/version.h" | paste -sd ' '
}

copy() {
    mkdir -p "$1/cmake"
    cp "$RH_SOURCE/VERSION" "$1"
    cp "$RH_SOURCE/cmake/commit.txt" "$RH_SOURCE/cmake/version.h.in" "$1/cmake"
    cp "$RH_SOURCE/.gitattributes" "$1"
}

copy "$WORK/plain"
check_equal 'no commit is known' "$release " "$(written "$WORK/plain")"

if command -v git >/dev/null; then
    copy "$WORK/checkout"
    git() {
        command git -C "$WORK/checkout" -c user.name=test -c user.email=test@localhost "$@"
    }
    git init -q && git add -A && git commit -qm one
    commit=$(git rev-parse HEAD)
    check_equal 'a checkout' "$release ${commit:0:12}" "$(written "$WORK/checkout")"
    touch -d '2001-01-01' "$WORK/version.h"
    written "$WORK/checkout" >/dev/null
    check_equal 'what did not change is not written' 2001 "$(date -r "$WORK/version.h" +%Y)"
    echo >>"$WORK/checkout/cmake/version.h.in"
    check_equal 'a changed checkout' "$release ${commit:0:12}-dirty" "$(written "$WORK/checkout")"
    mkdir "$WORK/archive"
    git archive HEAD | tar -x -C "$WORK/archive"
    check_equal 'an archive' "$release ${commit:0:12}" "$(written "$WORK/archive")"
fi

told=$(sed -n 's/^#define RH_COMMIT "\(.*\)"/\1/p' "$RH_BUILD/generated/rh_version.h")
for program in "$RH_BIN"/pgrehearse "$RH_BIN"/pgrehearse-*; do
    name=${program##*/}
    check_equal "$name --version" "$name (pgrehearse) $release${told:+ ($told)}" "$("$program" --version)"
    grep -q '^CMAKE_BUILD_TYPE:.*=Debug$' "$RH_BUILD/CMakeCache.txt" && continue
    check "$name has no path of the build" test -z "$(grep -aoF "$RH_SOURCE/" "$program" | head -n 1)"
done
check_end
