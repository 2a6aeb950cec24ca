# What the samples begin with; to be sourced.
#
#   sample_begin NAME [DIR]   sets $dir: DIR, or a new folder for NAME; builds the programs unless
#                             PGREHEARSE_BIN has them; makes room for servers

top=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
# shellcheck source=tests/lib/packages.sh
source "$top/tests/lib/packages.sh"
# shellcheck source=tests/lib/server.sh
source "$top/tests/lib/server.sh"
# shellcheck source=samples/shop/shop.sh
source "$top/samples/shop/shop.sh"

bin=${PGREHEARSE_BIN:-}

sample_begin() {
    dir=${2:-}
    if [ -n "$dir" ]; then
        mkdir -p "$dir"
        dir=$(cd "$dir" && pwd)
    else
        dir=$(mktemp -d "${TMPDIR:-/tmp}/pgrehearse-$1.XXXXXXXX")
    fi
    if [ -z "$bin" ]; then
        step "packages and build (log: $dir/build.log)"
        shop_build "$dir/build.log"
    fi
    server_begin
}
