// Gates, checks and the two sides, as tables.

function table(caption, heads, rows) {
    const cell = (value, column) => {
        const number = heads[column].number ? {class: "number"} : {};
        return column === 0 ? html("th", {scope: "row", ...number}, value)
            : html("td", number, value);
    };
    return html("div", {class: "scroll", tabindex: 0, role: "region", "aria-label": caption},
        html("table", {},
            html("caption", {}, caption),
            html("thead", {}, html("tr", {}, heads.map((head) =>
                html("th", {scope: "col", class: head.number ? "number" : null}, head.text)))),
            html("tbody", {}, rows.map((row) => html("tr", {}, row.map(cell))))));
}

function plain(value) {
    return value === null ? "-" : String(value);
}

// Rounded, but never onto the other side of the limit.
function gateActual(gate) {
    if (gate.actual === null || Number.isInteger(gate.actual)) {
        return plain(gate.actual);
    }
    const before = Math.max(3, Math.ceil(Math.log10(Math.abs(gate.actual))));
    for (let digits = before; digits < 17; digits++) {
        const shown = Number(gate.actual.toPrecision(digits));
        if ((shown > gate.limit) === (gate.actual > gate.limit)) {
            return String(shown);
        }
    }
    return plain(gate.actual);
}

function gates() {
    const classes = {pass: "good", fail: "bad", "cannot-judge": "doubt"};
    if (data.gates.length === 0) {
        return html("p", {}, "No gates were given: nothing fails by this page.");
    }
    return table("Gates", [{text: "gate"}, {text: "limit", number: true},
        {text: "actual", number: true}, {text: "result"}],
    data.gates.map((gate) => [gate.name, plain(gate.limit), gateActual(gate),
        html("span", {class: classes[gate.result]},
            gate.result + (gate.reason ? `: ${gate.reason}` : ""))]));
}

function checks() {
    const classes = {ok: "good", degraded: "doubt", invalid: "bad", unknown: null};
    return table("Checks of the rehearsal", [{text: "check"}, {text: "actual", number: true},
        {text: "degraded beyond", number: true}, {text: "invalid beyond", number: true},
        {text: "result"}, {text: "what it is"}],
    data.rehearsal.checks.map((check) => [check.name,
        check.result === "unknown" ? "-" : plain(check.actual), plain(check.degraded_beyond),
        plain(check.invalid_beyond),
        html("span", {class: classes[check.result]}, check.result), check.text]));
}

const sideRows = [
    ["file", (side) => side.files.join(", ")],
    ["repeated by", (side) => side.repeats.join(", ")],
    ["what", (side) => `${side.kind}, times of the ${side.vantage}`],
    ["server", (side) => [side.server_version && `PostgreSQL ${side.server_version}`,
        side.server_address].filter(Boolean).join(" at ")],
    ["began", (side) => side.started_at],
    ["length", (side) => side.duration_s === null ? "-" : duration(side.duration_s * 1e6)],
    ["statements", (side) => `${count(side.calls)} of ${count(side.statements)} ran`],
    ["failed", (side) => count(side.errors)],
    ["lag", (side) => side.lag_us === null ? "-"
        : `p50 ${duration(side.lag_us.p50)}, p99 ${duration(side.lag_us.p99)}, max ${duration(side.lag_us.max)}`],
    ["behind", (side) => side.behind_us === null ? "-"
        : `${count(side.behind_us.count)} statements, p99 ${duration(side.behind_us.p99)}`],
    ["round trip", (side) => duration(side.round_trip_us)],
];

function noise() {
    const {noise: found, rule} = data;
    const runs = found.run_pairs === 0 ? `by --margin; no run of a side was repeated${found.run_pairs_invalid > 0 ? " validly" : ""}`
        : found.source === "runs" ? `as ${count(found.run_pairs)} pair${found.run_pairs === 1 ? "" : "s"} of runs of one side differ`
            : `by --margin; runs of one side differ by ${found.measured_pct === null ? "an unknown share" : `${found.measured_pct.toPrecision(2)} %`}`;
    const own = found.noisier_queries > 0 ? `; ${count(found.noisier_queries)} queries have more noise of their own` : "";
    return html("p", {}, `Noise margin: ${found.margin_pct.toPrecision(2)} % (${runs}${own}). A change counts from ${rule.effect_pct} % on.`);
}

function sides() {
    const {base, candidate} = data.inputs;
    return table("The two sides", [{text: "side"}, {text: "base"}, {text: "candidate"}],
        sideRows.map(([name, show]) => [name, show(base) || "-", show(candidate) || "-"]));
}

// What differs between the servers; nothing where it is not known or nothing does.
function servers() {
    const found = data.server_differences || [];
    if (found.length === 0) {
        return null;
    }
    return table("What differs between the servers", [{text: "what"}, {text: "kind"}, {text: "base"},
        {text: "candidate"}], found.map((item) => [
        visible(item.name + (item.role === null ? "" : ` of role ${item.role}`) +
            (item.database === null ? "" : ` in ${item.database}`)),
        item.kind, visible(item.base_text), visible(item.candidate_text)]));
}
