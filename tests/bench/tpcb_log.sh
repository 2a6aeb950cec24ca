# A csvlog of pgbench's TPC-B, of any size; to be sourced after lib/server.sh.
#
#   tpcb_log_make FILE          8 clients, 4,000 transactions each, simple protocol, scale 10,
#                               log_statement = all with log_duration
#   tpcb_log_grow FILE BYTES OUT    the same day again and again until OUT has BYTES: repetition k is
#                               shifted by k days, in stamps, session starts and session ids

tpcb_log_make() {
    local dir=$SERVER_ROOT/bench
    server_new "$dir" && server_start "$dir" || return 1
    pgbench -i -q -s 10 -h "$SERVER_SOCKETS" -p "$SERVER_PORT" -U postgres postgres 2>/dev/null || return 1
    server_stop "$dir"
    server_log_csv "$dir" tpcb
    server_start "$dir" || return 1
    PGOPTIONS='-c log_statement=all -c log_duration=on' pgbench -n -c 8 -j 2 -t 4000 \
        -h "$SERVER_SOCKETS" -p "$SERVER_PORT" -U postgres postgres >/dev/null || return 1
    server_stop "$dir"
    server_wait_log "$dir/log/tpcb.csv" || return 1
    # Only what clients did: a day that begins with "starting PostgreSQL" would end the last one.
    grep -E '"(client backend|not initialized)"' "$dir/log/tpcb.csv" >"$1"
    [ "$(cut -c 1-10 "$1" | sort -u | wc -l)" -eq 1 ] || server_fail 'it is midnight: once more, please'
}

tpcb_log_grow() {
    local source=$1 bytes=$2 out=$3 size day k=0 first
    size=$(stat -c %s "$source")
    first=$(head -c 10 "$source")
    : >"$out"
    while [ $((k * size)) -lt "$bytes" ]; do
        day=$(date -u -d "$first + $k days" +%F)
        # Commas stand only behind the first nine fields: names of this log have none.
        awk -F, -v OFS=, -v k="$k" -v first="$first" -v day="$day" '{
            if (k > 0) {
                if (!($6 in id)) {
                    split($6, part, ".")
                    id[$6] = sprintf("%x.%s", hex(part[1]) + k * 86400, part[2])
                }
                $6 = id[$6]
                sub(first, day, $1)
                sub(first, day, $9)
            }
            print
        }
        function hex(text,    i, v) {
            for (i = 1; i <= length(text); i++)
                v = v * 16 + index("0123456789abcdef", substr(text, i, 1)) - 1
            return v
        }' "$source" >>"$out"
        k=$((k + 1))
    done
}
