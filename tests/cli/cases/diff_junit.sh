# Failures where a gate fails, errors where nothing can be judged, and else none.
report_files base.run candidate.run 13 20
pgrehearse diff --format junit --gate regressed=0 --gate new-errors=0 --gate missing=0 base.run candidate.run; echo "status $?"
pgrehearse diff --format junit base.run candidate.run >plain.xml; echo "status $?"
grep -c -E '<(failure|error) ' plain.xml
pgrehearse diff --format junit --gate regressed=0 base.run candidate.run | grep -o -E '<(failure|error) .*'
pgrehearse capture log -o small.trace "$DATA/small.csv" 2>/dev/null
pgrehearse diff --format junit --gate regressed=0 small.trace candidate.run >unlike.xml; echo "status $?"
grep -o -E '<error .*' unlike.xml
