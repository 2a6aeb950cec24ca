#!/usr/bin/env bash
# The HTML report in a headless Chromium: it sorts, filters, opens, is read by axe-core, asks the network for
# nothing.  RH_SCREENSHOTS names a folder that keeps the pictures, to be looked at.
set -u
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
# shellcheck source=tests/lib/check.sh
source "$here/../lib/check.sh"

check_begin
chromium=$(command -v chromium-headless-shell || command -v chromium) || check_skip 'no chromium here'
/usr/bin/python3 -c 'import sys; sys.exit(sys.version_info < (3, 9))' 2>/dev/null || check_skip 'no /usr/bin/python3 here'
cd "$WORK" || exit 2

# axe-core comes from npm's registry.  Without it the rest is tested.
fetch_axe() {
    export npm_config_cache=$WORK/npm
    mkdir axe && cd axe &&
        timeout 20 npm pack --silent --no-audit --no-fund --fetch-retries=0 --fetch-timeout=10000 axe-core@4 >/dev/null 2>&1 &&
        tar -xzf axe-core-*.tgz package/axe.min.js
}
axe=
if command -v npm >/dev/null && (fetch_axe); then
    axe=$WORK/axe/package/axe.min.js
else
    echo 'axe-core cannot be had from npm: the page is not held against it'
fi

"$RH_BIN/report_files" base.run candidate.run 40
"$RH_BIN/report_files" few.run few-candidate.run 13 20
unlike=few.run
if [ -x "$RH_BIN/pgrehearse-capture" ]; then
    unlike=small.trace
    "$RH_BIN/pgrehearse-capture" log -o small.trace "$here/../cli/data/small.csv" 2>/dev/null
fi
gates=(--gate regressed=0 --gate new-errors=0 --gate missing=0)
check_run 1 "$RH_BIN/pgrehearse-diff" --format html "${gates[@]}" -o report.html base.run candidate.run
check_run 1 "$RH_BIN/pgrehearse-diff" --format html --with-examples "${gates[@]}" -o examples.html base.run candidate.run
# A workload against a run: other places of the times, nothing paired, nothing judged.
check_run 0 "$RH_BIN/pgrehearse-diff" --format html -o unlike.html "$unlike" few-candidate.run

check 'the page works' /usr/bin/python3 -B "$here/page.py" "$chromium" "$WORK" ${axe:+"$axe"}
if [ -n "${RH_SCREENSHOTS:-}" ]; then
    mkdir -p "$RH_SCREENSHOTS" && cp ./*.png ./*.html "$RH_SCREENSHOTS"
fi
check_end
