# The nearest name is told; the status is 2 for every command.
pgrehearse capture log --form csv x; echo "capture $?"
pgrehearse replay --sped 2 x.trace; echo "replay $?"
pgrehearse diff --formta json a b; echo "diff $?"
pgrehearse info --fromat json a; echo "info $?"
pgrehearse show --sesion 1 a; echo "show $?"
