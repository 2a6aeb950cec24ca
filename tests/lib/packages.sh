# Debian packages for the build, the demo and the tests; to be sourced.
#
#   packages_need build|server|tests|bench|packaging ...
#
# installs what is missing of the named groups, as root or with sudo, and does nothing when all is
# there.  On a system without apt-get it says what is needed and goes on: the build will tell.

packages_of() {
    case $1 in
    build) echo build-essential cmake ninja-build pkg-config libzstd-dev zlib1g-dev libxxhash-dev \
        libpcre2-dev libpcap-dev libpq-dev libssl-dev libjansson-dev ;;
    server) echo postgresql ;;
    tests) echo libcmocka-dev libmsgpack-dev clang libclang-rt-dev clang-format clang-tidy jq gzip zstd openssl procps \
        valgrind git ca-certificates mandoc man-db libxml2-utils \
        libpostgresql-jdbc-java openjdk-17-jdk-headless \
        python3 python3-jsonschema chromium-headless-shell fonts-dejavu-core ;;
    packaging) echo lintian debootstrap ;;
    bench) echo pgreplay pgbadger zstd time jq tcpdump ;;
    *)
        echo "packages.sh: no group '$1'" >&2
        return 1
        ;;
    esac
}

packages_missing() {
    local group package
    for group in "$@"; do
        for package in $(packages_of "$group"); do
            # Only "ii": a removed package that left its configuration has a status too.
            [[ $(dpkg-query -W -f='${db:Status-Abbrev}' "$package" 2>/dev/null) == ii* ]] ||
                printf '%s\n' "$package"
        done
    done
}

packages_root() {
    if [ "$(id -u)" -eq 0 ]; then
        "$@"
    elif command -v sudo >/dev/null; then
        sudo "$@"
    else
        echo "packages.sh: neither root nor sudo, cannot run: $*" >&2
        return 1
    fi
}

packages_apt() {
    local try
    for try in 1 2 3; do
        packages_root env DEBIAN_FRONTEND=noninteractive apt-get -qq -o Acquire::Retries=3 \
            -o DPkg::Lock::Timeout=300 "$@" </dev/null && return 0
        echo "apt-get failed (try $try of 3): $*" >&2
        [ "$try" -eq 3 ] || sleep $((try * 5))
    done
    return 1
}

packages_need() {
    local missing no_cluster=/etc/postgresql-common/createcluster.d/pgrehearse.conf
    local made_no_cluster=
    if ! command -v apt-get >/dev/null || ! command -v dpkg-query >/dev/null; then
        echo "no apt-get here; needed (Debian's names):" >&2
        local group
        for group in "$@"; do packages_of "$group" >&2; done
        return 0
    fi
    mapfile -t missing < <(packages_missing "$@")
    [ ${#missing[@]} -gt 0 ] || return 0

    echo "installing: ${missing[*]}" >&2
    packages_apt update || return 1
    # Debian makes and starts a cluster on port 5432 when a server is installed; nobody asked for one.
    if [[ " ${missing[*]} " == *" postgresql "* ]] && [ ! -e "$no_cluster" ]; then
        packages_root mkdir -p "${no_cluster%/*}" &&
            packages_root sh -c "echo 'create_main_cluster = false' >$no_cluster" || return 1
        made_no_cluster=yes
    fi
    local rc=0
    packages_apt install -y --no-install-recommends "${missing[@]}" || rc=1
    [ -z "$made_no_cluster" ] || packages_root rm -f "$no_cluster"
    return $rc
}
