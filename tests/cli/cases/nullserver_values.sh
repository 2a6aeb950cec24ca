pgrehearse nullserver --rows -1; echo $?
pgrehearse nullserver --columns 65; echo $?
pgrehearse nullserver --columns 64 --width 300000; echo $?
pgrehearse nullserver --errors 2; echo $?
pgrehearse nullserver --error-state 4000; echo $?
pgrehearse nullserver --server-version latest; echo $?
pgrehearse nullserver --port 65536; echo $?
pgrehearse nullserver -h /no/such/folder -p 6543; echo $?
pgrehearse nullserver x.trace; echo $?
