// The table of queries: sorted, filtered, a page at a time.

const PAGE_ROWS = 50;

// The candidate's number, or the estimate, and below it what it is to be read with.
function twoLines(first, second) {
    return [html("div", {}, first), html("div", {class: "quiet"}, second === "-" ? "" : second)];
}

const columns = [
    {name: "verdict", text: (q) => html("span", {class: q.tone}, q.word), key: (q) => q.word, wide: false},
    {name: relative ? "rel. added" : "time added", text: (q) => signedDuration(timeAdded(q)), key: timeAdded, number: true},
    {name: relative ? "rel. %" : "of base", text: (q) => percent(shownShare(q)), key: shownShare, number: true, wide: true},
    {name: relative ? "rel. ratio" : "ratio", text: (q) => twoLines(ratio(shownRatio(q)), interval(q.ratio_low, q.ratio_high)), key: shownRatio, number: true},
    {name: "q", text: (q) => probability(q.q), key: (q) => q.q, number: true, wide: true},
    {name: "calls", text: (q) => twoLines(count(q.calls_candidate), q.calls_base === q.calls_candidate ? "" : `base ${count(q.calls_base)}`), key: (q) => q.calls_candidate, number: true, wide: true},
    {name: "mean", text: (q) => twoLines(duration(q.mean_us_candidate), `base ${duration(q.mean_us_base)}`), key: (q) => q.mean_us_candidate, number: true, wide: true},
    {name: "p95", text: (q) => twoLines(duration(q.p95_us_candidate), `base ${duration(q.p95_us_base)}`), key: (q) => q.p95_us_candidate, number: true, wide: true},
];

const words = ["regressed", "improved", "minor", "same", "undecided", "new", "gone", "not tested"];

const view = {text: "", words: new Set(), column: null, descending: true, shown: PAGE_ROWS, open: new Set()};

function compared(column, descending) {
    const sign = descending ? -1 : 1;
    return (a, b) => {
        const [x, y] = [column.key(a), column.key(b)];
        if (x === null || y === null || x === undefined || y === undefined) {
            return (x === null || x === undefined) - (y === null || y === undefined);
        }
        return sign * (x < y ? -1 : x > y ? 1 : 0) || a.index - b.index;
    };
}

function selected() {
    const text = view.text.toLowerCase();
    const found = queries.filter((query) =>
        (view.words.size === 0 || view.words.has(query.word)) &&
        (text === "" || query.sql.toLowerCase().includes(text) || (query.fingerprint || "").startsWith(text)));
    return view.column === null ? found : found.sort(compared(view.column, view.descending));
}

function queryRows(query) {
    const open = view.open.has(query.index);
    const cells = columns.map((column) => html("td",
        {role: "cell", class: [column.number ? "number" : "", column.wide ? "wide" : ""].join(" ").trim() || null}, column.text(query)));
    const toggle = html("button", {
        type: "button", "aria-expanded": String(open), "aria-label": `${open ? "close" : "open"} query ${query.fingerprint || "others"}`,
        "data-query": query.index, onclick: () => {
            view.open[open ? "delete" : "add"](query.index);
            refresh();
            document.querySelector(`button[data-query="${query.index}"]`).focus();
        },
    }, open ? "close" : "open");
    const row = html("tr", {role: "row", id: `q${query.index}`}, cells,
        html("td", {role: "cell", class: "sql clamped"}, html("code", {}, query.sql)),
        html("td", {role: "cell", class: "toggle"}, toggle));
    return open ? [row, html("tr", {role: "row", class: "detail"},
        html("td", {role: "cell", colspan: columns.length + 2}, describe(query)))] : [row];
}

function refresh() {
    const found = selected();
    const rows = found.slice(0, view.shown);
    document.getElementById("rows").replaceChildren(...rows.flatMap(queryRows));
    const left = data.queries_left_out > 0 ? `; ${count(data.queries_left_out)} more are not on this page` : "";
    document.getElementById("shown").textContent =
        `${count(rows.length)} of ${count(found.length)} queries${found.length < queries.length ? " that fit" : ""}${left}`;
    document.getElementById("more").hidden = found.length <= view.shown;
    columns.forEach((column, i) => document.getElementById(`column${i}`).setAttribute("aria-sort",
        view.column !== column ? "none" : view.descending ? "descending" : "ascending"));
}

function sortBy(column) {
    view.descending = view.column === column ? !view.descending : Boolean(column.number);
    view.column = column;
    refresh();
}

function choose(query) {
    view.text = query.fingerprint || "";
    document.getElementById("search").value = view.text;
    view.words.clear();
    document.querySelectorAll("#words input").forEach((box) => { box.checked = false; });
    view.open.add(query.index);
    refresh();
    document.getElementById(`q${query.index}`).scrollIntoView({block: "start"});
}

function controls() {
    const counts = new Map();
    queries.forEach((query) => counts.set(query.word, (counts.get(query.word) || 0) + 1));
    const box = (word) => html("label", {}, html("input", {
        type: "checkbox", value: word, checked: view.words.has(word), onchange: (event) => {
            view.words[event.target.checked ? "add" : "delete"](word);
            view.shown = PAGE_ROWS;
            refresh();
        },
    }), ` ${word} (${count(counts.get(word))})`);
    return html("div", {class: "controls"},
        html("label", {}, "Search ", html("input", {
            type: "search", id: "search", value: view.text, placeholder: "SQL or fingerprint", oninput: (event) => {
                view.text = event.target.value;
                view.shown = PAGE_ROWS;
                refresh();
            },
        })),
        html("fieldset", {id: "words"}, html("legend", {}, "Only"), words.filter((word) => counts.has(word)).map(box)),
        html("span", {id: "shown", role: "status"}, ""));
}

// A narrow window shows each row as a small block (page.css), whose cells are a table's for readers only
// by their roles.
function queryTable() {
    const heads = columns.map((column, i) => html("th", {
        role: "columnheader", scope: "col", id: `column${i}`, "aria-sort": "none",
        class: [column.number ? "number" : "", column.wide ? "wide" : ""].join(" ").trim() || null,
    }, html("button", {type: "button", onclick: () => sortBy(column)}, column.name)));
    return html("div", {}, controls(),
        html("div", {class: "scroll", tabindex: 0, role: "region", "aria-label": "Table of queries"},
            html("table", {id: "queries", role: "table"},
                html("caption", {}, "Queries, by time added unless sorted otherwise"),
                html("thead", {role: "rowgroup"}, html("tr", {role: "row"}, heads,
                    html("th", {role: "columnheader", scope: "col", class: "sql"}, "query"),
                    html("th", {role: "columnheader", scope: "col", class: "toggle"}, "details"))),
                html("tbody", {role: "rowgroup", id: "rows"}))),
        html("p", {class: "more"}, html("button", {
            type: "button", id: "more", onclick: () => {
                view.shown += PAGE_ROWS;
                refresh();
            },
        }, `${PAGE_ROWS} more`)));
}
