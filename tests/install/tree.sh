#!/usr/bin/env bash
# "cmake --install" puts everything at its place below DESTDIR, "uninstall" takes away that and no more.
set -u
here=$(dirname "${BASH_SOURCE[0]}")
. "$here/../lib/check.sh"
check_begin
export DESTDIR=$WORK/root
prefix=/opt/pgrehearse
tree=$DESTDIR$prefix

list() {
    (cd "$DESTDIR" && find . | LC_ALL=C sort)
}

check_run 0 cmake --install "$RH_BUILD" --prefix "$prefix" || check_end
for program in "$RH_BIN"/pgrehearse "$RH_BIN"/pgrehearse-*; do
    name=${program##*/}
    check "$name is installed" test -x "$tree/bin/$name"
    check "$name has a page" test -s "$tree/share/man/man1/$name.1"
    check "$name has a completion" test -s "$tree/share/bash-completion/completions/$name"
done
check_equal 'programs' "$(cd "$RH_BIN" && printf '%s\n' pgrehearse pgrehearse-*)" \
    "$(cd "$tree/bin" && printf '%s\n' *)"
for file in man/man5/pgrehearse-trace.5 man/man1/pgrehearse-info.1 doc/pgrehearse/LICENSE \
    doc/pgrehearse/README.md doc/pgrehearse/docs/THIRD-PARTY.md doc/pgrehearse/docs/report.schema.json doc/pgrehearse/formats/FORMAT.md \
    doc/pgrehearse/samples/gates.ini; do
    check "$file" test -s "$tree/share/$file"
done
check_run 0 "$tree/bin/pgrehearse" diff --version
check 'the front finds its programs' grep -q '^pgrehearse-diff ' "$WORK/out"

# What is somebody else's stays, in a folder of ours too.
touch "$tree/share/man/man1/other.1"
check_run 0 cmake --build "$RH_BUILD" --target uninstall
check_equal 'what is left' \
    ". ./opt ./opt/pgrehearse ./opt/pgrehearse/share ./opt/pgrehearse/share/man \
./opt/pgrehearse/share/man/man1 ./opt/pgrehearse/share/man/man1/other.1" "$(list | paste -sd ' ')"
check_run '1|2' cmake --build "$RH_BUILD" --target uninstall
check 'twice is told' grep -q 'Nothing to remove' "$WORK/out" "$WORK/err"

# Folders that were there, empty or not, are there afterwards; all others are gone.
rm -rf "$DESTDIR"
mkdir -p "$tree/bin" "$tree/share/man/man5"
list >"$WORK/before"
check_run 0 cmake --install "$RH_BUILD" --prefix "$prefix"
check_run 0 cmake --install "$RH_BUILD" --prefix "$prefix"
check_run '1|2' env DESTDIR="$WORK/elsewhere" cmake --build "$RH_BUILD" --target uninstall
check 'another DESTDIR is told' grep -q 'give DESTDIR as it was' "$WORK/out" "$WORK/err"
check_run 0 cmake --build "$RH_BUILD" --target uninstall
list >"$WORK/after"
check 'nothing is left' diff "$WORK/before" "$WORK/after"

# One component is what one host needs.
rm -rf "$DESTDIR"
check_run 0 cmake --install "$RH_BUILD" --prefix "$prefix" --component capture
check_equal 'the component capture' \
    'bin/pgrehearse-capture share/bash-completion/completions/pgrehearse-capture share/man/man1/pgrehearse-capture.1' \
    "$(cd "$tree" && find . -type f | sed 's,^\./,,' | LC_ALL=C sort | paste -sd ' ')"
check_end
