#!/usr/bin/env bash
# What a run keeps of its server: settings, extensions, encodings; no secret; and what the diff makes of two
# runs between which the server was changed.
set -u
# shellcheck source=tests/integration/replay_lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/replay_lib.sh"

replay_begin
admin() { server_psql "$cluster" -d shop -q "$@"; }

{
    session 1 0 1000
    session 2 0 1000 - postgres postgres
    for t in 100 200 300; do query 1 "$t" 1 be "SELECT $t"; done
    query 2 400 1 be 'SELECT 1'
} | make_trace facts
rehearse() {
    replay 0 facts --speed max
    mv "$WORK/facts.run" "$WORK/$1.run"
    "$RH_BIN/pgrehearse" info --format json "$WORK/$1.run" >"$WORK/$1.json"
}
# fact RUN KIND NAME: "database value unit source" of each.
fact() {
    jq -r --arg kind "$2" --arg name "$3" '.[0].server_facts[] | select(.kind == $kind and .name == $name) |
        "\(.database) \(.value) \(.unit) \(.source)"' "$WORK/$1.json"
}
difference() {
    "$RH_BIN/pgrehearse-diff" -q --format json "$WORK/$1.run" "$WORK/$2.run" | jq -c '.server_differences'
}

rehearse before
check_equal 'a setting of the file' 'null 2048 8kB configuration file' "$(fact before setting shared_buffers)"
check_equal 'one at its default that plans depend on' 'null 4096 kB default' "$(fact before setting work_mem)"
check_equal 'encodings of each database' 'postgres shop' \
    "$(fact before database encoding | cut -d' ' -f1 | sort | xargs)"
check_equal 'extensions of each database' 'postgres shop' \
    "$(fact before extension plpgsql | cut -d' ' -f1 | sort | xargs)"
check_equal 'no tables' 'shop 0 null null' "$(fact before statistics tables | grep '^shop')"
check_equal 'what only tells where the server lies is left out' '' \
    "$(fact before setting unix_socket_directories; fact before setting data_directory; fact before setting port)"
check_equal 'nor what the questions set for themselves' '' "$(fact before setting search_path)"
check_equal 'a server is as itself' '[]' "$(difference before before)"
"$RH_BIN/pgrehearse-diff" -q "$WORK/before.run" "$WORK/before.run" >"$WORK/same.txt"
check_equal 'and the text says nothing' 0 "$(grep -c 'SERVERS DIFFER' "$WORK/same.txt")"

admin -c "ALTER SYSTEM SET work_mem = '64kB'" -c "ALTER SYSTEM SET random_page_cost = 1.25" \
    -c "ALTER SYSTEM SET primary_conninfo = 'host=a password=hunter2'" \
    -c "ALTER SYSTEM SET archive_command = 'push --key hunter2 %p'"
admin -c "ALTER ROLE app IN DATABASE shop SET enable_seqscan = off" \
    -c "ALTER ROLE app SET my.text = 'hunter2'" -c 'CREATE TABLE t (a int)'
admin -c 'SELECT pg_reload_conf()' >/dev/null
sql_until 64kB 'SHOW work_mem'
rehearse after

check_equal 'a command is set, and no more is known of it' 'null (set) null configuration file' \
    "$(fact after setting archive_command)"
check_equal 'so is what an extension has as a text' 'null (set) null app' "$(fact after override my.text)"
check_equal 'no secret is in the run' 0 \
    "$("$RH_BIN/pgrehearse" info "$WORK/after.run" | grep -c hunter2)"
difference before after >"$WORK/found.json"
check_equal 'what differs' 'random_page_cost work_mem archive_command primary_conninfo enable_seqscan my.text tables tables_without_statistics' \
    "$(jq -r '[.[].name] | join(" ")' "$WORK/found.json")"
check_equal 'in units for people' '4MB 64kB' \
    "$(jq -r '.[] | select(.name == "work_mem") | "\(.base_text) \(.candidate_text)"' "$WORK/found.json")"
check_equal 'of whom' 'shop app null off' \
    "$(jq -r '.[] | select(.name == "enable_seqscan") | "\(.database) \(.role) \(.base) \(.candidate.value)"' "$WORK/found.json")"
"$RH_BIN/pgrehearse-diff" -q "$WORK/before.run" "$WORK/after.run" >"$WORK/report.txt"
check 'the text has them' grep -qE '^  work_mem +4MB +64kB$' "$WORK/report.txt"
check 'with whose they are' grep -qE '^  enable_seqscan of role app in shop +\(none\) +off$' "$WORK/report.txt"
check_equal 'no line is too long' '' "$(awk 'length > 110' "$WORK/report.txt")"
"$RH_BIN/pgrehearse-diff" -q --format markdown "$WORK/before.run" "$WORK/after.run" >"$WORK/report.md"
check 'Markdown has them' grep -qF '`work_mem` | `4MB` | `64kB`' "$WORK/report.md"
"$RH_BIN/pgrehearse-diff" -q --format html "$WORK/before.run" "$WORK/after.run" >"$WORK/report.html"
check 'and the page' grep -qF '"name":"work_mem"' "$WORK/report.html"
"$RH_BIN/pgrehearse-diff" -q --format json "$WORK/before.run" "$WORK/after.run" >"$WORK/report.json"
if /usr/bin/python3 -c 'import jsonschema' 2>/dev/null; then
    check 'the report holds to its schema' \
        /usr/bin/python3 "$here/../report/validate.py" "$here/../../docs/report.schema.json" "$WORK/report.json"
fi
# A log does not tell of its server.
check_equal 'not known of a side' null \
    "$("$RH_BIN/pgrehearse-diff" -q --format json "$WORK/facts.trace" "$WORK/after.run" | jq -c .server_differences)"
check_end
