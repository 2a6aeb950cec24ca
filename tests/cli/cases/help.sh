pgrehearse --help
