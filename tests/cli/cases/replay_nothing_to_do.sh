# A window in which nothing begins: nothing usable is made.
pgrehearse capture log -o small.trace "$DATA/small.csv" 2>/dev/null
pgrehearse replay -h "$PWD" --from '2027-01-01 00:00 UTC' small.trace; echo "status $?"
ls
