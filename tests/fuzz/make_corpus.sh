#!/usr/bin/env bash
# Makes corpus/fuzz_capture, fuzz_log_text, fuzz_mp, fuzz_options and a part of fuzz_wire anew: small logs of a
# throwaway server under several settings, fields of them, and texts by hand.  Not run by CI; a log differs in
# times and process ids each time, so a run of it is a change to be committed.
#
#     tests/fuzz/make_corpus.sh
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")"
# shellcheck source=tests/lib/server.sh
source ../lib/server.sh
corpus=$PWD/corpus

# input TARGET NAME BYTE...: standard input behind the given bytes (two hex digits each)
input() {
    local target=$1 name=$2 bytes=''
    shift 2
    while [ $# -gt 0 ]; do
        bytes+="\\x$1"
        shift
    done
    mkdir -p "$corpus/$target"
    { printf '%b' "$bytes"; cat; } >"$corpus/$target/$name"
}

# log_of NAME OPTIONS: the csvlog of a few sessions with these settings
log_of() {
    local name=$1 options=$2
    server_psql "$cluster" -c "ALTER SYSTEM SET log_filename = '$name.log'" -c 'SELECT pg_reload_conf()' >/dev/null
    for _ in {1..100}; do
        [ -e "$cluster/log/$name.csv" ] && break
        sleep 0.1
    done
    PGOPTIONS=$options server_psql "$cluster" -v ON_ERROR_STOP=0 >/dev/null 2>&1 <<-'END'
		SELECT 1;
		SELECT 'it''s', $$a
		b$$, "odd ""name""" FROM (SELECT 2 AS "odd ""name""") AS t;
		BEGIN;
		UPDATE pgbench_tellers SET tbalance = tbalance + 5 WHERE tid = 3;
		SELECT nonsense;
		ROLLBACK;
		PREPARE find(int) AS SELECT * FROM pgbench_branches WHERE bid = $1;
		EXECUTE find(1);
		DEALLOCATE find;
		SET statement_timeout = 10;
		SELECT pg_sleep(1);
		CREATE ROLE somebody PASSWORD 'secret';
		DROP ROLE somebody;
	END
    PGOPTIONS=$options pgbench -n -M prepared -c 1 -t 2 -h "$SERVER_SOCKETS" -p "$SERVER_PORT" -U postgres postgres \
        >/dev/null 2>&1
    sleep 1
    head -c 6000 "$cluster/log/$name.csv" | input fuzz_capture "$name" "$3" 40
}

server_begin
cluster=$SERVER_ROOT/corpus
server_new "$cluster"
server_configure "$cluster" <<'END'
logging_collector = on
log_destination = 'csvlog'
log_directory = 'log'
log_rotation_age = 0
log_rotation_size = 0
log_connections = on
log_disconnections = on
END
server_start "$cluster"
pgbench -i -q -h "$SERVER_SOCKETS" -p "$SERVER_PORT" -U postgres postgres >/dev/null 2>&1
rm -rf "$corpus"/fuzz_{capture,log_text,mp,options}
log_of min_duration '-c log_min_duration_statement=0' 00
log_of statement '-c log_statement=all' 02
log_of both '-c log_statement=all -c log_duration=on' 04
log_of cut '-c log_min_duration_statement=0 -c log_parameter_max_length=1' 01
log_of errors '-c log_parameter_max_length_on_error=-1' 07
server_stop "$cluster"
# Older and other forms: fewer columns, a file that was damaged in the middle.
cut -d, -f1-23 <"$cluster/log/statement.csv" | head -c 2000 | input fuzz_capture columns23 00 ff
{ head -c 900 "$cluster/log/both.csv"; printf 'torn\0"x\n'; tail -c 1500 "$cluster/log/both.csv"; } |
    input fuzz_capture damaged 00 07

# The fields of them.
csv=$cluster/log/min_duration.csv
head -n 1 "$csv" | input fuzz_log_text row 03
sed -n 4,9p "$csv" | input fuzz_log_text rows 03
printf '2026-01-31 13:05:09.123 CET\n2026-03-01 11:00:00 CET' | input fuzz_log_text stamp 00
printf '2026-01-31T13:05:09.123456-03:30\n2026-03-01 06:30:00 -03:30' | input fuzz_log_text stamp_offset 00
n=0
while IFS= read -r message; do
    n=$((n + 1))
    printf '%s' "$message" | input fuzz_log_text "message$n" 01
done <<'END'
duration: 0.123 ms  statement: SELECT 1
duration: 12.5 ms  parse P0_1: UPDATE t SET a = $1
duration: 0.020 ms  bind S_1/C_2: SELECT $1
execute fetch from <unnamed>/c: SELECT 1: 2
Dauer: 1.5 ms  Anweisung: SELECT 'ä'
durée : 0,3 ms, exécute <unnamed> : SELECT 1
connection authorized: user=app database=shop application_name=web SSL enabled (protocol=TLSv1.3)
disconnection: session time: 0:00:09.000 user=app database=shop host=[local]
starting PostgreSQL 15.18 (Debian 15.18-0+deb12u1) on x86_64-pc-linux-gnu, compiled by gcc, 64-bit
unnamed portal with parameters: $1 = '1', $2 = NULL
prepare: PREPARE find(int) AS SELECT $1
parameters: $1 = 'a''b'
canceling statement due to user request
fastpath function call: "lo_open" (OID 952)
END
printf '%s' "\$1 = '42', \$2 = NULL, \$3 = 'it''s, \$4 = ', \$4 = 'cut...'" | input fuzz_log_text params 02

# MessagePack: one of each kind, nested, and columns of integers.
printf '%b' '\x93\x01\xc0\x82\xa1a\xc3\xc4\x02xy\xd3\x80\x00\x00\x00\x00\x00\x00\x00' | input fuzz_mp nested
printf '%b' '\xcb\x40\x09\x21\xfb\x54\x44\x2d\x18\xd6\x05abcd\xdb\x00\x00\x00\x01z\xdd\x00\x00\x00\x01\xc2' | input fuzz_mp wide
printf '%b' '\x94\x01\x05\x01\xc4\x28' | { cat; printf '%040d' 7; } | input fuzz_mp planes
printf '%b' '\x94\x02\xd1\xff\x00\x02\xc4\x50' | { cat; printf '%080d' 3; } | input fuzz_mp planes_unknown

# What people type.
printf 'host=/tmp port=6000 user=a dbname=b\n\n\n\napp\nshop\nsearch_path\na, b\nclient_encoding\nUTF8' |
    input fuzz_options string
printf 'postgresql://u:p@[::1]:5433,h2/db?sslmode=require&options=-c%%20x%%3Dy\nlocalhost\n5432\nme\napp\nshop' |
    input fuzz_options uri
printf 'shop\n/var/run/postgresql\n6543\nother\napp\nshop\noptions\n-c work_mem=1MB' | input fuzz_options name
printf '1.5GB\n10ms\n2h\n4\n2026-01-01 00:00:02Z\n64 MB' | input fuzz_options values

# The wire, found by searches: bytes behind a refused request for encryption, in turns (fuzz_wire.c).
base64 -d <<<AiAAAAAIBNIWMAVOIAAAAAgE0hYvTU54AAAFfnxRAABuaWNhdGlvbgI= | input fuzz_wire behind_refusal.bin
du -sh "$corpus"/fuzz_{capture,log_text,mp,options,wire}
