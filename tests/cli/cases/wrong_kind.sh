# A log is no trace, a trace is no log, and neither is an empty file.
pgrehearse capture log -o small.trace "$DATA/small.csv" 2>/dev/null
pgrehearse info "$DATA/small.csv"; echo "info $?"
pgrehearse show "$DATA/small.csv"; echo "show $?"
pgrehearse replay "$DATA/small.csv"; echo "replay $?"
pgrehearse diff "$DATA/small.csv" small.trace; echo "diff $?"
pgrehearse capture log -o x.trace small.trace; echo "capture $?"
mkfifo fifo
pgrehearse info fifo; echo "info of a pipe $?"
rm fifo
: >empty
pgrehearse info empty; echo "info of nothing $?"
pgrehearse capture log -o x.trace empty; echo "capture of nothing $?"
ls
