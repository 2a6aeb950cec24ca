# Packets of psql's sessions on port 23082: what the summary says and what the trace has.
pgrehearse capture wire -v --server-port 23082 -o wire.trace -r "$DATA/small.pcap" 2>summary; echo "status $?"
sed '/^wrote/s/:.*//' summary
pgrehearse show wire.trace | jq -c '[.session, .ordinal, .kind, .user, .database, .sql, .sqlstate, .rows]'
pgrehearse info --format json wire.trace | jq -c '.[0] | [.vantage, .server_address, .server_version, .gaps]'
grep -a -c hunter2 "$DATA/small.pcap" wire.trace

# Filters, as of a log.
filtered() {
    rm -f x.trace
    pgrehearse capture wire -q --server-port 23082 -o x.trace -r "$DATA/small.pcap" "$@"; echo "status $?"
    [ ! -e x.trace ] || pgrehearse show x.trace | jq -r '[.session, .kind, .sql] | join(" ")'
}
filtered --user app --include 'select'
filtered --application nobody
filtered --from '2026-11-30 17:03:01Z'
filtered --redact --user postgres
