pgrehearse diff --help
