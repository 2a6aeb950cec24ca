pgrehearse info --help
