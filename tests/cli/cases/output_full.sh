# Standard output that takes nothing is trouble, a reader that has seen enough is none.
pgrehearse capture log -o small.trace "$DATA/small.csv" 2>/dev/null
pgrehearse show small.trace >/dev/full; echo "show $?"
pgrehearse info small.trace >/dev/full; echo "info $?"
pgrehearse diff small.trace small.trace >/dev/full; echo "diff $?"
set -o pipefail
pgrehearse show small.trace | true; echo "to nobody $?"
