pgrehearse calibrate --help
