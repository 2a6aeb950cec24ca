pgrehearse capture log -o small.trace "$DATA/small.csv" 2>/dev/null
pgrehearse show small.trace
