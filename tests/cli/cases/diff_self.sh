# A trace against itself: nothing is new, gone or slower.
pgrehearse capture log -o small.trace "$DATA/small.csv" 2>/dev/null
pgrehearse diff --format json small.trace small.trace >report.json; echo "status $?"
jq -c '[.queries[] | .ratio] | unique' report.json
jq -c '[.queries[] | .time_added_us] | unique' report.json
jq -c '[.errors[] | [.sqlstate, .class]] | unique' report.json
pgrehearse diff --gate new-errors=0 --gate missing=0 small.trace small.trace >/dev/null; echo "gates $?"
pgrehearse diff --limit 0 small.trace small.trace | grep -c '^  *[0-9]* -  ' ; echo "rows of tables ^"
pgrehearse diff --gate missing=0 --gate regressed=0 small.trace small.trace | sed -n 2,5p
