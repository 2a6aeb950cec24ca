pgrehearse replay --speed 0 x.trace; echo $?
pgrehearse replay --speed -1 x.trace; echo $?
pgrehearse replay --speed fast x.trace; echo $?
pgrehearse replay --speed 1e9 x.trace; echo $?
pgrehearse replay -o '' x.trace; echo $?
pgrehearse replay --reconnect-timeout 0 x.trace; echo $?
pgrehearse replay --jobs 0 x.trace; echo $?
pgrehearse replay --jobs 1x x.trace; echo $?
pgrehearse replay --map-user nobody x.trace; echo $?
pgrehearse replay --from yesterday-ish x.trace; echo $?
pgrehearse capture log --include '(' -o x.trace "$DATA/small.csv"; echo $?
pgrehearse capture log --format xml -o x.trace "$DATA/small.csv"; echo $?
pgrehearse diff --format yaml a b; echo $?
pgrehearse diff --gate regressed a b; echo $?
pgrehearse diff --gate wishes=0 a b; echo $?
pgrehearse info --format yaml a; echo $?
ls
