#!/usr/bin/env bash
# Who may include what: the table of docs/ARCHITECTURE.md.
set -u
. "$(dirname "$0")/lint_lib.sh"
cd "$(lint_root "$@")" || exit 2

findings=$(lint_files '*.c' '*.h' | xargs awk '
    BEGIN {
        # Folders of the product and those whose headers each may include.
        uses["common"]  = "common"
        uses["formats"] = "common formats"
        uses["capture"] = "common formats capture"
        uses["replay"]  = "common formats replay"
        uses["diff"]    = "common formats diff"
        uses["front"]   = "common formats front"
        # Libraries by a beginning of the header name, and the only places that may use them.
        only["libpq"]      = "replay/"
        only["openssl/"]   = "replay/"
        only["pcap"]       = "capture/"
        only["jansson"]    = "formats/report_file.c replay/explain_report.c diff/plan_texts.c"
        only["pcre2"]      = "common/regex.c"
        only["zstd"]       = "common/ formats/"
        only["xxh"]        = "common/ formats/"
        only["zlib"]       = "common/ formats/"
        only["msgpack"]    = "-"
        only["cmocka"]     = "-"
    }
    function finding(text) { printf "%s:%d: %s\n", FILENAME, FNR, text }
    function allowed(list, path,   n, i, part) {
        n = split(list, part, " ")
        for (i = 1; i <= n; i++)
            if (index(path, part[i]) == 1)
                return 1
        return 0
    }
    FNR == 1 { layer = FILENAME; sub("/.*", "", layer) }
    !(layer in uses) { next }
    /^[ \t]*#[ \t]*include[ \t]*"/ {
        header = $0
        sub(/^[^"]*"/, "", header)
        sub(/".*/, "", header)
        if (header == "rh_version.h")
            next
        folder = header
        if (!sub("/.*", "", folder))
            finding("\"" header "\" is not named from the root (\"" layer "/" header "\")")
        else if (index(" " uses[layer] " ", " " folder " ") == 0)
            finding(layer "/ must not include \"" header "\"")
    }
    /^[ \t]*#[ \t]*include[ \t]*</ {
        header = $0
        sub(/^[^<]*</, "", header)
        sub(/>.*/, "", header)
        for (library in only)
            if (index(header, library) == 1 && !allowed(only[library], FILENAME))
                finding("<" header "> does not belong here")
    }
')
lint_end layers "$findings"
