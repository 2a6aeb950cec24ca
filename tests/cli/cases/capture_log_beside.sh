# The server puts a .log beside each .csv: of DIR/* it is passed over, and alone it is named.
mkdir logs
cp "$DATA/small.csv" logs/a.csv
gzip -c "$DATA/small.csv" >logs/b.csv.gz
for name in a b lone; do
    echo '2026-01-01 00:00:00 UTC [1] LOG:  ending log output to stderr' >logs/$name.log
done
pgrehearse capture log -q -o x.trace logs/*; echo "status $?"
rm logs/lone.log
pgrehearse capture log -q -o x.trace logs/*; echo "status $?"
pgrehearse show x.trace | wc -l
# A name alone is no csvlog.
cp logs/a.log logs/c.csv
cp logs/a.log logs/c.log
pgrehearse capture log -q -o y.trace logs/c.*; echo "status $?"
