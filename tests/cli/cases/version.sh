pgrehearse --version
for command in capture replay diff info show; do
    pgrehearse $command --version
done
pgrehearse-capture -V
pgrehearse-replay -V
pgrehearse-diff -V
