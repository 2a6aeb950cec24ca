count() {
    pgrehearse capture log -o x.trace "$@" "$DATA/small.csv" 2>/dev/null
    local status=$?
    echo "$* -> status $status, $(pgrehearse show x.trace 2>/dev/null | grep -c '"sql":"') statements"
    rm -f x.trace
}
count
count --user alice
count --user alice --user bob
count --database shop
count --application cron
count --include '^SELECT'
count --exclude '^SELECT'
count --include orders --exclude UPDATE
count --from '2026-03-01 10:00:03 UTC'
count --to '2026-03-01 10:00:03 UTC'
count --user nobody
count --exclude '(?i)^(begin|rollback)'
count --sample 0.3
count --sample 0
pgrehearse capture log --redact -o x.trace "$DATA/small.csv" 2>&1 | grep -A1 -e '^redacted' -e '^not replayable'
pgrehearse show x.trace | grep -o -e '"sql":"[^"]*\(\\.[^"]*\)*"' -e '"params":\[[^]]*\]'
echo "$(pgrehearse show x.trace | grep -c -e Reilly -e cheaper) of the literals are left"
