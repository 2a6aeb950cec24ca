# One line a query, with names that try to break out of it; CR LF is shown.
report_files base.run candidate.run 13 20
pgrehearse diff --format csv base.run candidate.run >report.csv; echo "status $?"
sed 's/\r$/<CR>/' report.csv
