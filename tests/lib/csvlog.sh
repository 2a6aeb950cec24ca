# Synthetic csvlogs, in PostgreSQL 15's 26 columns; to be sourced.
#
#   csvlog_make SESSIONS STATEMENTS LITERAL_BYTES   to standard output
#
# SESSIONS sessions of user postgres connect in one second; then STATEMENTS simple SELECTs follow, one a
# millisecond and by turns, each with a duration and with a literal of LITERAL_BYTES hex digits that
# does not compress; then all disconnect.  The same arguments give the same bytes.

csvlog_make() {
    awk -v sessions="$1" -v statements="$2" -v literal_bytes="$3" '
    function stamp(ms,    s) {
        s = 36000 + int(ms / 1000)
        return sprintf("2026-03-01 %02d:%02d:%02d.%03d UTC", int(s / 3600), int(s / 60) % 60, s % 60, ms % 1000)
    }
    function record(ms, session, tag, text) {
        printf "%s,\"postgres\",\"postgres\",%d,\"[local]\",%x.%x,%d,\"%s\",2026-03-01 10:00:00 UTC,%d/%d,0,LOG,00000,\"%s\",,,,,,,,,\"load\",\"client backend\",,0\n",
            stamp(ms), 5000 + session, 1772359200, 5000 + session, ++line[session], tag, session, line[session], text
    }
    # A generator of our own (Lehmer, modulus 2^31 - 1): awk versions differ in rand().
    function hex(bytes,    out) {
        out = ""
        while (length(out) < bytes) {
            seed = (seed * 16807) % 2147483647
            out = out sprintf("%06x", seed % 16777216)
        }
        return substr(out, 1, bytes)
    }
    BEGIN {
        seed = 20260301
        for (i = 1; i <= sessions; i++)
            record(i, i, "authentication", "connection authorized: user=postgres database=postgres application_name=load")
        for (n = 0; n < statements; n++)
            record(1000 + n, 1 + n % sessions, "SELECT",
                sprintf("duration: 0.%03d ms  statement: SELECT %d AS n, '"'%s'"' AS filler", 1 + n % 999, n, hex(literal_bytes)))
        for (i = 1; i <= sessions; i++)
            record(1001 + statements, i, "idle", "disconnection: session time: 0:00:09.000 user=postgres database=postgres host=[local]")
    }'
}
