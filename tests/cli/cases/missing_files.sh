pgrehearse capture log -o x.trace absent.csv; echo "capture $?"
pgrehearse replay absent.trace; echo "replay $?"
pgrehearse diff absent.trace absent.run; echo "diff $?"
pgrehearse info absent.trace; echo "info $?"
pgrehearse show absent.trace; echo "show $?"
ls
