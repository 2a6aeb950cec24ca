# Several files a side: repeats tell the noise, and what is neither a repeat nor a part is refused.
report_files a.run b.run 13 60
report_files c.run d.run 13 60
pgrehearse diff --gate regressed=0 --gate row-mismatches=0 --base a.run --base b.run --candidate d.run >report.txt; echo "status $?"
grep -E '^(Trust|Noise|Slower|Others|Rows|        volatile|noise|  regressed)' report.txt
sed -n '/^OTHER ROW/,/^CHECKS/p' report.txt
grep -B3 'in one run of a side' report.txt
pgrehearse diff --format json --base a.run --base b.run --candidate d.run |
    jq -c '.noise, .inputs.base.files, .inputs.base.repeats, .inputs.candidate.repeats, .rule.margin_pct,
        .totals.volatile_row_mismatches, (.queries[] | select(.volatile) | [.fingerprint, .volatile, .between_runs])'
for order in '--base a.run --base b.run' '--base b.run --base a.run'; do
    # shellcheck disable=SC2086
    pgrehearse diff --format json $order --candidate c.run --candidate d.run | md5sum
done | uniq | wc -l
pgrehearse diff --base a.run --base b.run --candidate d.run | grep -E '^(file|statements|  *of [0-9]+ pairs)'

pgrehearse capture log -o small.trace "$DATA/small.csv" 2>/dev/null
pgrehearse diff --base a.run --base small.trace --candidate d.run --candidate small.trace |
    sed -n '/BASE/,/^noise/p' | grep -E '^(file|statements|pairs)'
pgrehearse diff --base a.run --base small.trace --candidate d.run; echo "status $?"
pgrehearse diff --base a.run --base a.run --candidate d.run; echo "status $?"
pgrehearse diff --base a.run d.run; echo "status $?"
pgrehearse diff --base a.run; echo "status $?"
