# Nothing connected: nothing usable was made.
pgrehearse capture log -o small.trace "$DATA/small.csv" 2>/dev/null
pgrehearse replay -h "$PWD/absent" --speed max small.trace 2>/dev/null; echo "status $?"
