# What tests that count share, instead of timing; to be sourced behind tests/lib/check.sh.
#
#   count_begin               check_begin; skips where nothing can be counted
#   instructions COMMAND...   of user code, in all, as valgrind has them
#   allocations COMMAND...    calls for memory, likewise
#   check_each WHAT SHORT LONG STATEMENTS INSTRUCTIONS ALLOCATIONS
#                             what one statement needs is the difference of two runs by the difference of their
#                             statements, STATEMENTS, so the start of the program counts for nothing: at most so
#                             many instructions, and so many calls for memory for all of them.  command_of SHORT
#                             and command_of LONG, the caller's, set command=()

count_begin() {
    [ "${RH_OPTIMISED:-}" = 1 ] || check_skip 'only an optimised build without sanitizers is counted'
    command -v valgrind >/dev/null || check_skip 'valgrind is not installed'
    check_begin
}

# count LABEL OPTION... COMMAND...: the number that valgrind tells behind the label
count() {
    local label=$1
    shift
    valgrind "$@" >"$WORK/out" 2>"$WORK/err" || { cat "$WORK/err"; return 1; }
    sed -n "s/^.*$label *\([0-9,]*\).*$/\1/p" "$WORK/err" | tr -d , | tail -n 1
}

instructions() {
    count 'I  *refs:' --tool=cachegrind --cache-sim=no --cachegrind-out-file=/dev/null "$@"
}

allocations() {
    count 'total heap usage:' --tool=memcheck --leak-check=no --undef-value-errors=no "$@"
}

check_each() {
    local what=$1 short long each
    local -a command
    command_of "$2" && short=$(instructions "${command[@]}")
    command_of "$3" && long=$(instructions "${command[@]}")
    each=$(((long - short) / $4))
    echo "$what$each instructions a statement (at most $5)"
    check "${what}both were counted" [ "${short:-0}" -gt 0 -a "${long:-0}" -gt "${short:-0}" ]
    check "$what$each instructions a statement are at most $5" [ "$each" -le "$5" ]

    command_of "$2" && short=$(allocations "${command[@]}")
    command_of "$3" && long=$(allocations "${command[@]}")
    echo "$what$short calls for memory, $long for $4 statements more"
    check "${what}both were counted" [ "${short:-0}" -gt 0 -a "${long:-0}" -gt 0 ]
    check "${what}no call for memory a statement" [ $((long - short)) -le "$6" ]
}
