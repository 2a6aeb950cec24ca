#!/usr/bin/env bash
# Debian packages of this tree.
#
#     bash packaging/build_deb.sh [DIR]      writes DIR/*.deb (default: build/deb/packages)
#
# Builds in build/deb with Debian's flags, on Debian or a descendant, and checks the packages with
# lintian where that is installed.  SOURCE_DATE_EPOCH is honoured; without it the commit's time is taken.
set -eu
cd "$(dirname "${BASH_SOURCE[0]}")/.."
. tests/lib/packages.sh
packages_need build
out=${1:-build/deb/packages}
mkdir -p "$out"
out=$(cd "$out" && pwd)

if [ -z "${SOURCE_DATE_EPOCH:-}" ]; then
    SOURCE_DATE_EPOCH=$(git log -1 --format=%ct 2>/dev/null || date +%s)
fi
export SOURCE_DATE_EPOCH
export DEB_BUILD_MAINT_OPTIONS='hardening=+all reproducible=-fixfilepath'
export DEB_BUILD_OPTIONS="${DEB_BUILD_OPTIONS:-}"
cflags="$(dpkg-buildflags --get CFLAGS) $(dpkg-buildflags --get CPPFLAGS)"
ldflags=$(dpkg-buildflags --get LDFLAGS)

log=build/deb.log
mkdir -p build
if ! {
    cmake -S . -B build/deb -G Ninja -DCMAKE_BUILD_TYPE=RelWithDebInfo -DBUILD_TESTING=OFF \
        -DCMAKE_INSTALL_PREFIX=/usr -DCMAKE_C_FLAGS="$cflags" -DCMAKE_EXE_LINKER_FLAGS="$ldflags" \
        ${RH_MAINTAINER:+-DRH_MAINTAINER="$RH_MAINTAINER"} &&
        cmake --build build/deb
} >"$log" 2>&1; then
    tail -n 40 "$log" >&2
    echo "build_deb.sh: the build failed; all of its output is in $log" >&2
    exit 1
fi
rm -rf build/deb/cpack
if ! cpack -G DEB --config build/deb/CPackConfig.cmake -B build/deb/cpack >>"$log" 2>&1; then
    tail -n 40 "$log" >&2
    echo "build_deb.sh: packing failed; all of its output is in $log" >&2
    exit 1
fi
packages=(build/deb/cpack/*.deb)
cp "${packages[@]}" "$out"
for package in "${packages[@]}"; do
    printf '%s/%s\n' "$out" "${package##*/}"
done
if command -v lintian >/dev/null; then
    lintian --allow-root --fail-on error,warning \
        --suppress-tags-from-file packaging/lintian_suppressed "${packages[@]}"
fi
