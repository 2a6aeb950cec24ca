#!/usr/bin/env bash
# What other programs read of pgrehearse diff is read here by them: JSON against its schema, JUnit's XML by
# xmllint, CSV by Python's reader; Markdown keeps to its size and its cells.
set -u
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
# shellcheck source=tests/lib/check.sh
source "$here/../lib/check.sh"

check_begin
diff() { command "$RH_BIN/pgrehearse-diff" "$@"; }
cd "$WORK" || exit 2

files() {
    check_run 0 "$RH_BIN/report_files" base.run candidate.run 40
    check_run 0 "$RH_BIN/report_files" many-base.run many-candidate.run 400 10
}

json_holds_to_its_schema() {
    if ! /usr/bin/python3 -c 'import jsonschema' 2>/dev/null; then
        echo 'python3-jsonschema is not here: JSON is not held against its schema'
        return
    fi
    diff --format json base.run candidate.run >tested.json
    diff --format json --gate regressed=0 --gate lag-p99-ms=1 --gate missing=0 base.run candidate.run >gates.json
    diff --format json base.run base.run >itself.json
    # What has no twins, no times or no verdict.
    diff --format json --gate regressed=0 --gate row-mismatches=0 base.run many-candidate.run >other-trace.json
    if [ -x "$RH_BIN/pgrehearse-capture" ]; then
        "$RH_BIN/pgrehearse-capture" log -o small.trace "$here/../cli/data/small.csv" 2>/dev/null
        diff --format json small.trace candidate.run >log.json
        diff --format json small.trace small.trace >logs.json
    fi
    head -c -40 candidate.run >cut.run
    diff --format json base.run cut.run >cut.json 2>/dev/null
    check 'the reports hold to the schema' \
        /usr/bin/python3 "$here/validate.py" "$here/../../docs/report.schema.json" ./*.json
    sed 's/"verdict": null/"verdict": "maybe"/' tested.json >wrong/report.json
    check 'the schema refuses what is wrong' \
        test 1 = "$(/usr/bin/python3 "$here/validate.py" "$here/../../docs/report.schema.json" wrong/report.json >/dev/null; echo $?)"
}

# junit_counts FILE: "failures errors" of all its suites.
junit_counts() {
    xmllint --xpath 'concat(sum(//testsuite/@failures), " ", sum(//testsuite/@errors))' "$1"
}

junit_agrees_with_the_status() {
    local status=0
    if ! command -v xmllint >/dev/null; then
        echo 'xmllint is not here: XML is not read'
        return
    fi
    diff --format junit base.run candidate.run >junit.xml
    check_equal 'no gates, no failures' '0 0' "$(junit_counts junit.xml)"
    diff --format junit --gate regressed=0 --gate new-errors=0 base.run candidate.run >junit.xml || status=$?
    check_equal 'the gates fail' 1 "$status"
    # Two gates, six queries, two kinds of errors.
    check_equal 'and so many cases' '10 0' "$(junit_counts junit.xml)"
    check_equal 'the counts are those of the cases' "$(xmllint --xpath 'sum(//testsuite/@tests)' junit.xml)" \
        "$(xmllint --xpath 'count(//testcase)' junit.xml)"
    check_equal 'names come through' \
        'cc26fb03975c8a38 select ? "</script><script>alert(1)</script><!-- ]]> <img src=x onerror=alert(2)>"' \
        "$(xmllint --xpath 'string(//testcase[starts-with(@name, "cc26fb03975c8a38")]/@name)' junit.xml)"
    diff --format junit --gate regressed=10 base.run candidate.run >junit.xml
    check_equal 'a gate that passes fails no query' '0 0' "$(junit_counts junit.xml)"
    status=0
    diff --format junit base.run cut.run >junit.xml 2>/dev/null || status=$?
    check_equal 'a file that is cut cannot be judged' 3 "$status"
    check_equal 'and has errors' true "$(xmllint --xpath 'sum(//testsuite/@errors) > 0' junit.xml)"
    diff --format junit --gate regressed=0 many-base.run many-candidate.run >junit.xml
    check 'many queries make XML' xmllint --noout junit.xml
}

csv_is_read() {
    local script='
import csv, json, sys
with open(sys.argv[1], newline="", encoding="utf-8") as f:
    rows = list(csv.DictReader(f, strict=True))
queries = json.load(open(sys.argv[2], encoding="utf-8"))["queries"]
assert len(rows) == len(queries), (len(rows), len(queries))
for row, query in zip(rows, queries):
    assert None not in row and None not in row.values(), row
    assert row["fingerprint"] == query["fingerprint"], row
    assert row["sql"].lstrip("\x27") == query["sql"].replace("\x1b", "\ufffd").replace("\x07", "\ufffd"), (row, query)
    assert not row["sql"] or row["sql"][0] not in "=+-@", row
    assert int(row["calls_candidate"]) == query["calls"]["candidate"], row
    assert (row["ratio"] == "") == (query["ratio"] is None), row
    assert row["ratio"] == "" or abs(float(row["ratio"]) - query["ratio"]) < 1e-5, row
    assert row["verdict"] == (query["verdict"] or ""), row
'
    local which
    for which in '' many-; do
        diff --format csv "${which}base.run" "${which}candidate.run" >report.csv
        diff --format json "${which}base.run" "${which}candidate.run" >report.json
        check "the CSV of ${which}base.run says what the JSON says" /usr/bin/python3 -c "$script" report.csv report.json
    done
}

# A cell that a name broke would make its row longer than the table's head.
table_widths() {
    sed 's/<code>[^<]*<\/code>//g; s/`[^`]*`//g' "$1" | awk -F'|' '
        /^\|/ { if (!width) width = NF; if (NF != width) print NR ": " $0; next }
        { width = 0 }'
}

markdown_keeps_its_size() {
    diff --format markdown base.run candidate.run >report.md
    check_equal 'every row has the cells of its table' '' "$(table_widths report.md)"
    check_equal 'no name becomes markup' '' "$(sed 's/`[^`]*`//g' report.md | grep -E '<(script|img)|@everyone|\]\(http')"
    diff --format markdown --limit 10000 --min-pairs 11 \
        many-base.run many-candidate.run >many.md
    check 'at most 60,000 bytes' test "$(wc -c <many.md)" -le 60000
    check 'and most of them used' test "$(wc -c <many.md)" -gt 45000
    check_equal 'every row of the long one too' '' "$(table_widths many.md)"
    check_equal 'what is opened is closed' "$(grep -c '<details>' many.md)" "$(grep -c '</details>' many.md)"
    check 'it says that there is more' grep -q '^\.\.\. and .* more$' many.md
}

# html_bytes QUERIES: of a page of so many queries, some with long texts.
html_bytes() {
    "$RH_BIN/report_files" size-base.run size-candidate.run "$1" 2
    diff --format html -o size.html size-base.run size-candidate.run
    wc -c <size.html
}

html_keeps_its_size() {
    check 'a page of 1,000 queries has at most 1 MB' test "$(html_bytes 1000)" -le 1000000
    check 'and all of them' grep -q '"queries_left_out":0,' size.html
    check 'a page of 10,000 queries has at most 5 MB' test "$(html_bytes 10000)" -le 5000000
    check 'and all of them' grep -q '"queries_left_out":0,' size.html
    check_equal 'no name ends the data' 2 "$(grep -c '</script>' size.html)"
}

literals_are_asked_for() {
    diff --format html -o plain.html base.run candidate.run
    check_equal 'a page has no literal' 0 "$(grep -c 'secret-' plain.html)"
    diff --format html --with-examples -o examples.html base.run candidate.run
    check 'it has with --with-examples' grep -q 'secret-' examples.html
    for format in text markdown csv junit; do
        diff --format "$format" base.run candidate.run >literals.txt
        check_equal "$format has none" 0 "$(grep -c 'secret-' literals.txt)"
    done
}

mkdir wrong
files
json_holds_to_its_schema
junit_agrees_with_the_status
csv_is_read
markdown_keeps_its_size
html_keeps_its_size
literals_are_asked_for
check_end
