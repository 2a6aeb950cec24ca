# The summary; the trace's size is masked, for its header holds the time and a new identity.
pgrehearse capture log -o small.trace "$DATA/small.csv" 2>summary; echo "status $?"
sed -E '/^wrote/s/[0-9.]+ (bytes?|kB)/SIZE/g' summary
ls
