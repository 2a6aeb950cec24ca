# A text on which a pattern runs away is left out with --include and with --exclude, and that is said.
as=$(printf 'a%.0s' {1..60})
{
    cat "$DATA/small.csv"
    printf '2026-03-01 10:00:06.000 UTC,"alice","shop",4001,"10.0.0.5:50001",69a40810.fa1,99,"SELECT",2026-03-01 09:59:44 UTC,3/99,0,LOG,00000,"duration: 1.000 ms  statement: SELECT %s",,,,,,,,,"app","client backend",,0\n' "$as"
} >a.csv
for option in --include --exclude; do
    pgrehearse capture log -o x.trace $option '(a+)+[0-9]' a.csv 2>summary; echo "status $?"
    grep -E '^(statements|ran away|pgrehearse)|left out by' summary
done
tail -n 1 a.csv >one.csv
pgrehearse capture log -q -o y.trace --include '(a+)+[0-9]' one.csv; echo "status $?"
