# Gates from a file: the command line wins, and a slip names the line.
report_files base.run candidate.run 13 20
printf '%s\n' '[gates]' 'regressed = 0  ; none' 'new-errors = 0' >gates.ini
judge() {
    pgrehearse diff "$@" base.run candidate.run >report.txt
    echo "status $?"
    sed -n '/^GATES/,$p' report.txt
}
judge --gates gates.ini
judge --gates gates.ini --gate regressed=100 --gate new-errors=100000
judge --gates - --gate missing=0 <gates.ini
printf 'regressed = 0\n\nnew-error = 0\n' >slip.ini
judge --gates slip.ini
printf '[gates]\nregressed = 0\nregressed = 1\n' >twice.ini
judge --gates twice.ini
: >empty.ini
judge --gates empty.ini
judge --gates none.ini
