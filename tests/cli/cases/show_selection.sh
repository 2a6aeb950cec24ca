pgrehearse capture log -o small.trace "$DATA/small.csv" 2>/dev/null
for selection in '--session 1' '--session 2 --ordinal 1' '--ordinal 1-2' '--errors' '--kind execute' '--limit 3'; do
    echo "$selection: $(pgrehearse show $selection small.trace | wc -l)"
done
pgrehearse show small.trace | head -n 1 | wc -l
