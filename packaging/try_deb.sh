#!/usr/bin/env bash
# Installs the packages in a fresh Debian, as a user would, and looks at what came of it.
#
#     sudo bash packaging/try_deb.sh [DIR]      of the packages (default: build/deb/packages)
#
# Needs root, debootstrap and a mirror ($MIRROR); takes minutes, so no test runs it.  The fresh system is
# in a temporary folder and is removed.
set -eu
cd "$(dirname "${BASH_SOURCE[0]}")/.."
debs=$(cd "${1:-build/deb/packages}" && pwd)
mirror=${MIRROR:-http://deb.debian.org/debian}
root=$(mktemp -d "${TMPDIR:-/tmp}/pgrehearse-deb.XXXXXXXX")
trap 'rm -rf --one-file-system "$root"' EXIT
log=$root.log

# With /proc, which /dev/fd leads to, in a mount namespace of its own.
inside() {
    env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root TERM=dumb LC_ALL=C.UTF-8 \
        DEBIAN_FRONTEND=noninteractive unshare --mount sh -c \
        'mount -t proc proc "$1/proc" && exec chroot "$@"' sh "$root" "$@" </dev/null
}
say() {
    printf '%-58s %s\n' "$1" "$2"
}
fail() {
    echo "try_deb.sh: $*; see $log" >&2
    exit 1
}

echo "a fresh Debian in $root"
debootstrap --variant=minbase --include=man-db,bash-completion bookworm "$root" "$mirror" >"$log" 2>&1 ||
    fail 'debootstrap failed'
mkdir "$root/debs"
cp "$debs"/*.deb "$root/debs"
inside dpkg-query -W -f '${Package}\n' >"$root/before"

# Capture alone, on production's host.
inside sh -c 'apt-get install -y --no-install-recommends /debs/pgrehearse-capture_*.deb' >>"$log" 2>&1 ||
    fail 'capture cannot be installed'
inside dpkg-query -W -f '${Package}\n' >"$root/after"
say 'apt install ./pgrehearse-capture.deb brought' \
    "$(comm -13 "$root/before" "$root/after" | paste -sd ' ')"
! grep -qE 'libpq|libssl' <(comm -13 "$root/before" "$root/after") || fail 'capture pulled a library'
say 'pgrehearse-capture --version' "$(inside pgrehearse-capture --version)"
printf '%s\n' '2026-11-30 11:07:01.433 UTC,"shop","shop",77,"[local]",6a0c1d04.4d,1,"SELECT",2026-11-30 11:07:00 UTC,1/1,0,LOG,00000,"duration: 1.000 ms  statement: SELECT 1",,,,,,,,,"psql","client backend",,0' \
    >"$root/tmp/a.csv"
inside pgrehearse-capture log -q -o /tmp/a.trace /tmp/a.csv || fail 'capture does not run'
say 'pgrehearse-capture log -o a.trace a.csv' "$(stat -c '%s bytes' "$root/tmp/a.trace")"
say 'man pgrehearse-capture' "$(inside man pgrehearse-capture | sed -n 4p)"
# bash-completion loads the file when the command is first completed.
say 'pgrehearse-capture log --form<TAB>' "$(inside bash -c '
    . /usr/share/bash-completion/bash_completion
    _completion_loader pgrehearse-capture
    COMP_WORDS=(pgrehearse-capture log --form) COMP_CWORD=2
    compopt() { :; }
    _pgrehearse && echo "${COMPREPLY[*]}"')"

# All of it, then none.
inside sh -c 'apt-get install -y --no-install-recommends /debs/*.deb' >>"$log" 2>&1 ||
    fail 'the packages cannot be installed'
for command in capture replay diff info show; do
    say "pgrehearse $command --version" "$(inside pgrehearse $command --version)"
done
for page in pgrehearse pgrehearse-replay pgrehearse-diff pgrehearse-info pgrehearse-show pgrehearse-trace; do
    inside man "$page" >"$root/page" && say "man $page" "$(sed -n 4p "$root/page")"
done
say 'pgrehearse info a.trace' "$(inside pgrehearse info --format json /tmp/a.trace | grep -o '"statements": *[0-9]*')"
inside sh -c 'apt-get purge -y "pgrehearse*"' >>"$log" 2>&1 || fail 'the packages cannot be removed'
say 'left after apt purge' "$(find "$root/usr" "$root/etc" "$root/var/lib/dpkg/info" -name '*pgrehearse*' | wc -l) files"
rm -f "$log"
