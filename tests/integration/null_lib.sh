# What the tests of the null server share; to be sourced behind tests/lib/check.sh, after check_begin.
#
#   null_start OPTION...      a null server on the socket folder $WORK; sets NULL_PORT
#   null_stop                 end it; what it said is in $WORK/null.err
#
# It ends with this shell: null_stop is called on exit too, and a kill -9 leaves it no parent.

null_pid=
NULL_PORT=

null_start() {
    local try
    : >"$WORK/null.out"
    setpriv --pdeathsig TERM -- "$RH_BIN/pgrehearse-nullserver" -h "$WORK" "$@" \
        >"$WORK/null.out" 2>"$WORK/null.err" </dev/null &
    null_pid=$!
    trap 'null_stop; rm -rf "$WORK"' EXIT
    for try in {1..400}; do
        NULL_PORT=$(sed -n '1s/^ready host=.* port=//p' "$WORK/null.out")
        [ -n "$NULL_PORT" ] && return 0
        kill -0 "$null_pid" 2>/dev/null || break
        sleep 0.05
    done
    check_fail "the null server does not start (try $try): $(cat "$WORK/null.err")"
    check_end
}

null_stop() {
    local status=0
    [ -n "$null_pid" ] || return 0
    kill "$null_pid" 2>/dev/null
    wait "$null_pid" || status=$?
    null_pid=
    return "$status"
}
