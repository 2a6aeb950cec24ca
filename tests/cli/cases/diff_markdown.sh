# For a pull request: what failed first, and names that try to break out of tables and of code.
report_files base.run candidate.run 13 20
pgrehearse diff --format markdown --gate regressed=0 --gate new-errors=0 base.run candidate.run; echo "status $?"
pgrehearse diff --format markdown base.run base.run; echo "status $?"
