pgrehearse reply
