# The options of the preflight that exclude each other, and a dry run without a server.
pgrehearse capture log -o small.trace "$DATA/small.csv" 2>/dev/null
pgrehearse replay --format json small.trace; echo "status $?"
pgrehearse replay --dry-run --format xml small.trace; echo "status $?"
pgrehearse replay --dry-run --no-preflight small.trace; echo "status $?"
pgrehearse replay --dry-run -h "$PWD/absent" small.trace 2>/dev/null; echo "status $?"
ls
