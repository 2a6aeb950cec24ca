# "help COMMAND" is "COMMAND --help".
for command in capture replay diff info show; do
    cmp <(pgrehearse help $command) <(pgrehearse $command --help) || exit 1
done
cmp <(pgrehearse help) <(pgrehearse --help)
