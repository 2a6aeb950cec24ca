# A name that no server writes is a bad record, and ends nothing.
name=$(printf 'n%.0s' {1..1100})
{ cat "$DATA/small.csv"; sed -n 's/"alice"/"'"$name"'"/p' "$DATA/small.csv" | head -n 1; } >user.csv
{ cat "$DATA/small.csv"; head -n 1 "$DATA/small.csv" | awk -F, -v OFS=, -v n="$name" '{ $23 = n; print }'; } >application.csv
for log in user application; do
    pgrehearse capture log -o x.trace $log.csv 2>summary; echo "status $?"
    grep -A 2 '^bad' summary
done
