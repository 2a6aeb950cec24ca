# The same trace from a file, standard input, gzip and zstd, and two halves.
gzip -c "$DATA/small.csv" >small.csv.gz
zstd -q -o small.csv.zst "$DATA/small.csv"
head -n 8 "$DATA/small.csv" >one.csv
tail -n +9 "$DATA/small.csv" >two.csv
show() {
    pgrehearse capture log -o x.trace "$@" 2>/dev/null || echo "status $?"
    pgrehearse show x.trace
}
show "$DATA/small.csv" >wanted
for input in "small.csv.gz" "small.csv.zst" "one.csv two.csv"; do
    cmp wanted <(show $input) && echo "same: $input"
done
cmp wanted <(show - <"$DATA/small.csv") && echo 'same: standard input'
wc -l <wanted
