pgrehearse nullserver --help
