# Parts of one log in a wrong order within a file are told, and are a gap; a log under two names counts once.
half() { pgrehearse capture log -o x.trace "$@" 2>summary; echo "status $?"; grep -E -A1 '^(statements|repeated|disorder|pgrehearse)' summary; }
{ tail -n 7 "$DATA/small.csv"; head -n 7 "$DATA/small.csv"; } >swapped.csv
half swapped.csv
pgrehearse info --format json x.trace | jq '.[0].gaps'
gzip -c "$DATA/small.csv" >copy.csv.gz
half "$DATA/small.csv" copy.csv.gz
grep -E '^2026.*,69a40e21.fa2,' "$DATA/small.csv" | grep -v disconnection | head -n 2 >head.csv
grep -E '^2026.*disconnection' "$DATA/small.csv" | head -n 1 | cat - head.csv >backwards.csv
pgrehearse capture log -q -o y.trace backwards.csv; echo "status $?"
