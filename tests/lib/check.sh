# Checks of the integration tests; to be sourced.
#
#   check_begin               RH_BIN must name the folder of the programs; makes $WORK
#   check_equal WHAT WANTED FOUND
#   check WHAT COMMAND...     the command must succeed
#   check_run STATUS COMMAND...   run with a time limit; the exit status must be STATUS (several: "0|3");
#                             standard output and error are in $WORK/out and $WORK/err
#   check_skip WHY            end now, as skipped (ctest's SKIP_RETURN_CODE)
#   check_end                 end, with what was found
#
# A failed check is told and counted, and the test goes on.

WORK=
check_count=0
check_failed=0
CHECK_SKIP_STATUS=77
# A hang is a failure too: no single command of these tests needs as long.
CHECK_TIMEOUT_S=${CHECK_TIMEOUT_S:-120}

check_begin() {
    : "${RH_BIN:?the folder of the programs}"
    RH_BIN=$(cd "$RH_BIN" && pwd)
    if [ -n "${SERVER_ROOT:-}" ]; then
        WORK=$SERVER_ROOT/work
        mkdir "$WORK"
    else
        WORK=$(mktemp -d /tmp/pgrehearse-test.XXXXXXXX)
        trap 'rm -rf "$WORK"' EXIT
        trap 'exit 129' HUP
        trap 'exit 130' INT
        trap 'exit 143' TERM
    fi
}

check_fail() {
    check_failed=$((check_failed + 1))
    echo "FAILED: $*"
}

check_equal() {
    check_count=$((check_count + 1))
    [ "$2" = "$3" ] || check_fail "$1: wanted '$2', found '$3'"
}

check() {
    local what=$1
    shift
    check_count=$((check_count + 1))
    "$@" || check_fail "$what: $* (status $?)"
}

check_run() {
    local wanted=$1 status=0
    shift
    check_count=$((check_count + 1))
    timeout -k 5 "$CHECK_TIMEOUT_S" "$@" >"$WORK/out" 2>"$WORK/err" </dev/null || status=$?
    # Sanitizers end a program with their own status; the text makes the reason plain.
    if [[ "|$wanted|" != *"|$status|"* ]]; then
        check_fail "$* ended with $status, wanted $wanted"
        tail -n 30 "$WORK/err" | sed 's/^/    /'
        return 1
    fi
}

check_skip() {
    echo "SKIPPED: $*"
    exit "$CHECK_SKIP_STATUS"
}

check_end() {
    echo "$check_count checks, $check_failed failed"
    [ "$check_failed" -eq 0 ]
    exit
}
