# A log without one statement makes no trace.
grep -v 'statement:' "$DATA/small.csv" | grep -v execute | grep -v ERROR >none.csv
pgrehearse capture log -o x.trace none.csv; echo "status $?"
ls
