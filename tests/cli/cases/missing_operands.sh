pgrehearse capture; echo "capture $?"
pgrehearse capture log; echo "capture log $?"
pgrehearse capture log -o x.trace; echo "capture log -o $?"
pgrehearse replay; echo "replay $?"
pgrehearse diff; echo "diff $?"
pgrehearse diff only-one.run; echo "diff of one $?"
pgrehearse info; echo "info $?"
pgrehearse show; echo "show $?"
ls
