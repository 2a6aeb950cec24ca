# What is there and is no trace is not replaced: it may be the log.  A report replaces no trace or run.
cp "$DATA/small.csv" log.csv
pgrehearse capture log -q -o log.csv log.csv
echo "status $?"
cmp log.csv "$DATA/small.csv" && echo 'the log is as it was'
pgrehearse capture log -q -o small.trace log.csv
cp small.trace kept.trace
pgrehearse diff -o kept.trace small.trace small.trace
echo "status $?"
cmp kept.trace small.trace && echo 'the trace is as it was'
pgrehearse capture log -q -o kept.trace log.csv
echo "status $?"
