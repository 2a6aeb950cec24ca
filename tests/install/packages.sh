#!/usr/bin/env bash
# The Debian packages of this build: what is in them and what they depend on.
set -u
here=$(dirname "${BASH_SOURCE[0]}")
. "$here/../lib/check.sh"
check_begin
command -v dpkg-shlibdeps >/dev/null || check_skip 'this is no Debian with dpkg-dev'
[ -f "$RH_BUILD/CPackConfig.cmake" ] || check_skip 'a build with sanitizers makes no packages'
# The debug information of a build for developers is stripped, its programs are as good for this.
check_run 0 env SOURCE_DATE_EPOCH=1700000000 cpack -G DEB --config "$RH_BUILD/CPackConfig.cmake" \
    -B "$WORK/cpack" || check_end
cd "$WORK/cpack" || exit 1

field() {
    dpkg-deb -f "$1"_[0-9]*.deb "$2"
}
files() {
    dpkg-deb -c "$1"_[0-9]*.deb | awk '$1 ~ /^-/ { sub(/^\./, "", $6); print $6 }' | LC_ALL=C sort | paste -sd ' '
}
# Every library but those named is a surprise.
depends_but() {
    field "$1" Depends | tr ',' '\n' | sed 's/^ *//; s/ .*//' | grep -vE "^($2)\$" | paste -sd ' '
}

common='libc6|libzstd1|zlib1g|libpcre2-8-0|libxxhash0'
check_equal 'capture depends on no more than' '' "$(depends_but pgrehearse-capture "$common|libpcap0.8")"
check_equal 'diff depends on no more than' '' "$(depends_but pgrehearse-diff "$common|libjansson4")"
check_equal 'the front depends on no more than' '' "$(depends_but pgrehearse "$common")"
check 'capture depends on libzstd' grep -q libzstd1 <<<"$(field pgrehearse-capture Depends)"
if [ -x "$RH_BIN/pgrehearse-replay" ]; then
    check_equal 'replay depends on no more than' '' \
        "$(depends_but pgrehearse-replay "$common|libpq5|libssl3|libjansson4")"
    check 'replay depends on libpq' grep -q libpq5 <<<"$(field pgrehearse-replay Depends)"
fi

doc=/usr/share/doc/pgrehearse-capture
check_equal 'files of capture' "/usr/bin/pgrehearse-capture \
/usr/share/bash-completion/completions/pgrehearse-capture $doc/changelog.Debian.gz $doc/changelog.gz \
$doc/copyright /usr/share/man/man1/pgrehearse-capture.1.gz" "$(files pgrehearse-capture)"
for file in /usr/bin/pgrehearse /usr/share/man/man5/pgrehearse-trace.5.gz \
    /usr/share/doc/pgrehearse/formats/FORMAT.md /usr/share/doc/pgrehearse/copyright; do
    check "the front has $file" grep -qw "$file" <<<"$(files pgrehearse)"
done
every=$(for package in *.deb; do dpkg-deb -c "$package"; done | awk '$1 ~ /^-/ { print $6 }')
check_equal 'no file is in two packages' '' "$(sort <<<"$every" | uniq -d)"
for program in "$RH_BIN"/pgrehearse "$RH_BIN"/pgrehearse-*; do
    check "${program##*/} is in a package" grep -qx "./usr/bin/${program##*/}" <<<"$every"
done

mkdir "$WORK/root"
dpkg-deb -x pgrehearse-capture_*.deb "$WORK/root"
check_run 0 "$WORK/root/usr/bin/pgrehearse-capture" --version
check_equal 'times are SOURCE_DATE_EPOCH' '1700000000' \
    "$(find "$WORK/root/usr" -type f -printf '%Ts\n' | sort -u | cut -d. -f1 | paste -sd ' ')"
check_end
