pgrehearse capture log -o small.trace "$DATA/small.csv" 2>/dev/null
for selection in '--session 1' '--session 2 --ordinal 1' '--ordinal 1-2' '--errors' '--kind execute' '--limit 3'; do
    echo "$selection: $(pgrehearse show $selection small.trace | wc -l)"
done
pgrehearse show small.trace | head -n 1 | wc -l
# Every query that the diff names is found, with as many statements as it counts.
pgrehearse diff --format json small.trace small.trace | jq -r '.queries[] | "\(.fingerprint) \(.calls.base)"' |
    while read -r fingerprint calls; do
        [ "$(pgrehearse show --fingerprint "$fingerprint" small.trace | wc -l)" -eq "$calls" ] ||
            echo "$fingerprint: not $calls"
    done
pgrehearse show --errors small.trace | jq -r .sqlstate | sort | uniq -c | while read -r n code; do
    [ "$(pgrehearse show --sqlstate "$code" small.trace | wc -l)" -eq "$n" ] || echo "$code: not $n"
done
pgrehearse show --session 99 small.trace; echo "status $?"
pgrehearse show --fingerprint 12345 small.trace
pgrehearse show --sqlstate 4270 small.trace
pgrehearse show --sqlstate 00000 small.trace
