# Garbage is counted with its place and costs nobody else anything.
{ head -n 3 "$DATA/small.csv"; printf 'no record, "at all\n\0\1\2\n'; tail -n +4 "$DATA/small.csv"; printf '2026-03-01 10:00:06.000 UTC,"alice","shop",40'; } >bad.csv
pgrehearse capture log -o x.trace bad.csv 2>summary; echo "status $?"
grep -A 9 '^bad' summary | sed '/^wrote/,$d'
pgrehearse info --format json x.trace | jq '.[0].statements'
