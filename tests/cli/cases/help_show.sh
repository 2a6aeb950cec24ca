pgrehearse show --help
