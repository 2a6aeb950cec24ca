pgrehearse calibrate; echo $?
pgrehearse calibrate a.trace b.trace; echo $?
pgrehearse calibrate no.trace; echo $?
pgrehearse calibrate "$DATA/small.csv"; echo $?
pgrehearse calibrate --first 0 no.trace; echo $?
pgrehearse calibrate --jobs 65 no.trace; echo $?
pgrehearse calibrate --format xml no.trace; echo $?
