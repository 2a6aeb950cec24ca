pgrehearse capture log -o absent/x.trace "$DATA/small.csv"; echo "status $?"
mkdir folder
pgrehearse capture log -o folder "$DATA/small.csv"; echo "status $?"
ls -A . folder
