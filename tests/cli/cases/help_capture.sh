pgrehearse capture --help
