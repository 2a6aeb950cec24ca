#!/usr/bin/env bash
# samples/demo.sh as a user runs it, its report, and that it leaves nothing running.
set -u
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
# shellcheck source=tests/lib/check.sh
source "$here/../lib/check.sh"

check_begin
export PGREHEARSE_BIN=$RH_BIN PGREHEARSE_DEMO_SECONDS=${PGREHEARSE_DEMO_SECONDS:-8}

# Every process of the demo is of its session: postmasters are its children, backends theirs.
processes_of() {
    pgrep -s "$1"
    pgrep -f "postgres -D $2/"
}

whole_demo() {
    local dir=$WORK/demo file
    CHECK_TIMEOUT_S=280 check_run 0 setsid -w bash "$here/../../samples/demo.sh" "$dir" || return
    check 'no replay cancels a statement that production did not cancel' \
        test -z "$(grep 'cancel request' "$WORK/err")"
    for file in shop.csv shop.trace base.run candidate.run report.json report.txt production-vs-base.txt; do
        check "$file is there" test -s "$dir/$file"
    done
    # That it is the first is a matter of time, and so for people to see.
    check_equal 'the query that lost its index is compared' true \
        "$(jq '[.queries[] | select(.sql | test("from orders where customer_id"; "i"))][0] | .calls.base > 0 and .calls.candidate > 0 and .ratio != null and .time_added_us != null' "$dir/report.json")"
    check_equal 'the renamed column is the only new error' '["42703"]' \
        "$(jq -c '[.errors[] | select(.class == "new") | .sqlstate] | unique' "$dir/report.json")"
    check_equal 'it is the query of the profile' true \
        "$(jq '[.errors[] | select(.class == "new")][0].counts | .base == 0 and .candidate > 0' "$dir/report.json")"
    check_equal 'no gaps and damage' 'true []' \
        "$("$RH_BIN/pgrehearse" info --format json "$dir/shop.trace" | jq -r '.[0] | "\(.complete) \(.gaps)"')"
    check_run 0 "$RH_BIN/pgrehearse" diff --format json "$dir/shop.trace" "$dir/base.run"
    check_equal 'the unchanged copy has production'\''s errors and no others' \
        '22012 same|23505 same|23514 same|25P02 same|42P01 same' \
        "$(jq -r '[.errors[] | "\(.sqlstate) \(.class)"] | unique | join("|")' "$WORK/out")"
    # On a host that is too busy the rehearsal is invalid (3): that is no matter of this test.
    check_run 0 "$RH_BIN/pgrehearse" diff --judge-anyway --gate new-errors=0 "$dir/base.run" "$dir/base.run"
    check_run 1 "$RH_BIN/pgrehearse" diff --gate new-errors=0 "$dir/base.run" "$dir/candidate.run"
}

# ^C while the shop is open.
interrupted_demo() {
    local pid root status=0
    setsid bash "$here/../../samples/demo.sh" "$WORK/interrupted" >"$WORK/interrupted.out" 2>&1 &
    pid=$!
    for _ in {1..300}; do
        pgrep -s "$pid" pgbench >/dev/null && break
        sleep 0.1
    done
    root=$(pgrep -s "$pid" -a postgres | sed -n 's|.*-D \(/tmp/pgrehearse\.[^/]*\)/.*|\1|p' | head -n 1)
    check 'the demo works in a folder of its own' test -d "$root"
    sleep 1
    # Background jobs of a shell without job control ignore SIGINT, so the demo is asked with SIGTERM here.
    kill -TERM -- "-$pid"
    wait "$pid" || status=$?
    check_equal 'the interrupted demo says so' 143 "$status"
    sleep 1
    check_equal 'nothing of it runs' '' "$(processes_of "$pid" "$root")"
    check 'its servers are gone' test ! -e "$root"
}

whole_demo
interrupted_demo
check_end
