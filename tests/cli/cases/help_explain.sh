pgrehearse explain --help
