#!/usr/bin/env bash
# What the capture of the wire needs for a statement, counted and not timed: instructions, and calls
# for memory.
#
# The packets are made here: SELECTs of pgbench -S of eight sessions, one packet there and one back, as
# Query messages and by named statements.  Two captures of different length; what one statement needs is
# the difference of the counts by the difference of the statements.
set -u
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
# shellcheck source=tests/lib/check.sh
source "$here/../lib/check.sh"
# shellcheck source=tests/count/count_lib.sh
source "$here/count_lib.sh"

# About 15 % more than was measured (gcc 12); a packet needs half of it.
declare -A instructions_max=([simple]=6950 [prepared]=10650)

count_begin

# make_pcap MODE STATEMENTS: to standard output.  Bytes are hexadecimal until they are written.
make_pcap() {
    LC_ALL=C awk -v mode="$1" -v statements="$2" 'BEGIN {
        for (i = 1; i < 128; i++)
            code[sprintf("%c", i)] = i
        for (i = 0; i < 256; i++)
            byte[sprintf("%02x", i)] = i
        srand(1)
        put("a1b2c3d4" "00020004" n32(0) n32(0) n32(262144) n32(1))
        for (s = 1; s <= 8; s++)
            open_session(s)
        for (i = 0; i < statements; i++)
            ask(i % 8 + 1, int(rand() * 100000) + 1)
    }
    function n16(v) { return sprintf("%04x", v) }
    function n32(v) { return sprintf("%08x", v) }
    function put(hex,   i) {
        for (i = 1; i < length(hex); i += 2)
            printf "%c", byte[substr(hex, i, 2)]
    }
    function text(s,   i, hex) {
        for (i = 1; i <= length(s); i++)
            hex = hex sprintf("%02x", code[substr(s, i, 1)])
        return hex "00"
    }
    function message(type, body) { return sprintf("%02x", code[type]) n32(length(body) / 2 + 4) body }
    function segment(s, back, flags, payload,   n) {
        n = length(payload) / 2
        us += 37
        put(n32(1767600000 + int(us / 1000000)) n32(us % 1000000) n32(54 + n) n32(54 + n))
        put("000000000000" "000000000000" "0800")
        put("4500" n16(40 + n) "00004000" "40060000" "7f000001" "7f000001")
        put(back ? n16(5432) n16(40000 + s) : n16(40000 + s) n16(5432))
        put(n32(at[s, back]) n32(flags == "02" ? 0 : at[s, !back]) "50" flags "ffff" "00000000")
        put(payload)
        at[s, back] += flags == "02" || flags == "12" ? 1 : n
    }
    function open_session(s,   startup) {
        at[s, 0] = s * 1000
        at[s, 1] = s * 2000
        segment(s, 0, "02", "")
        segment(s, 1, "12", "")
        startup = "00030000" text("user") text("postgres") text("database") text("postgres") "00"
        segment(s, 0, "18", n32(length(startup) / 2 + 4) startup)
        segment(s, 1, "18", message("R", n32(0)) message("K", n32(s) n32(s)) message("Z", "49"))
        if (mode == "prepared") {
            segment(s, 0, "18", message("P", text("P0_1") text(select("$1")) n16(0)) message("S", ""))
            segment(s, 1, "18", message("1", "") message("Z", "49"))
        }
    }
    function select(aid) { return "SELECT abalance FROM pgbench_accounts WHERE aid = " aid ";" }
    function ask(s, aid,   value, answer) {
        answer = message("T", n16(1) text("abalance") n32(16384) n16(3) n32(23) n16(4) n32(-1 + 4294967296) n16(0))
        answer = answer message("D", n16(1) n32(1) "30") message("C", text("SELECT 1")) message("Z", "49")
        if (mode == "simple") {
            segment(s, 0, "18", message("Q", text(select(aid))))
        } else {
            value = text(aid "")
            value = substr(value, 1, length(value) - 2)
            segment(s, 0, "18", message("B", text("") text("P0_1") n16(0) n16(1) n32(length(value) / 2) value n16(1) n16(0)) \
                message("D", text("P")) message("E", text("") n32(0)) message("S", ""))
            answer = message("2", "") answer
        }
        segment(s, 1, "18", answer)
    }'
}

command_of() {
    command=("$RH_BIN/pgrehearse-capture" wire -r "$WORK/$1.pcap" -o "$WORK/$1.trace")
}

few=1000
many=5000
for mode in simple prepared; do
    max=${instructions_max[$mode]}
    make_pcap $mode $few >"$WORK/few.pcap"
    make_pcap $mode $many >"$WORK/many.pcap"

    "$RH_BIN/pgrehearse-capture" wire -r "$WORK/many.pcap" -o "$WORK/many.trace" >"$WORK/out" 2>"$WORK/err"
    check "$mode: all statements are captured" grep -q "^statements   $many:" "$WORK/err"
    "$RH_BIN/pgrehearse" info --format json "$WORK/many.trace" >"$WORK/info" 2>&1
    check "$mode: nothing is missing in the trace" grep -Eq '"gaps": *\[ *\]' "$WORK/info"

    # Tables and buffers double a few times on the way; one call a hundred statements would be 40 here.
    check_each "$mode: " few many $((many - few)) "$max" 40
done
check_end
