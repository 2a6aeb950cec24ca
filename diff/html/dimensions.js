// The workload by database, user and application, where there is more than one.

function dimensionTable(name, rows) {
    const other = (row) => row.name === null ? "(all others)" : row.name === "" ? "(none)" : visible(row.name);
    return table(`By ${name}`, [{text: name}, {text: "verdict"}, {text: "time added", number: true},
        {text: "of base", number: true}, {text: "ratio", number: true}, {text: "interval", number: true},
        {text: "calls, base", number: true}, {text: "candidate", number: true},
        {text: "errors, base", number: true}, {text: "candidate", number: true}],
    rows.map((row) => [other(row),
        html("span", {class: tones[row.verdict] || "", title: row.reason ? reasons[row.reason] || row.reason : null}, row.verdict || "not tested"),
        signedDuration(row.time_added_us), percent(row.time_added_pct), ratio(row.ratio),
        interval(row.interval[0], row.interval[1]),
        count(row.calls.base), count(row.calls.candidate), count(row.errors.base), count(row.errors.candidate)]));
}

function dimensions() {
    const shown = Object.entries(data.dimensions).filter(([, rows]) => rows.length > 1);
    return shown.length === 0 ? null : section("who", "By database, user and application",
        shown.map(([name, rows]) => dimensionTable(name, rows)));
}
