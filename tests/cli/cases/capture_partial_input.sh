# Of two files one is damaged: the rest is captured, and the status says that it is not all.
gzip -c "$DATA/small.csv" | head -c 600 >cut.csv.gz
pgrehearse capture log -o x.trace cut.csv.gz >/dev/null 2>err; echo "status $?"
grep -c 'cut.csv.gz' err
pgrehearse info --format json x.trace | jq '.[0] | .statements > 0'
pgrehearse info --format json x.trace | jq -r '.[0].incomplete_reason'
