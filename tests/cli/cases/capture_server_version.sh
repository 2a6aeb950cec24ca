# The server's version is in what it logs when it starts, in any language; else it is unknown.
start() {
    printf '2026-03-01 09:00:00.000 UTC,,,90,,69a3fa00.5a,1,,2026-03-01 09:00:00 UTC,,0,%s,00000,"%s",,,,,,,,,"","postmaster",,0\n' "$1" "$2"
}
built='PostgreSQL 15.18 (Debian 15.18-0+deb12u1) on x86_64-pc-linux-gnu, compiled by gcc (Debian 12.2.0-14) 12.2.0, 64-bit'
version() {
    pgrehearse capture log -q -o x.trace "$1" && pgrehearse info --format json x.trace | jq -c '.[0].server_version'
}
{ start LOG "starting $built"; cat "$DATA/small.csv"; } >en.csv; version en.csv
{ start LOG "$built wird gestartet"; cat "$DATA/small.csv"; } >de.csv; version de.csv
{ start LOG "a word about PostgreSQL 15.18 on this machine"; cat "$DATA/small.csv"; } >no.csv; version no.csv
