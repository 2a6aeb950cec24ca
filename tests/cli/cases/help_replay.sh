pgrehearse replay --help
