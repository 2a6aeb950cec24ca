pgrehearse capture log -o small.trace "$DATA/small.csv"; echo "status $?"
ls
